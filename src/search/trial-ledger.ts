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
import { hashOf, type Trial } from './trial-log.ts';

/** Hex digits of a hash in names and lines. */
const DIGITS = 32;

export class TrialLedger {
  readonly path: string;
  private readonly search: unknown;
  private readonly space: SweepPlan['space'];
  private readonly known: Set<string>;
  /** Ends a torn last line. */
  private before: string;

  /**
   * @param strategy name of the strategy: its trials stay counted after the file is edited
   * @throws FileError if the ledger cannot be read
   */
  constructor(folder: string, strategy: string, data: string, search: SweepPlan) {
    const name = hashOf([strategy, data]).slice(0, DIGITS);
    this.path = join(folder, 'trials', `${name}.txt`);
    this.space = search.space;
    // The run of a trial, wherever its data and log are, and whatever the space around it.
    const { plan, options } = searchIdentity(search) as SweepPlan;
    this.search = [{ ...plan, data: null, seed: null, warmUpUs: null }, options];
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

  /** Throws `FileError` if the ledger cannot be written. */
  add({ point, budget }: Pick<Trial, 'point' | 'budget'>): void {
    const key = hashOf([this.search, assignmentOf(this.space, point), budget]).slice(0, DIGITS);
    if (this.known.has(key)) return;
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      appendFileSync(this.path, `${this.before}${key}\n`);
      this.before = '';
    } catch (error) {
      throw fileError(`${this.path} (--no-ledger keeps none)`, error);
    }
    this.known.add(key);
  }
}
