/**
 * Log of a search: one JSON line for the search, then one per finished trial, synced. All trials
 * are kept, because the deflated Sharpe ratio and the probability of overfitting must count all of
 * them.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { SEMANTICS_VERSION } from '../journal/format/header.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import type { Point } from './samplers/space.ts';
import type { TrialResult } from './trial.ts';

export interface Trial extends TrialResult {
  /** Index in the search from 0, independent of the number of workers. */
  readonly number: number;
  readonly point: Point;
  readonly budget: number;
}

export class TrialLog {
  readonly path: string;
  private readonly descriptor: number;
  private readonly known: Map<number, Trial>;

  private constructor(path: string, descriptor: number, known: Map<number, Trial>) {
    this.path = path;
    this.descriptor = descriptor;
    this.known = known;
  }

  /**
   * Opens or resumes the log of a search.
   *
   * @param search plain data that determines the trials: plan, space, method
   * @throws FileError if the log is of another search, or is damaged before its last line
   */
  static open(path: string, search: unknown): TrialLog {
    // Trials of other rules are no trials of this search.
    const rules = SEMANTICS_VERSION;
    const about = { orrery: 'trials', version: 3, rules, search: hashOf(search) };
    const head = `${JSON.stringify(about)}\n`;
    try {
      const known = existsSync(path) ? readTrials(path, head) : new Map<number, Trial>();
      const descriptor = openSync(path, 'a');
      if (known.size === 0 && readFileSync(path).length === 0) writeLine(descriptor, head);
      return new TrialLog(path, descriptor, known);
    } catch (error) {
      throw fileError(path, error);
    }
  }

  /** A trial of an earlier run of the same search. */
  get(number: number): Trial | undefined {
    return this.known.get(number);
  }

  add(trial: Trial): void {
    this.known.set(trial.number, trial);
    try {
      writeLine(this.descriptor, `${JSON.stringify(trial)}\n`);
    } catch (error) {
      throw fileError(this.path, error);
    }
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

function writeLine(descriptor: number, line: string): void {
  // All of it: on a full disk a single write may end early without an error.
  writeFileSync(descriptor, line);
  fsyncSync(descriptor);
}

/** Truncates an incomplete last line, which was being written when the search stopped. */
function readTrials(path: string, head: string): Map<number, Trial> {
  const text = readFileSync(path, 'utf8');
  // Before anything is truncated: the file may be another program's.
  if (!text.startsWith(head) && !head.startsWith(text)) {
    throw new FileError(
      `${path}: is the log of another search (another strategy, data, space, method, setting or version of Orrery); give another --out`,
    );
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
  if (whole === '') return new Map();
  const trials = new Map<number, Trial>();
  whole
    .slice(head.length)
    .split('\n')
    .forEach((line, i) => {
      if (line === '') return;
      try {
        const trial = JSON.parse(line) as Trial;
        trials.set(trial.number, trial);
      } catch {
        throw new FileError(`${path}: line ${String(i + 2)}: is damaged`);
      }
    });
  return trials;
}

/** SHA-256 of the JSON of plain data. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
