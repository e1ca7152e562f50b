/** The page of the time machine in Chromium: from a file, without a network. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { writeTimeMachine } from '../../src/report/time-machine-page.ts';
import { NO_ABOUT, type About } from '../../src/design/page-elements.ts';

const BUILD = 'web.mjs';

interface Builder {
  readonly buildPages: () => Promise<number>;
  readonly machineHtml: (plugins: readonly BuildPlugin[]) => Promise<string>;
}

/** A step of the build that may change a source; null leaves it as it is. */
export interface BuildPlugin {
  readonly name: string;
  readonly transform: (code: string, id: string) => string | null;
}

const builder = async (): Promise<Builder> =>
  (await import(new URL(`../../.ci/${BUILD}`, import.meta.url).href)) as Builder;

/** Bundles the page of this source; returns its compressed size. */
export async function buildPage(): Promise<number> {
  return (await builder()).buildPages();
}

export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'orrery-machine-'));

  file(name: string): string {
    return join(this.path, name);
  }

  /** Writes a page; returns its address. */
  async page(name: string, journal: Uint8Array, about: Partial<About> = {}): Promise<string> {
    const file = this.file(`${name}.html`);
    const data = { ...NO_ABOUT, name, ...about };
    await writeTimeMachine(file, { about: data, journal, base: null });
    return pathToFileURL(file).href;
  }

  /** As `page`, with a worker that was built with changes. */
  async changedPage(name: string, journal: Uint8Array, change: BuildPlugin): Promise<string> {
    const address = await this.page(name, journal);
    const built = readFileSync(this.file(`${name}.html`), 'utf8');
    const end = built.indexOf('<script id="script">');
    const begin = built.indexOf('</script>\n', built.indexOf('id="worker"')) + '</script>\n'.length;
    const html = await (await builder()).machineHtml([change]);
    const data = built.slice(begin, end);
    writeFileSync(
      this.file(`${name}.html`),
      html.replace('<!--journal-->\n', () => data),
    );
    return address;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export interface OpenPage {
  readonly page: Page;
  /** Errors of scripts, refusals of the security policy, and requests that leave the page. */
  readonly faults: readonly string[];
}

/** Opens an address, and waits until the journal is executed. */
export async function openPage(context: BrowserContext, address: string): Promise<OpenPage> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url())) faults.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForSelector('.top [role=status]:not(:has(progress))', { timeout: 30_000 });
  return { page, faults };
}

/** Text of the verification, such as `✓ verified · 7 hashes · chain 0ca29e12`. */
export async function verification(page: Page): Promise<string> {
  return (await page.locator('.top [role=status]').first().textContent()) ?? '';
}

export const chainOf = (page: Page): Promise<string | null> =>
  page.locator('#chain').getAttribute('title');

/** Waits until the page shows a command. */
export async function showsSeq(page: Page, seq: number): Promise<void> {
  const shown = seq.toLocaleString('en-US');
  await expect.poll(() => page.locator('.now').textContent()).toContain(`seq ${shown} `);
  await expect.poll(() => page.locator('#chain').getAttribute('data-seq')).toBe(String(seq));
}

export async function seekTo(page: Page, seq: number): Promise<void> {
  await page.evaluate((at) => {
    location.hash = `#seq=${String(at)}`;
  }, seq);
  await showsSeq(page, seq);
}
