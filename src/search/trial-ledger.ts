/**
 * Ledger of trials by strategy and dataset, across searches: one file per pair in a folder of the
 * user, one line per distinct trial. A second search in another folder therefore counts in the
 * deflated Sharpe ratio of the first. So does another seed that gives another run: a search over
 * seeds selects luck. Another file has the trials of all strategies on the dataset,
 * so a strategy with a new name does not begin at zero.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileError } from '../platform/file-error.ts';
import { searchIdentity } from './plan-search.ts';
import { assignmentOf } from './samplers/space.ts';
import type { SweepPlan } from './sweep.ts';
import { hashOf, type Trial, type TrialLog } from './trial-log.ts';

/** Hex digits of a hash in names and lines. */
const DIGITS = 32;
/** Of a seed and of a run in lines. */
const FEW = 16;

/** Adds trials of one search. Throws `FileError` if the ledger cannot be written. */
export type LedgerEntry = (trial: Pick<Trial, 'point' | 'budget' | 'figures'>) => void;

export class TrialLedger {
  readonly path: string;
  private readonly ofStrategy: TrialFile;
  private readonly ofData: TrialFile;
  private readonly strategy: string;

  /**
   * @param strategy name of the strategy: its trials stay the same after the file is edited
   * @throws FileError if the ledger cannot be read
   */
  constructor(folder: string, strategy: string, data: string) {
    const fileOf = (...names: readonly string[]): TrialFile =>
      new TrialFile(join(folder, 'trials', `${hashOf(names).slice(0, DIGITS)}.txt`));
    this.strategy = strategy;
    this.ofStrategy = fileOf(strategy, data);
    this.ofData = fileOf(data);
    this.path = this.ofStrategy.path;
  }

  /** Number of distinct trials on the dataset, of this strategy and of all others, ever. */
  get count(): number {
    // Ledgers of earlier versions have no file of the dataset.
    return Math.max(this.ofStrategy.count, this.ofData.count);
  }

  /** A run of other parameters, or on another part of the data, is another trial. */
  entryOf(search: SweepPlan): LedgerEntry {
    // The run of a trial, wherever its data and log are, and whatever the space around it.
    const { plan, options } = searchIdentity(search) as SweepPlan;
    const identity = [{ ...plan, data: null, seed: null, warmUpUs: null }, options];
    const seed = hashOf(plan.seed).slice(0, FEW);
    return ({ point, budget, figures }) => {
      const key = hashOf([identity, assignmentOf(search.space, point), budget]);
      const run =
        figures === null || figures.chainHash === '' ? null : figures.chainHash.slice(0, FEW);
      this.ofStrategy.add(key.slice(0, DIGITS), seed, run);
      this.ofData.add(hashOf([this.strategy, key]).slice(0, DIGITS), seed, run);
    };
  }
}

/** Seed and run of a trial; null for one of an earlier version, or one that failed. */
type Outcome = readonly [seed: string, run: string];

/** Another seed is another trial only if it gives another run. */
function isAmong(outcomes: readonly Outcome[], seed: string, run: string): boolean {
  return outcomes.some(([other, same]) => other === seed || same === run);
}

/**
 * Distinct trials, one a line: a key, with the seed and the chain hash of its run. The same key
 * with another seed is another trial if the run differs, that is if it depends on the seed.
 */
class TrialFile {
  readonly path: string;
  private readonly known = new Map<string, Outcome[]>();
  /** Ends a torn last line. */
  private before: string;

  constructor(path: string) {
    this.path = path;
    try {
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      this.before = text === '' || text.endsWith('\n') ? '' : '\n';
      for (const line of text.split('\n')) {
        const [key = '', seed, run] = line.split(' ');
        if (key.length === DIGITS) this.note(key, seed, run);
      }
    } catch (error) {
      throw fileError(path, error);
    }
  }

  private note(key: string, seed: string | undefined, run: string | undefined): void {
    const outcomes = this.known.get(key) ?? [];
    this.known.set(key, outcomes);
    if (seed?.length !== FEW || run?.length !== FEW) return;
    // Searches that run at once each write the trials that both have.
    if (!isAmong(outcomes, seed, run)) outcomes.push([seed, run]);
  }

  get count(): number {
    let count = 0;
    for (const outcomes of this.known.values()) count += Math.max(1, outcomes.length);
    return count;
  }

  add(key: string, seed: string, run: string | null): void {
    const outcomes = this.known.get(key);
    if (run === null && outcomes !== undefined) return;
    if (run !== null && isAmong(outcomes ?? [], seed, run)) return;
    const line = run === null ? key : `${key} ${seed} ${run}`;
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      appendFileSync(this.path, `${this.before}${line}\n`);
      this.before = '';
    } catch (error) {
      throw fileError(`${this.path} (the ledger of trials; --no-ledger keeps none)`, error);
    }
    if (run === null) this.note(key, undefined, undefined);
    else this.note(key, seed, run);
  }
}

/** A log whose trials count in a ledger, those that it already has as well. */
export function countedLog(
  log: Pick<TrialLog, 'get' | 'add'>,
  count: LedgerEntry,
): Pick<TrialLog, 'get' | 'add'> {
  return {
    get: (number) => {
      const trial = log.get(number);
      if (trial !== undefined) count(trial);
      return trial;
    },
    add: (trial) => {
      log.add(trial);
      count(trial);
    },
  };
}
