/**
 * Batches of an exhaustive search as jobs. The batches are those of a search on one machine, so
 * that their numbers are too; a job has several of them, unless all of its edges are checked.
 */
import type { Batch, ExhaustPlan, Expander, Expansion } from '../fuzz/exhaust/expand.ts';
import type { Search } from '../fuzz/exhaust/search.ts';
import type { RemoteJobs } from './remote-jobs.ts';

/** Batches of a job without and with the oracle: some seconds of work. */
const BATCHES_A_JOB = 32;
const CHECKED_BATCHES_A_JOB = 1;
/** Jobs asked for before the oldest of them has ended. */
const JOBS_AHEAD = 64;

interface StoredBatch extends Omit<Batch, 'paths'> {
  /** Base64. */
  readonly paths: string;
}

export interface ExpansionTask {
  readonly plan: ExhaustPlan;
  readonly batches: readonly StoredBatch[];
}

interface StoredExpansion extends Omit<Expansion, 'accepted' | 'refused' | 'states'> {
  readonly accepted: readonly number[];
  readonly refused: readonly number[];
  /** Base64 of the arrays, little-endian. */
  readonly keys: string;
  readonly parents: string;
  readonly operations: string;
}

/** Expands the batches of a job, up to the first failure. */
export function expansionsOf(expander: Expander, { batches }: ExpansionTask): StoredExpansion[] {
  const expansions: StoredExpansion[] = [];
  for (const { length, count, paths } of batches) {
    const expansion = expander.expand({ length, count, paths: bytesOf(paths) });
    expansions.push(stored(expansion));
    if (expansion.failure !== null) break;
  }
  return expansions;
}

export interface ExpansionPorts {
  readonly jobs: RemoteJobs;
  readonly stopped: () => boolean;
  readonly onJob?: () => void;
}

/** Expands a search elsewhere until it is complete or fails; false if stopped. */
export async function expandAll(
  search: Search,
  { jobs, stopped, onJob }: ExpansionPorts,
): Promise<boolean> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const isOver = (): boolean => search.isComplete || search.failure !== null;
  const expand = async (group: Group): Promise<void> => {
    const { plan } = search;
    const batches = group.map(({ length, count, paths }) => {
      return { length, count, paths: textOf(paths) };
    });
    const text = await jobs.runOnce('expansion', { plan, batches } satisfies ExpansionTask);
    if (text === null) return;
    for (const [i, expansion] of (JSON.parse(text) as StoredExpansion[]).entries()) {
      search.add(group[i]?.from ?? NaN, expansionOf(expansion));
    }
    onJob?.();
  };
  while (!isOver() && !stopped()) {
    const group = running.size < JOBS_AHEAD ? nextGroup(search) : [];
    if (group.length === 0) {
      // Without a job that could add states the search was stopped.
      if (running.size === 0) return isOver();
      await Promise.race(running);
      // Several jobs may end before the race is read: the first failure ends the search.
      if (failures.length > 0) throw failures[0];
      continue;
    }
    const job = expand(group)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => running.delete(job));
    running.add(job);
  }
  return isOver();
}

type Group = NonNullable<ReturnType<Search['take']>>[];

/** The next batches of the level; a search has the same groups each time. */
function nextGroup(search: Search): Group {
  const { plan, depth } = search;
  const most = depth <= plan.oracleDepth ? CHECKED_BATCHES_A_JOB : BATCHES_A_JOB;
  const group: Group = [];
  while (group.length < most) {
    const batch = search.take();
    if (batch === null) break;
    group.push(batch);
  }
  return group;
}

function stored({ accepted, refused, states, ...rest }: Expansion): StoredExpansion {
  const { keys, parents, operations } = states;
  return {
    ...rest,
    accepted: [...accepted],
    refused: [...refused],
    keys: textOf(keys),
    parents: textOf(parents),
    operations: textOf(operations),
  };
}

function expansionOf(expansion: StoredExpansion): Expansion {
  const { accepted, refused, keys, parents, operations, ...rest } = expansion;
  return {
    ...rest,
    accepted: Uint32Array.from(accepted),
    refused: Uint32Array.from(refused),
    states: {
      keys: new Int32Array(bytesOf(keys).buffer),
      parents: new Uint32Array(bytesOf(parents).buffer),
      operations: bytesOf(operations),
    },
  };
}

function textOf({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Bytes with a buffer of their own. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, 'base64'));
}
