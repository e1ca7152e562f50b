/** Arenas of an economic search as jobs. */
import {
  leastPlans,
  type ArenaResult,
  type CoalitionSearch,
  type Improvement,
  type SearchOptions,
} from '../fuzz/economic/search.ts';
import type { RemoteJobs } from './remote-jobs.ts';

/** Arenas asked for before the oldest of them has ended. */
const ARENAS_AHEAD = 256;

export interface ArenaTask {
  readonly options: SearchOptions;
  readonly arena: number;
  readonly maxPlans: number;
}

interface StoredImprovement extends Omit<Improvement, 'worth'> {
  /** Quanta, in decimal digits. */
  readonly worth: string;
}

interface StoredArena extends Omit<ArenaResult, 'improvements' | 'insurance'> {
  readonly improvements: readonly StoredImprovement[];
  readonly insurance: readonly StoredImprovement[];
}

export function storedArena({ improvements, insurance, ...rest }: ArenaResult): StoredArena {
  const stored = (one: Improvement) => ({ ...one, worth: String(one.worth) });
  return { ...rest, improvements: improvements.map(stored), insurance: insurance.map(stored) };
}

function arenaOfStored({ improvements, insurance, ...rest }: StoredArena): ArenaResult {
  const read = (one: StoredImprovement) => ({ ...one, worth: BigInt(one.worth) });
  return { ...rest, improvements: improvements.map(read), insurance: insurance.map(read) };
}

export interface ArenaPorts {
  readonly jobs: RemoteJobs;
  readonly stopped: () => boolean;
  readonly onArena?: () => void;
}

/** Searches arenas elsewhere until the search is over; false if stopped. */
export async function searchArenas(
  search: CoalitionSearch,
  options: SearchOptions,
  plans: number,
  { jobs, stopped, onArena }: ArenaPorts,
): Promise<boolean> {
  const least = leastPlans(options);
  let next = 0;
  // Every arena tries at least so many plans, so no further one is needed.
  const isEnough = (): boolean =>
    search.isOver || next >= search.arenas + Math.ceil((plans - search.plans) / least);
  const ask = async (): Promise<void> => {
    while (!stopped() && !isEnough()) {
      const arena = next;
      next += 1;
      const task: ArenaTask = { options, arena, maxPlans: plans };
      const text = await jobs.runOnce('arena', task);
      if (text === null) return;
      search.add(arenaOfStored(JSON.parse(text) as StoredArena));
      onArena?.();
      if (search.isOver) onOver();
    }
  };
  let onOver = (): void => undefined;
  const over = new Promise<void>((resolve) => (onOver = resolve));
  // Arenas after the last one that counts are not waited for.
  await Promise.race([Promise.all(Array.from({ length: ARENAS_AHEAD }, ask)), over]);
  return search.isOver;
}
