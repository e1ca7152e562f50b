/**
 * `npm run mutants`: the mutation score. Builds the exchange once per mutant, hunts it in worker
 * threads, and prints which invariant or oracle kills it after how many commands. Survivors are
 * listed with their reasons. An interrupted run resumes unless a source changed. Writes
 * reports/prove/mutants.md. Exit code 1 below 95 %, for a survivor without a reason, or for a
 * reason of a killed mutant.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import cliProgress from 'cli-progress';
import { bundle, mutate, sourcePath } from './build.ts';
import { HUNTERS, type Hunter, type Kill } from './hunters.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import type { Mutant, Quarry } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { reasonFaults, report, rowsOf, SCORE_NEEDED, scoreOf, type Verdict } from './report.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'orrery-mutants.json');
const PAGE = join(ROOT, 'reports', 'prove', 'mutants.md');
const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** Timeout that kills a mutant with an endless loop; no run of 1,500 commands takes as long. */
const MOST_SECONDS = 120;

const USUAL_BUDGET = 120_000;

const HELP = `npm run mutants -- [options]

  --only <texts>    mutants whose id or file contains one of these, parted by commas; the report keeps its other rows
  --workers <n>     side by side [as many as cores]
  --budget <n>      commands that each hunter may spend on a mutant [120000]; with another one the report is not written
  --hunters <list>  of invariants,oracle,restore,cut [all]; the report is not written
  --fresh           forget what earlier runs found
  --list            print the mutants and end

Examples:
  npm run mutants
  npm run mutants -- --only funding --budget 200000`;

interface Options {
  readonly only: string | null;
  readonly workers: number;
  readonly budget: Readonly<Record<Hunter, number>>;
  readonly each: number;
  /** All hunters with the usual budget: the report is written, with earlier rows of others. */
  readonly reports: boolean;
  /** All mutants and hunters: survivors must have their reasons. */
  readonly whole: boolean;
  readonly fresh: boolean;
}

function optionsOf(): Options | null {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      workers: { type: 'string', default: String(availableParallelism()) },
      budget: { type: 'string', default: String(USUAL_BUDGET) },
      hunters: { type: 'string', default: HUNTERS.join(',') },
      fresh: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return null;
  }
  if (values.list) {
    for (const { id, file, means, rule } of MUTANTS)
      console.log(`${id}  ${rule}  src/${file}: ${means}`);
    return null;
  }
  const count = (name: string, text: string, max: number): number => {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < 1 || value > max) {
      throw new RangeError(
        `--${name} must be a whole number from 1 to ${String(max)}, got ${text}`,
      );
    }
    return value;
  };
  const names = values.hunters.split(',');
  const unknown = names.find((name) => !HUNTERS.some((hunter) => hunter === name));
  if (unknown !== undefined) {
    throw new RangeError(`--hunters: ${unknown} is not one of ${HUNTERS.join(', ')}`);
  }
  const each = count('budget', values.budget, 1_000_000_000);
  const of = (hunter: Hunter, share: number): number =>
    names.includes(hunter) ? Math.ceil(each * share) : 0;
  return {
    only: values.only ?? null,
    workers: count('workers', values.workers, 64),
    each,
    budget: {
      invariants: of('invariants', 1 / 16),
      oracle: of('oracle', 1),
      restore: of('restore', 1 / 5),
      cut: of('cut', 1 / 5),
    },
    reports: each === USUAL_BUDGET && names.length === HUNTERS.length,
    whole: values.only === undefined && names.length === HUNTERS.length,
    fresh: values.fresh,
  };
}

/** Verdicts are valid for one state of the sources and one budget. */
async function sourcesHash(budget: Options['budget']): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(budget));
  for (const folder of ['src/num', 'src/base', 'src/engine', 'src/fuzz', 'test/mutants']) {
    const names = await readdir(join(ROOT, folder), { recursive: true });
    for (const name of names.filter((file) => file.endsWith('.ts')).sort()) {
      hash.update(name).update(await readFile(join(ROOT, folder, name)));
    }
  }
  return hash.digest('hex');
}

class Campaign {
  readonly verdicts = new Map<string, Verdict>();
  private readonly sources: string;

  constructor(sources: string) {
    this.sources = sources;
  }

  async load(): Promise<void> {
    const text = await readFile(CACHE, 'utf8').catch(() => null);
    if (text === null) return;
    const saved = JSON.parse(text) as { sources: string; verdicts: Verdict[] };
    if (saved.sources !== this.sources) return;
    for (const verdict of saved.verdicts) this.verdicts.set(verdict.id, verdict);
  }

  async add(verdict: Verdict): Promise<void> {
    this.verdicts.set(verdict.id, verdict);
    await mkdir(join(CACHE, '..'), { recursive: true });
    const verdicts = [...this.verdicts.values()];
    await writeFile(CACHE, JSON.stringify({ sources: this.sources, verdicts }));
  }
}

async function checker(
  mutant: Quarry,
  folder: string,
  budget: Options['budget'],
): Promise<Verdict> {
  const file = join(folder, `${mutant.id}.mjs`);
  await bundle(WORKER, file, mutant);
  const started = performance.now();
  const kills = await huntIn(file, budget, mutant.profile);
  await rm(file);
  return { id: mutant.id, kills, seconds: (performance.now() - started) / 1000 };
}

