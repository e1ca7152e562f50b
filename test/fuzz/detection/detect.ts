/**
 * Measures which of the subtle bugs a campaign finds within a budget of processor time, two minutes
 * by default: a minute on two idle cores. The reproductions of each found bug must fail with the bug
 * and pass without it. Prints a line per bug and the score; exit code 1 below 80 %, or if a
 * reproduction does not.
 */
import { parseArgs } from 'node:util';
import { buildWith, findFailure, judge, shrinkWithin } from '../reproductions/prove-bug.ts';
import type { SubtleBug } from './subtle-bug.ts';
import { SUBTLE_BUGS } from './subtle-bugs.ts';

const SCORE_NEEDED = 80;

const HELP = `node --import tsx test/fuzz/detection/detect.ts [options]

  --only <texts>   bugs whose id, area or file contains one of these, separated by commas
  --seconds <n>    processor time of the search for each bug [120]
  --shrink <n>     processor time of shrinking; 0 tests no reproduction [10]`;

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && value <= 3600) return value;
  throw new RangeError(`--${name} must be a whole number from 0 to 3600, got ${text}`);
}

/** The line of a bug, whether it was found, and whether its reproductions prove it. */
async function measure(
  bug: SubtleBug,
  seconds: number,
  shrinkSeconds: number,
): Promise<{ readonly line: string; readonly found: boolean; readonly proved: boolean }> {
  const built = await buildWith(`subtle-${bug.id}`, [bug]);
  const started = process.cpuUsage();
  const failed = findFailure(built, 0, seconds);
  const { user, system } = process.cpuUsage(started);
  const name = `${bug.area.padEnd(11)} ${bug.id}`;
  if (failed === null) return { line: `MISSED    ${name}`, found: false, proved: true };
  const { run, violation } = failed;
  const { check = 'the engine', invariant } = violation;
  const took = `${((user + system) / 1e6).toFixed(1)} s, run ${String(run)}`;
  const by = check === invariant ? check : `${check} (${invariant})`;
  const line = `found     ${name}: ${took}, by ${by}`;
  if (shrinkSeconds === 0) return { line, found: true, proved: true };
  const report = shrinkWithin(built, failed, shrinkSeconds);
  const broken = judge(built, report);
  const whole = judge(await buildWith('sound', []), report);
  const faults = [
    ...(broken.journal === null ? ['the journal passes with the bug'] : []),
    ...(broken.scenario === null ? ['the scenario passes with the bug'] : []),
    ...(whole.journal === null ? [] : ['the journal fails without it']),
    ...(whole.scenario === null ? [] : ['the scenario fails without it']),
  ];
  const { from, to } = report.shrunk;
  const shrunk = `${line}, ${String(from)} -> ${String(to)} commands`;
  return {
    line: faults.length === 0 ? shrunk : `UNPROVED  ${shrunk}; ${faults.join(', ')}`,
    found: true,
    proved: faults.length === 0,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '120' },
      shrink: { type: 'string', default: '10' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const seconds = wholeNumber('seconds', values.seconds);
  const shrinkSeconds = wholeNumber('shrink', values.shrink);
  const texts = values.only?.split(',') ?? [''];
  const chosen = SUBTLE_BUGS.filter(({ id, area, file }) =>
    texts.some((text) => id.includes(text) || area === text || file.includes(text)),
  );
  if (chosen.length === 0) throw new RangeError('--only matches no bug');
  let found = 0;
  let proved = true;
  for (const bug of chosen) {
    const result = await measure(bug, seconds, shrinkSeconds);
    console.log(result.line);
    if (result.found) found += 1;
    proved &&= result.proved;
  }
  const score = (100 * found) / chosen.length;
  if (score < SCORE_NEEDED || !proved) process.exitCode = 1;
  console.log(
    `${String(found)} of ${String(chosen.length)} subtle bugs found in ${String(seconds)} s each: ${score.toFixed(1)} %`,
  );
}

try {
  await main();
} catch (error) {
  console.error(`detect: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof RangeError || error instanceof TypeError ? 2 : 1;
}
