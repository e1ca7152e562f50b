/**
 * `npm run bench:memory`: peak memory of `orrery backtest` with an idle strategy, on a tape ten
 * times as long as one that fills a market's retention (100,000 trades, 45 days of minutes), over
 * that of the shorter tape. Each is the minimum of three runs, since a starved collector leaves
 * garbage.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBars, writeLongTape } from './long-tape.ts';

const ROUNDS = 3;
const TIMES = 5;
const BARS = 100_000;
const LONGER = 10;
const START_US = 1_600_000_020_000_000;
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const QUIET = `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'quiet', parameters: {}, create: () => ({ onStop() {} }) });
`;
/** Runs the command, then prints the process's peak memory in kilobytes. */
const PEAK = `process.on('exit', () => {
  require('node:fs').writeSync(1, '\\n' + process.resourceUsage().maxRSS);
});
process.argv.splice(1, 0, process.env.ORRERY_MAIN);
import(process.env.ORRERY_MAIN);`;

const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
const at = (name: string): string => join(folder, name);
const peakOnce = (data: string): number => {
  const command = [
    'backtest',
    at('quiet.ts'),
    '--data',
    at(data),
    '--out',
    at('out'),
    '--overwrite',
  ];
  const text = execFileSync(
    process.execPath,
    ['-e', PEAK.replaceAll('\n', ' '), '--', ...command],
    {
      encoding: 'utf8',
      env: { ...process.env, ORRERY_MAIN: MAIN },
    },
  );
  return Number(text.slice(text.lastIndexOf('\n'))) / 1024;
};
const peak = (data: string): number =>
  Math.min(...Array.from({ length: ROUNDS }, () => peakOnce(data)));
try {
  await writeFile(at('quiet.ts'), QUIET);
  const say = (what: string, short: number, long: number): void => {
    console.log(
      `${what}: ${short.toFixed(0)} MiB at most, ${long.toFixed(0)} MiB at ten times the length: ${(long / short).toFixed(2)} ×`,
    );
  };
  await writeBars(at('bars'), BARS, START_US);
  const bars = peak('bars');
  await writeBars(at('bars'), LONGER * BARS, START_US);
  say('1m bars', bars, peak('bars'));
  await writeLongTape(at('tape'), TIMES);
  const tape = peak('tape');
  await writeLongTape(at('tape'), LONGER * TIMES);
  say('levels and trades', tape, peak('tape'));
} finally {
  await rm(folder, { recursive: true, force: true });
}
