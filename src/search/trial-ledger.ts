/**
 * Ledger of trials by strategy and dataset, across searches: one file per pair in a folder of the
 * user, one line per distinct trial. A second search in another folder therefore counts in the
 * deflated Sharpe ratio of the first.
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

/** Adds trials of one search. Throws `FileError` if the ledger cannot be written. */
export type LedgerEntry = (trial: Pick<Trial, 'point' | 'budget'>) => void;

export class TrialLedger {
  readonly path: string;
  private readonly known: Set<string>;
  /** Ends a torn last line. */
  private before: string;

  /**
   * @param strategy name of the strategy: its trials stay counted after the file is edited
   * @throws FileError if the ledger cannot be read
   */
  constructor(folder: string, strategy: string, data: string) {
    const name = hashOf([strategy, data]).slice(0, DIGITS);
    this.path = join(folder, 'trials', `${name}.txt`);
    try {
      const text = existsSync(this.path) ? readFileSync(this.path, 'utf8') : '';
      this.before = text === '' || text.endsWith('\n') ? '' : '\n';
      this.known = new Set(text.split('\n').filter((line) => line.length === DIGITS));
    } catch (error) {
      throw fileError(this.path, error);
    }
  }

  /** Number of distinct trials of the strategy on the dataset, ever. */
  get count(): number {
    return this.known.size;
  }

  /** A run of other parameters, or on another part of the data, is another trial. */
  entryOf(search: SweepPlan): LedgerEntry {
    // The run of a trial, wherever its data and log are, and whatever the space around it.
    const { plan, options } = searchIdentity(search) as SweepPlan;
    const identity = [{ ...plan, data: null, seed: null, warmUpUs: null }, options];
    return ({ point, budget }) => {
      const key = hashOf([identity, assignmentOf(search.space, point), budget]);
      this.add(key.slice(0, DIGITS));
    };
  }

  private add(key: string): void {
    if (this.known.has(key)) return;
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      appendFileSync(this.path, `${this.before}${key}\n`);
      this.before = '';
    } catch (error) {
      throw fileError(`${this.path} (the ledger of trials; --no-ledger keeps none)`, error);
    }
    this.known.add(key);
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
