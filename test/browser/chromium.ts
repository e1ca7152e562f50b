/** Starts the installed Chromium headless, with a temporary profile. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export interface OpenBrowser {
  readonly context: BrowserContext;
  /** Folder of the profile, which the command of each process names. */
  readonly profile: string;
  readonly close: () => Promise<void>;
}

/** Throws if no browser is installed: the test is not skipped. */
export async function openBrowser(): Promise<OpenBrowser> {
  const executablePath = PATHS.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error("chromium is missing; install the Debian package 'chromium'");
  }
  const profile = mkdtempSync(join(tmpdir(), 'orrery-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return {
    context,
    profile,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
