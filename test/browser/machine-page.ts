/** The page of the time machine in Chromium: from a file, without a network. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { writeTimeMachine } from '../../src/report/time-machine-page.ts';
import { NO_ABOUT, type About } from '../../src/design/page-elements.ts';

const BUILD = 'web.mjs';

/** Bundles the page of this source; returns its compressed size. */
export async function buildPage(): Promise<number> {
  const { buildPages } = (await import(new URL(`../../.ci/${BUILD}`, import.meta.url).href)) as {
    buildPages: () => Promise<number>;
  };
  return buildPages();
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
