/**
 * Explores every world of `orrery exhaust` with each mutant, and prints the share of reached mutants
 * that a check finds. A mutant is reached if the events or the state of some edge differ from those
 * of the original. Every edge is checked to a depth; beyond it, only the worlds that a mutant
 * reaches are explored again with checks, one operation longer. The table is kept in reports/prove,
 * so an exploration can be made in parts. Exit code 1 below 95 %, or if the original fails.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { WORLD_NAMES, type WorldName } from '../../src/fuzz/exhaust/worlds.ts';
import { bundle } from './build.ts';
import { loadVerdicts, saveVerdicts, scoreOf, type Verdict } from './exhaust-table.ts';
import type { Exploration, Explored } from './exhaust-worker.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { SCORE_NEEDED } from './report.ts';

const WORKER = fileURLToPath(new URL('./exhaust-worker.ts', import.meta.url));
/** Silence after which a mutant counts as endless; a batch takes seconds of processor time. */
const MOST_SILENT_MS = 900_000;
/** Every edge to this depth is checked, so a mutant that only a restored exchange shows is found. */
const CHECKED_DEPTH = 1;
/** Depths below are part of the first exploration. */
const FIRST_DEPTH = 2;
/** Operations beyond the longest sequences, in the worlds that a survivor reaches. */
const MORE_DEPTH = 1;

const HELP = `node --import tsx test/mutants/exhaust.ts [options]

  --depth <n>     operations of the longest sequences [3]
  --only <texts>  mutants whose id or file contains one of these, separated by commas
  --every <n>     one of so many mutants [1]
  --workers <n>   explorations at the same time [as many as cores]
  --resume        keep the rows of the last table; explore the others, and unreached ones deeper
  --for <n>       seconds after which this call begins no further mutant [unlimited]`;

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1 && value <= 100_000) return value;
  throw new RangeError(`--${name} must be a whole number from 1 to 100000, got ${text}`);
}

/** Explores in a thread; an error or an endless exploration is a failure too. */
function explore(file: string, exploration: Exploration): Promise<Explored | string> {
  return new Promise((resolve) => {
    const worker = new Worker(file, { workerData: { exploration } });
    const end = (found: Explored | string): void => {
      clearTimeout(timer);
      resolve(found);
      void worker.terminate();
    };
    const timer = setTimeout(() => end('endless'), MOST_SILENT_MS);
    worker.on('message', (found: Explored | 'alive') => {
      if (found === 'alive') timer.refresh();
      else end(found);
    });
    worker.on('error', (error) => end(`error: ${error.message}`));
  });
}

/** Digests of the original, by depth; each depth is explored once. */
class Originals {
  private readonly file: string;
  private readonly known = new Map<number, Promise<readonly string[]>>();

  constructor(file: string) {
    this.file = file;
  }

  at(depth: number): Promise<readonly string[]> {
    const known = this.known.get(depth) ?? this.explore(depth);
    this.known.set(depth, known);
    return known;
  }

  private async explore(depth: number): Promise<readonly string[]> {
    const checkedDepth = Math.min(depth, CHECKED_DEPTH);
    const found = await explore(this.file, { worlds: WORLD_NAMES, depth, checkedDepth });
    if (typeof found !== 'string' && found.failure === null) return found.digests;
    const what = typeof found === 'string' ? found : found.failure?.violation.detail;
    throw new Error(`the exchange without a mutant fails: ${String(what)}`);
  }
}

