/**
 * The page of the time machine in Chromium with files that its reader chooses: a million commands of
 * the mix, and recorded depth of several hundred megabytes. Prints JSON in one line; exits with 1 if
 * a state differs from that of Node, or a goal is missed.
 *
 *     node --import tsx test/bench/time-machine-page.ts [commands] [megabytes] [parts] [seeks]
 *       [--profile]
 *
 * Memory is the peak of resident memory of the page's process, with the browser's own. With
 * `--profile`, the functions of page and worker with the most own time are printed for each part.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { NO_ABOUT } from '../../src/design/page-elements.ts';
import { writeTimeMachine } from '../../src/report/time-machine-page.ts';
import { openBrowser } from '../browser/chromium.ts';
import { profileOf } from './page-profile.ts';
import { journalOfLiquidation, journalOfMix, wordOf, writeDepthJournal } from './mix-journal.ts';

const args = process.argv.slice(2).filter((one) => !one.startsWith('--'));
const COMMANDS = Number(args[0] ?? 1_000_000);
const MEGABYTES = Number(args[1] ?? 300);
/** Measurements to make. */
const PARTS = (args[2] ?? 'depth,mix,certainty').split(',');
const SEEKS = Number(args[3] ?? 1000);
const PROFILE = process.argv.includes('--profile');
const STEPS = 40;
/** Goals in milliseconds and megabytes. */
const FIRST_PICTURE_MS = 2000;
const MEMORY = 800;
const CERTAINTY_MS = 10_000;
const SEEK_MS = 100;
const STEP_MS = 16;
const HEAP = 500;

const folder = mkdtempSync(join(tmpdir(), 'orrery-machine-'));
const faults: string[] = [];
const goal = (holds: boolean, text: string): void => {
  if (!holds) faults.push(text);
};

const quantile = (times: readonly number[], of: number): number => {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length * of)] ?? 0) * 10) / 10;
};
const figures = (times: readonly number[]) => ({
  p50: quantile(times, 0.5),
  p95: quantile(times, 0.95),
  max: quantile(times, 0.9999),
});

/** Peak of the renderers' resident memory in megabytes; Linux. */
function peakMegabytes(): number {
  const peaks = readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!command.includes('--type=renderer') || !command.includes(browser.profile)) return [];
      const [, kilobytes] =
        /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return [Number(kilobytes ?? 0) / 1024];
    } catch {
      // The process ended meanwhile.
      return [];
    }
  });
  return Math.round(Math.max(0, ...peaks));
}

/** Of a page without a journal. A new process has its command line some time after its start. */
async function emptyPeak(): Promise<number> {
  let megabytes = 0;
  for (let tries = 0; megabytes === 0; tries++) {
    if (tries === 100) throw new Error('no renderer of the browser is found in /proc');
    await new Promise((resolve) => setTimeout(resolve, 100));
    megabytes = peakMegabytes();
  }
  return megabytes;
}

/** Opens a file by the file picker; times until the first state, and until all is verified. */
async function choose(page: Page, file: string) {
  await page.goto(pathToFileURL(join(folder, 'empty.html')).href);
  const begun = performance.now();
  await page.setInputFiles('#files', file);
  await page.waitForFunction(() => document.querySelector('#chain')?.getAttribute('title'));
  const firstPictureMs = Math.round(performance.now() - begun);
  await page.waitForSelector('.top [role=status]:not(:has(progress))', { timeout: 580_000 });
  const verifiedMs = Math.round(performance.now() - begun);
  const status = (await page.locator('.top [role=status]').textContent()) ?? '';
  goal(status.includes('✓ verified'), `${file}: ${status}`);
  goal(firstPictureMs < FIRST_PICTURE_MS, `first picture after ${String(firstPictureMs)} ms`);
  return { firstPictureMs, verifiedMs, peakMegabytes: peakMegabytes() };
}

/** Waits until the page shows a command; the milliseconds that the page states for the seek. */
async function shown(
  page: Page,
  seq: number,
): Promise<{ readonly ms: number; readonly hash: string }> {
  await page.waitForFunction(
    (at) => document.querySelector<HTMLElement>('#chain')?.dataset['seq'] === at,
    String(seq),
    { polling: 'raf' },
  );
  return page.evaluate(() => ({
    ms: Number(/seek ([\d.]+) ms/.exec(document.querySelector('.foot')?.textContent ?? '')?.[1]),
    hash: document.querySelector('#chain')?.getAttribute('title') ?? '',
  }));
}

