/**
 * Measures which of the subtle bugs a campaign finds within a budget of processor time, two minutes
 * by default: a minute on two idle cores. The reproductions of each found bug must fail with the bug
 * and pass without it. Prints a line per bug and the score, and keeps the table in reports/prove, so
 * a measurement can be made in parts; exit code 1 below 80 %, or if a reproduction does not.
 */
import { parseArgs } from 'node:util';
import { optimizeLate } from '../../../src/platform/late-optimizing.ts';
import { buildWith, findFailure, judge, PLAN, shrinkWithin } from '../reproductions/prove-bug.ts';
import { loadResults, saveResults, type DetectionResult } from './results.ts';
import type { SubtleBug } from './subtle-bug.ts';
import { listOf, SUBTLE_BUGS } from './subtle-bugs.ts';

const SCORE_NEEDED = 80;

const HELP = `node --import tsx test/fuzz/detection/detect.ts [options]

  --only <texts>   bugs whose id, area or file contains one of these, separated by commas
  --seconds <n>    processor time of the search for each bug [120]
  --shrink <n>     processor time of shrinking; 0 tests no reproduction [10]
  --resume         keep the rows of the last table; a missed bug is searched from its last run on
  --again          with --resume: search for missed bugs from run 0 on
  --for <n>        processor time after which this call starts no further bug [unlimited]`;

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && value <= 3600) return value;
  throw new RangeError(`--${name} must be a whole number from 0 to 3600, got ${text}`);
}

/** No run has the code of the server: `orrery fuzz --target` has (rest.ts). */
const isOfServer = ({ file }: SubtleBug): boolean => file.startsWith('http/');

/** Searches for a bug from where `last` stopped, and tests its reproductions. */
async function measure(
  bug: SubtleBug,
  seconds: number,
  shrinkSeconds: number,
  last: DetectionResult | undefined,
): Promise<DetectionResult> {
  if (isOfServer(bug)) {
    const missed = { seconds, run: 0, shrinkSeconds: 0, faults: [], by: null };
    return { id: bug.id, area: bug.area, list: listOf(bug), ...missed };
  }
  const built = await buildWith(`subtle-${bug.id}`, [bug]);
  const spent = last?.seconds ?? 0;
  const started = process.cpuUsage();
  const { failed, run } = findFailure(built, last?.run ?? 0, seconds - spent);
  const { user, system } = process.cpuUsage(started);
  const result = {
    id: bug.id,
    area: bug.area,
    list: listOf(bug),
    seconds: Math.round(10 * (spent + (user + system) / 1e6)) / 10,
    run,
    shrinkSeconds: 0,
    faults: [],
  };
  if (failed === null) return { ...result, by: null };
  const sound = await buildWith('sound', []);
  if (sound.runBatch(PLAN, run, run + 1).failed !== null) {
    throw new Error(`run ${String(run)} also fails without the bug`);
  }
  const { check = 'the engine', invariant } = failed.violation;
  const by = check === invariant ? check : `${check} (${invariant})`;
  if (shrinkSeconds === 0) return { ...result, by };
  const report = shrinkWithin(built, failed, shrinkSeconds);
  const broken = judge(built, report);
  const whole = judge(sound, report);
  const faults = [
    ...(broken.journal === null ? ['the journal passes with the bug'] : []),
    ...(broken.scenario === null ? ['the scenario passes with the bug'] : []),
    ...(whole.journal === null ? [] : ['the journal fails without it']),
    ...(whole.scenario === null ? [] : ['the scenario fails without it']),
  ];
  return { ...result, by, shrinkSeconds, faults };
}

function lineOf({ id, area, by, seconds, run, faults }: DetectionResult): string {
  const name = `${area.padEnd(11)} ${id}`;
  if (by === null) return `MISSED    ${name}`;
  const line = `${name}: ${seconds.toFixed(1)} s, run ${String(run)}, by ${by}`;
  return faults.length === 0 ? `found     ${line}` : `UNPROVED  ${line}; ${faults.join(', ')}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '120' },
      shrink: { type: 'string', default: '10' },
      resume: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      for: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  optimizeLate();
  const seconds = wholeNumber('seconds', values.seconds);
  const shrinkSeconds = wholeNumber('shrink', values.shrink);
  const texts = values.only?.split(',') ?? [''];
  const chosen = SUBTLE_BUGS.filter(
    ({ id, area, file, equivalent }) =>
      equivalent === undefined &&
      texts.some((text) => id.includes(text) || area === text || file.includes(text)),
  );
  if (chosen.length === 0) throw new RangeError('--only matches no bug');
  const results = values.resume ? loadResults() : new Map<string, DetectionResult>();
  if (values.again) {
    for (const { id } of chosen) if (results.get(id)?.by === null) results.delete(id);
  }
  const isDone = ({ id }: SubtleBug): boolean => {
    const last = results.get(id);
    return last !== undefined && (last.by !== null || last.seconds >= seconds);
  };
  const ids = SUBTLE_BUGS.flatMap(({ id, equivalent }) => (equivalent === undefined ? [id] : []));
  const limit = values.for === undefined ? Infinity : wholeNumber('for', values.for);
  for (const bug of chosen.filter((each) => !isDone(each))) {
    const { user, system } = process.cpuUsage();
    if ((user + system) / 1e6 >= limit) break;
    const result = await measure(bug, seconds, shrinkSeconds, results.get(bug.id));
    // Another process may measure other bugs at the same time.
    const all = values.resume ? loadResults() : results;
    saveResults(all.set(bug.id, result), ids);
    results.set(bug.id, result);
    console.log(lineOf(result));
  }
  const rows = chosen.flatMap(({ id }) => results.get(id) ?? []);
  const found = rows.filter(({ by }) => by !== null).length;
  const score = (100 * found) / rows.length;
  if (score < SCORE_NEEDED || rows.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  console.log(
    `${String(found)} of ${String(rows.length)} subtle bugs found in ${String(seconds)} s each: ${score.toFixed(1)} %`,
  );
}

try {
  await main();
} catch (error) {
  console.error(`detect: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof RangeError || error instanceof TypeError ? 2 : 1;
}
