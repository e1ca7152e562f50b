/**
 * Explores every world of `orrery exhaust` with each mutant, and prints the share of reached mutants
 * that a check finds. A mutant is reached if the events or the state of some edge differ from those
 * of the original. Exit code 1 below 95 %, or if the original fails.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { bundle } from './build.ts';
import type { Explored } from './exhaust-worker.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { SCORE_NEEDED } from './report.ts';

const WORKER = fileURLToPath(new URL('./exhaust-worker.ts', import.meta.url));
/** Silence after which a mutant counts as endless; a batch takes seconds of processor time. */
const MOST_SILENT_MS = 900_000;

const HELP = `node --import tsx test/mutants/exhaust.ts [options]

  --depth <n>     operations of the longest sequences [3]
  --only <texts>  mutants whose id or file contains one of these, separated by commas
  --every <n>     one of so many mutants [1]
  --workers <n>   explorations at the same time [as many as cores]`;

type Verdict =
  | { readonly kind: 'killed'; readonly by: string; readonly operations: number }
  | { readonly kind: 'survives' | 'unreached' };

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1 && value <= 1000) return value;
  throw new RangeError(`--${name} must be a whole number from 1 to 1000, got ${text}`);
}

/** Explores in a thread; an error or an endless exploration is a failure too. */
function explore(file: string, depth: number): Promise<Explored | string> {
  return new Promise((resolve) => {
    const worker = new Worker(file, { workerData: { depth } });
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

function verdictOf(found: Explored | string, sound: Explored): Verdict {
  if (typeof found === 'string') return { kind: 'killed', by: found, operations: 0 };
  const { failure, digests } = found;
  if (failure !== null) {
    const { violation, path } = failure;
    return { kind: 'killed', by: violation.invariant, operations: path.length };
  }
  const same = digests.every((digest, i) => digest === sound.digests[i]);
  return { kind: same ? 'unreached' : 'survives' };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      depth: { type: 'string', default: '3' },
      only: { type: 'string' },
      every: { type: 'string', default: '1' },
      workers: { type: 'string', default: String(availableParallelism()) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const depth = wholeNumber('depth', values.depth);
  const every = wholeNumber('every', values.every);
  const texts = values.only?.split(',') ?? [''];
  const chosen = MUTANTS.filter(({ id, file }) =>
    texts.some((text) => id.includes(text) || file.includes(text)),
  ).filter((_, i) => i % every === 0);
  if (chosen.length === 0) throw new RangeError('--only matches no mutant id or file');
  const folder = await mkdtemp(join(tmpdir(), 'orrery-exhaust-'));
  const exploreWith = async (mutant: Mutant | null): Promise<Explored | string> => {
    const file = join(folder, `${mutant?.id ?? 'sound'}.mjs`);
    await bundle(WORKER, file, mutant);
    const found = await explore(file, depth);
    await rm(file);
    return found;
  };
  const counts = { killed: 0, survives: 0, unreached: 0 };
  try {
    const sound = await exploreWith(null);
    if (typeof sound === 'string' || sound.failure !== null) {
      const what = typeof sound === 'string' ? sound : sound.failure?.violation.detail;
      throw new Error(`the exchange without a mutant fails: ${String(what)}`);
    }
    console.log(`original: ${String(sound.edges)} edges to depth ${String(depth)}`);
    const queue = [...chosen];
    const next = async (): Promise<void> => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const verdict = verdictOf(await exploreWith(mutant), sound);
        counts[verdict.kind] += 1;
        console.log(lineOf(mutant, verdict));
      }
    };
    await Promise.all(Array.from({ length: wholeNumber('workers', values.workers) }, next));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const reached = counts.killed + counts.survives;
  const score = reached === 0 ? 100 : (100 * counts.killed) / reached;
  if (score < SCORE_NEEDED) process.exitCode = 1;
  console.log(
    `${String(counts.killed)} of ${String(reached)} reached mutants killed at depth ${String(depth)}: ${score.toFixed(1)} %; ${String(counts.unreached)} not reached`,
  );
}

function lineOf({ id, means, rule }: Mutant, verdict: Verdict): string {
  if (verdict.kind === 'killed') {
    return `killed    ${id} by ${verdict.by} after ${String(verdict.operations)} operations`;
  }
  return verdict.kind === 'survives' ? `SURVIVES  ${id}: ${means} (${rule})` : `unreached ${id}`;
}

try {
  await main();
} catch (error) {
  console.error(`exhaust: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof RangeError || error instanceof TypeError ? 2 : 1;
}