async function mix(page: Page) {
  const profile = PROFILE ? await profileOf(page) : null;
  const profiled = async (title: string): Promise<void> => {
    if (profile !== null) console.log(await profile.end(title));
  };
  await page.goto(pathToFileURL(join(folder, 'empty.html')).href);
  const emptyMegabytes = await emptyPeak();
  const { bytes, hashes } = journalOfMix(COMMANDS);
  const file = join(folder, 'mix.orrery');
  writeFileSync(file, bytes);
  const opened = await choose(page, file);
  const seeks: number[] = [];
  let wrong = 0;
  let state = 12_345;
  await profile?.begin();
  const show = async (seq: number): Promise<number> => {
    const { ms, hash } = await shown(page, seq);
    if (wordOf(hash) !== hashes[seq]) wrong += 1;
    return ms;
  };
  for (let i = 0; i < SEEKS; i++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const seq = 1 + (state % COMMANDS);
    await page.evaluate((at) => {
      location.hash = `#seq=${String(at)}`;
    }, seq);
    seeks.push(await show(seq));
  }
  await profiled('seeks');
  const middle = COMMANDS >> 1;
  await page.evaluate((at) => {
    location.hash = `#seq=${String(at)}`;
  }, middle);
  await show(middle);
  await page.waitForTimeout(1000);
  await profile?.begin();
  const back: number[] = [];
  const forth: number[] = [];
  for (let i = 1; i <= STEPS; i++) {
    await page.keyboard.press('ArrowLeft');
    back.push(await show(middle - i));
    await page.waitForTimeout(100);
  }
  await profiled('steps back');
  await profile?.begin();
  for (let i = STEPS - 1; i >= 0; i--) {
    await page.keyboard.press('ArrowRight');
    forth.push(await show(middle - i));
  }
  // Beyond the middle, no instant was shown before.
  const on: number[] = [];
  for (let i = 1; i <= STEPS; i++) {
    await page.keyboard.press('ArrowRight');
    on.push(await show(middle + i));
  }
  await profiled('steps on');
  goal(wrong === 0, `${String(wrong)} states differ from those of Node`);
  const [seekMs, stepBackMs, stepForthMs] = [figures(seeks), figures(back), figures(forth)];
  const stepOnMs = figures(on);
  goal(seekMs.p95 < SEEK_MS, `95 % of seeks within ${String(seekMs.p95)} ms`);
  for (const { p95 } of [stepBackMs, stepForthMs, stepOnMs]) {
    goal(p95 < STEP_MS, `95 % of steps within ${String(p95)} ms`);
  }
  // Of the empty page, the process has what the browser itself needs.
  const ownMegabytes = peakMegabytes() - emptyMegabytes;
  goal(ownMegabytes < HEAP, `memory ${String(ownMegabytes)} MB`);
  return {
    commands: COMMANDS,
    megabytes: Math.round(bytes.length / 1e6),
    ...opened,
    seekMs,
    stepBackMs,
    stepForthMs,
    stepOnMs,
    emptyMegabytes,
    ownMegabytes,
    wrong,
  };
}

async function depth(page: Page) {
  const file = join(folder, 'depth.orrery');
  const hash = writeDepthJournal(file, MEGABYTES * 1e6);
  const opened = await choose(page, file);
  const found = await page.locator('#chain').getAttribute('title');
  goal(found === hash, `the end has ${String(found)}, in Node ${hash}`);
  goal(opened.peakMegabytes < MEMORY, `memory ${String(opened.peakMegabytes)} MB`);
  return { megabytes: Math.round(statSync(file).size / 1e6), ...opened };
}

/** 1,000 forks for the certainty of a liquidation at the end of the mix. */
async function certainty(page: Page) {
  const { bytes, liquidationSeq } = journalOfLiquidation(COMMANDS);
  const file = join(folder, 'liquidation.orrery');
  writeFileSync(file, bytes);
  await choose(page, file);
  await page.evaluate((at) => {
    location.hash = `#seq=${String(at)}`;
  }, liquidationSeq);
  await shown(page, liquidationSeq);
  const begun = performance.now();
  await page.getByRole('button', { name: 'When was it certain?' }).click();
  await page.waitForFunction(
    () => /certain (from|before)/.test(document.querySelector('.inevitability')?.textContent ?? ''),
    undefined,
    { timeout: 120_000 },
  );
  const ms = Math.round(performance.now() - begun);
  const text = (await page.locator('.inevitability').textContent()) ?? '';
  const forks = Number((/([\d,. ]+) forks/.exec(text)?.[1] ?? '0').replaceAll(/\D/g, ''));
  const msOf1000 = Math.round((ms / Math.max(1, forks)) * 1000);
  goal(msOf1000 < CERTAINTY_MS, `1,000 forks in ${String(msOf1000)} ms`);
  return { forks, ms, msOf1000 };
}

const buildPages = (isReadable: boolean): void => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../.ci/web.mjs', import.meta.url))], {
    env: { ...process.env, ORRERY_READABLE: isReadable ? '1' : '0' },
  });
};
buildPages(PROFILE);
await writeTimeMachine(join(folder, 'empty.html'), {
  about: NO_ABOUT,
  journal: new Uint8Array(),
  base: null,
});
const browser = await openBrowser();
try {
  const ofDepth =
    MEGABYTES > 0 && PARTS.includes('depth') ? await depth(await browser.context.newPage()) : null;
  const ofMix =
    COMMANDS > 0 && PARTS.includes('mix') ? await mix(await browser.context.newPage()) : null;
  const ofForks =
    COMMANDS > 0 && PARTS.includes('certainty')
      ? await certainty(await browser.context.newPage())
      : null;
  console.log(JSON.stringify({ mix: ofMix, depth: ofDepth, certainty: ofForks, faults }));
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
  if (PROFILE) buildPages(false);
}
process.exitCode = faults.length === 0 ? 0 : 1;
