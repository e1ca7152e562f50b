/**
 * Takes the pictures of docs/TUTORIAL.md from the reports that its commands wrote:
 * `node --import tsx test/bench/tutorial-pictures.ts <folder of the tutorial>`.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openBrowser } from '../browser/chromium.ts';

const PAGES = { report: 'trend', search: 'sweep-trend', walk: 'walk-spread' } as const;
const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const folder = process.argv[2];
if (folder === undefined) throw new Error('name the folder in which the tutorial was done');

const browser = await openBrowser();
try {
  const page = await browser.context.newPage();
  await page.setViewportSize({ width: 1200, height: 860 });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  for (const [name, run] of Object.entries(PAGES)) {
    await page.goto(pathToFileURL(join(resolve(folder), 'reports', run, 'index.html')).href);
    await page.locator('canvas').first().waitFor();
    await page.screenshot({ path: join(pictures, `tutorial-${name}.png`) });
  }
} finally {
  await browser.close();
}