/** Runs the hunters on a built program. */
function huntIn(
  file: string,
  budget: Options['budget'],
  profile: ProfileName,
): Promise<Verdict['kills']> {
  return new Promise((resolve) => {
    const kills: { hunter: Hunter; kill: Kill | null }[] = [];
    const worker = new Worker(file, { workerData: { budget, profile } });
    const ranAway = (what: string, detail: string): void => {
      const none = { rule: 'R-2.8', commands: 0, seed: '', profile: '' };
      kills.push({ hunter: 'invariants', kill: { hunter: 'invariants', what, detail, ...none } });
    };
    const timer = setTimeout(() => {
      ranAway('endless', `no answer in ${String(MOST_SECONDS)} s`);
      void worker.terminate();
    }, MOST_SECONDS * 1000);
    worker.on('message', (found: { hunter: Hunter; kill: Kill | null } | 'alive') => {
      timer.refresh();
      if (found !== 'alive') kills.push(found);
    });
    // An endless mutant may run out of memory first.
    worker.on('error', (error) => {
      ranAway('crash', error.message);
    });
    worker.on('exit', () => {
      clearTimeout(timer);
      resolve(kills);
    });
  });
}

function line(mutant: Mutant, verdict: Verdict): string {
  const found = verdict.kills.filter(({ kill }) => kill !== null);
  if (found.length === 0) return `SURVIVES  ${mutant.id}: ${mutant.means} (${mutant.rule})`;
  const by = found.map(({ hunter, kill }) => {
    const what =
      hunter === 'oracle' ? `${kill?.rule ?? ''} ${kill?.what ?? ''}` : (kill?.what ?? '');
    return `${hunter} (${what}) after ${String(kill?.commands ?? 0)}`;
  });
  return `killed    ${mutant.id} by ${by.join(', ')}`;
}

async function main(): Promise<void> {
  const options = optionsOf();
  if (options === null) return;
  const { only } = options;
  const chosen = MUTANTS.filter(
    ({ id, file }) =>
      only === null || only.split(',').some((text) => id.includes(text) || file.includes(text)),
  );
  if (chosen.length === 0)
    throw new RangeError(`--only ${only ?? ''}: matches no mutant id or file`);
  await mustFit(chosen);
  const campaign = new Campaign(await sourcesHash(options.budget));
  if (!options.fresh) await campaign.load();
  const left = chosen.filter(({ id }) => !campaign.verdicts.has(id));
  const folder = await mkdtemp(join(tmpdir(), 'orrery-mutants-'));
  const stop = { asked: false };
  const onSignal = (): void => {
    if (stop.asked) process.exit(130);
    stop.asked = true;
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const bar = process.stderr.isTTY
    ? new cliProgress.SingleBar({ clearOnComplete: true }, cliProgress.Presets.shades_classic)
    : null;
  bar?.start(chosen.length, chosen.length - left.length);
  try {
    await soundProgram(folder, options.budget, chosen);
    const queue = [...left];
    const next = async (): Promise<void> => {
      for (
        let mutant = queue.shift();
        mutant !== undefined && !stop.asked;
        mutant = queue.shift()
      ) {
        const verdict = await checker(mutant, folder, options.budget);
        await campaign.add(verdict);
        bar?.increment();
        console.log(line(mutant, verdict));
      }
    };
    await Promise.all(Array.from({ length: options.workers }, next));
  } finally {
    bar?.stop();
    await rm(folder, { recursive: true, force: true });
  }
  if (stop.asked) {
    console.error('interrupted; the next run resumes here');
    process.exitCode = 130;
    return;
  }
  const verdicts = chosen.flatMap(({ id }) => campaign.verdicts.get(id) ?? []);
  if (options.reports) {
    await mkdir(join(PAGE, '..'), { recursive: true });
    const earlier = rowsOf(await readFile(PAGE, 'utf8').catch(() => ''));
    await writeFile(PAGE, report(MUTANTS, verdicts, options.each, earlier));
    console.log('written: reports/prove/mutants.md');
  }
  const { killed, score } = scoreOf(verdicts);
  console.log(
    `${String(killed)} of ${String(verdicts.length)} mutants killed: ${score.toFixed(1)} %`,
  );
  if (score < SCORE_NEEDED) process.exitCode = 1;
  // A part of the hunters, or a smaller budget, leaves more survivors than have reasons.
  if (!options.whole) return;
  for (const fault of reasonFaults(chosen, verdicts)) {
    console.error(`mutants: ${fault} (test/mutants/survivors.ts)`);
    process.exitCode = 1;
  }
}

/** Throws the list of mutants whose text no longer matches, before any hunt. */
async function mustFit(mutants: readonly Mutant[]): Promise<void> {
  const misfits: string[] = [];
  for (const mutant of mutants) {
    try {
      mutate(await readFile(sourcePath(mutant), 'utf8'), mutant);
    } catch (error) {
      misfits.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (misfits.length > 0) {
    throw new RangeError(`these mutants do not match the engine's text\n${misfits.join('\n')}`);
  }
}

/** A violation in the original would kill every mutant and prove nothing. */
async function soundProgram(
  folder: string,
  budget: Options['budget'],
  chosen: readonly Quarry[],
): Promise<void> {
  const file = join(folder, 'sound.mjs');
  await bundle(WORKER, file, null);
  const profiles = new Set(chosen.map((mutant) => mutant.profile));
  const quarterOf = (count: number): number => Math.ceil(count / 4);
  const quarter: Options['budget'] = {
    invariants: quarterOf(budget.invariants),
    oracle: quarterOf(budget.oracle),
    restore: quarterOf(budget.restore),
    cut: quarterOf(budget.cut),
  };
  for (const profile of profiles) {
    const found = (await huntIn(file, quarter, profile)).find(({ kill }) => kill !== null);
    if (found?.kill == null) continue;
    const { hunter, kill } = found;
    throw new Error(
      `the exchange without a mutant fails: ${hunter} reports ${kill.what}, ${kill.detail} (seed ${kill.seed}, profile ${kill.profile})`,
    );
  }
}

try {
  await main();
} catch (error) {
  console.error(`mutants: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof RangeError || error instanceof TypeError ? 2 : 1;
}