/** Explores a mutant at each depth from `from` on, until it is reached. */
async function judge(
  { id }: Mutant,
  file: string,
  originals: Originals,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Verdict> {
  const killed = (found: Explored | string, world: WorldName | null, depth: number): Verdict => {
    const place = world === null ? {} : { world };
    if (typeof found === 'string') {
      return { id, kind: 'killed', by: found, operations: 0, ...place, depth };
    }
    const { invariant = '' } = found.failure?.violation ?? {};
    const operations = found.failure?.path.length ?? 0;
    return { id, kind: 'killed', by: invariant, operations, ...place, depth };
  };
  for (let depth = from; depth <= to; depth += 1) {
    const checkedDepth = Math.min(depth, CHECKED_DEPTH);
    const sound = await originals.at(depth);
    const found = await explore(file, { worlds: WORLD_NAMES, depth, checkedDepth });
    if (typeof found === 'string') return killed(found, null, depth);
    const last = WORLD_NAMES[found.digests.length - 1] ?? null;
    if (found.failure !== null) return killed(found, last, depth);
    const reached = WORLD_NAMES.filter((_, i) => found.digests[i] !== sound[i]);
    // A state that differs may show in an event only later.
    for (let deep = depth; reached.length > 0 && deep <= to + MORE_DEPTH; deep += 1) {
      for (const world of reached) {
        const again = await explore(file, { worlds: [world], depth: deep, checkedDepth: deep });
        if (typeof again === 'string' || again.failure !== null) return killed(again, world, deep);
      }
    }
    const [world] = reached;
    if (world !== undefined) return { id, kind: 'survives', world, depth };
  }
  return { id, kind: 'unreached', depth: to };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      depth: { type: 'string', default: '3' },
      only: { type: 'string' },
      every: { type: 'string', default: '1' },
      workers: { type: 'string', default: String(availableParallelism()) },
      resume: { type: 'boolean', default: false },
      for: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const depth = wholeNumber('depth', values.depth);
  const every = wholeNumber('every', values.every);
  const limitMs = values.for === undefined ? Infinity : 1000 * wholeNumber('for', values.for);
  const texts = values.only?.split(',') ?? [''];
  const chosen = MUTANTS.filter(({ id, file }) =>
    texts.some((text) => id.includes(text) || file.includes(text)),
  ).filter((_, i) => i % every === 0);
  if (chosen.length === 0) throw new RangeError('--only matches no mutant id or file');
  const verdicts = values.resume ? loadVerdicts() : new Map<string, Verdict>();
  const isDone = ({ id }: Mutant): boolean => {
    const last = verdicts.get(id);
    return last !== undefined && (last.kind === 'killed' || last.depth >= depth);
  };
  const folder = await mkdtemp(join(tmpdir(), 'orrery-exhaust-'));
  const began = performance.now();
  try {
    const sound = join(folder, 'sound.mjs');
    await bundle(WORKER, sound, null);
    const originals = new Originals(sound);
    const queue = chosen.filter((mutant) => !isDone(mutant));
    const next = async (): Promise<void> => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        if (performance.now() - began > limitMs) return;
        const file = join(folder, `${mutant.id}.mjs`);
        await bundle(WORKER, file, mutant);
        const last = verdicts.get(mutant.id);
        const from = last?.kind === 'unreached' ? last.depth + 1 : Math.min(depth, FIRST_DEPTH);
        const verdict = await judge(mutant, file, originals, { from, to: depth });
        await rm(file);
        verdicts.set(mutant.id, verdict);
        saveVerdicts(verdicts, MUTANTS);
        console.log(lineOf(mutant, verdict));
      }
    };
    await Promise.all(Array.from({ length: wholeNumber('workers', values.workers) }, next));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const rows = chosen.flatMap(({ id }) => verdicts.get(id) ?? []);
  const { killed, reached, score } = scoreOf(rows);
  if (score < SCORE_NEEDED) process.exitCode = 1;
  console.log(
    `${String(killed)} of ${String(reached)} reached mutants killed to depth ${String(depth)}: ${score.toFixed(1)} %; ${String(rows.length - reached)} not reached, ${String(chosen.length - rows.length)} not explored`,
  );
}

function lineOf({ id, means, rule }: Mutant, verdict: Verdict): string {
  const { kind, by = '', operations = 0, world = '' } = verdict;
  if (kind === 'killed') {
    return `killed    ${id} by ${by} after ${String(operations)} operations in ${world}`;
  }
  if (kind === 'unreached') return `unreached ${id}`;
  return `SURVIVES  ${id} in ${world}: ${means} (${rule})`;
}

try {
  await main();
} catch (error) {
  console.error(`exhaust: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof RangeError || error instanceof TypeError ? 2 : 1;
}
