/**
 * Expands states: applies every operation to each, and returns the states that follow. A worker has
 * one `Expander`. The result depends on the batch alone, not on earlier ones.
 */
import { must } from '../../base/assert.ts';
import { RollingHash } from '../../base/rolling-hash.ts';
import type { Command } from '../../engine/commands.ts';
import { outcomeCode } from '../../engine/refusals.ts';
import type { Violation } from '../checker.ts';
import { thrown } from '../thrown.ts';
import type { IsSameBytes } from './checkpoint.ts';
import { comparePaths } from './compare-paths.ts';
import { ExploredExchange } from './explored-exchange.ts';
import { Found, type EdgeCounts, type FoundStates } from './found.ts';
import { CheckedWalk } from './checked-walk.ts';
import { gatherBuffers } from './gather-buffers.ts';
import { KeySet } from './key-set.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { openingOf } from './preparations.ts';
import { CONFIG_WITHOUT_HISTORY } from './setting.ts';
import { KEY_WORDS, sameWords, StateKey } from './state-key.ts';
import { Walk } from './walk.ts';
import { operationsOf, type WorldName } from './worlds.ts';

export interface ExhaustPlan {
  readonly world: WorldName;
  /** Operations of the longest paths. */
  readonly depth: number;
  /** All edges up to this depth are checked by the oracle and all invariants. */
  readonly oracleDepth: number;
  /** Share of the deeper states whose edges are checked too, in 1e-6. */
  readonly samplePpm: number;
  /** Whether to hash the events and the state of every edge, which compares two builds. */
  readonly digest: boolean;
}

/** Paths of equal length, one after the other. */
export interface Batch {
  readonly length: number;
  readonly count: number;
  readonly paths: Uint8Array;
}

/** A violated check, after the operations of `path`. */
export interface ExhaustFailure {
  readonly path: readonly number[];
  readonly violation: Violation;
  /** The other path, where two paths to one state differ. */
  readonly other: readonly number[] | null;
}

export interface Expansion {
  readonly counts: EdgeCounts;
  /** Accepted and refused edges by operation. */
  readonly accepted: Uint32Array;
  readonly refused: Uint32Array;
  readonly states: FoundStates;
  /** Coverage states that checked edges reached. */
  readonly reached: readonly string[];
  /** Empty unless the plan asks for it. */
  readonly digest: string;
  readonly failure: ExhaustFailure | null;
}

/** Of the keys that a batch reaches twice, one in so many is a candidate for a comparison. */
const COMPARED_EVERY = 16;
const COMPARED_PER_BATCH = 1;
const MILLION = 1_000_000;
/** All operations on states of shorter paths are repeated on a restored exchange. */
const RESTORED_DEPTH = 2;

/** A path and the index of its state in the batch. */
interface Place {
  readonly path: Uint8Array;
  readonly parent: number;
}

export class Expander {
  readonly plan: ExhaustPlan;
  private readonly names: readonly OperationName[];
  private readonly exchange = new ExploredExchange(CONFIG_WITHOUT_HISTORY);
  private readonly archive = new StateKey();
  private readonly walk: Walk;
  private readonly checks: CheckedWalk;
  private readonly seen = new KeySet();
  private readonly before = new Int32Array(KEY_WORDS);
  private readonly words = new Int32Array(KEY_WORDS);
  /** Of the current batch. */
  private batch: Batch = { length: 0, count: 0, paths: new Uint8Array() };
  private found = new Found(0, 0);
  private digest = new RollingHash();
  private reached = new Set<string>();
  private pairs: [one: number[], other: number[]][] = [];

  /** `isSameBytes`: the platform's comparison of bytes, which is faster than a loop. */
  constructor(plan: ExhaustPlan, isSameBytes?: IsSameBytes) {
    const { exchange } = this;
    this.plan = plan;
    this.names = operationsOf(plan.world);
    for (const command of openingOf(plan.world)) {
      must(exchange.apply(command) === 'ok' ? true : undefined, 'the opening is accepted');
    }
    exchange.holdLabels();
    gatherBuffers(exchange, exchange.parts().owners);
    const apply = (i: number): void => {
      const command = this.command(i);
      if (command !== null) exchange.apply(command);
    };
    this.walk = new Walk([exchange], apply, exchange.parts, isSameBytes);
    this.checks = new CheckedWalk(plan.world);
  }

  /** Key of the state after the opening. */
  rootKey(): Int32Array {
    this.walk.moveTo([]);
    this.exchange.key(this.archive, this.words);
    return this.words.slice();
  }

  expand(batch: Batch): Expansion {
    this.batch = batch;
    this.found = new Found(batch.count, this.names.length);
    this.digest = new RollingHash();
    this.reached = new Set();
    this.pairs = [];
    this.seen.clear();
    let failure: ExhaustFailure | null = null;
    for (let parent = 0; parent < batch.count && failure === null; parent += 1) {
      failure = this.expandOne({ path: this.pathOf(parent), parent });
    }
    if (failure === null) failure = this.comparePairs();
    const { found } = this;
    return {
      counts: found.counts,
      accepted: found.accepted,
      refused: found.refused,
      states: found.states(),
      reached: [...this.reached].sort(),
      digest: this.plan.digest ? this.digest.hex() : '',
      failure,
    };
  }

  /** Compares the continuations of two paths. */
  compare(one: readonly number[], other: readonly number[]): Violation | null {
    const { walk, exchange, archive, names } = this;
    return comparePaths({ walk, exchange, archive, operations: names }, one, other);
  }

  private expandOne(place: Place): ExhaustFailure | null {
    const { walk, exchange, names, before } = this;
    const { path } = place;
    walk.moveTo(path);
    exchange.key(this.archive, before);
    const codes: (string | null)[] = [];
    for (let i = 0; i < names.length; i += 1) {
      const command = this.command(i);
      if (command === null) {
        codes.push(null);
        continue;
      }
      try {
        codes.push(outcomeCode(exchange.apply(command)));
      } catch (error) {
        return { path: [...path, i], violation: thrown(error), other: null };
      }
      this.note(place, i, codes[i] === 'ok');
    }
    return this.isChecked(path.length) ? this.check(path, codes) : null;
  }

  /** Counts the edge that was just applied, keeps its state, and returns to the parent. */
  private note({ path, parent }: Place, operation: number, accepted: boolean): void {
    const { found, words, exchange } = this;
    const { current } = this.walk;
    if (accepted || this.plan.digest) {
      current.scan();
      exchange.key(this.archive, words, current);
    }
    if (this.plan.digest) {
      this.digest.text(`${exchange.chainHash()} ${words.join()}`);
      this.digest.commit();
    }
    if (!accepted) {
      // A refused command changes no state (D-17), which checked states check.
      found.countRefused(operation);
      return;
    }
    found.countAccepted(operation);
    if (sameWords(words, this.before)) found.counts.unchanged += 1;
    else if (this.seen.add(words)) found.add(words, parent, operation);
    else this.notePair([...path, operation]);
    current.restoreScanned();
  }

  private notePair(path: number[]): void {
    const { words, pairs } = this;
    if (pairs.length >= COMPARED_PER_BATCH || ((words[0] ?? 0) & (COMPARED_EVERY - 1)) !== 0) {
      return;
    }
    const first = this.found.originOf(words);
    if (first === null) return;
    pairs.push([[...this.pathOf(first.parent), first.operation], path]);
  }

  private comparePairs(): ExhaustFailure | null {
    for (const [one, other] of this.pairs) {
      this.found.counts.compared += 1;
      const violation = this.compare(one, other);
      if (violation !== null) return { path: one, other, violation };
    }
    return null;
  }

  private isChecked(length: number): boolean {
    const { oracleDepth, samplePpm } = this.plan;
    return length < oracleDepth || ((this.before[1] ?? 0) >>> 0) % MILLION < samplePpm;
  }

  /** Checks every edge of a state; `codes` are the outcomes of the first exchange. */
  private check(path: Uint8Array, codes: readonly (string | null)[]): ExhaustFailure | null {
    const { checks, names, found } = this;
    const onTheWay = checks.moveTo(path);
    if (onTheWay !== null) {
      const { length, violation } = onTheWay;
      return { path: [...path.subarray(0, length)], violation, other: null };
    }
    const failed = (operation: number, violation: Violation): ExhaustFailure => ({
      path: [...path, operation],
      violation,
      other: null,
    });
    for (const [i, name] of names.entries()) {
      const { code, violation } = checks.enter(name);
      if (violation !== null) return failed(i, violation);
      if (code !== codes[i]) return failed(i, labelsDecide(String(codes[i]), String(code)));
      if (code !== null) found.counts.checked += 1;
      for (const state of checks.coverage()) this.reached.add(state);
      checks.leave();
      if (code === null || code === 'ok') continue;
      if (checks.refusedChanges(name)) return failed(i, refusalChanges(name, code));
      checks.leave();
    }
    for (const i of this.restoredAt(path.length)) {
      const violation = checks.enterRestored(must(names[i], 'operations have numbers'));
      checks.leave();
      if (violation !== null) return failed(i, violation);
    }
    return null;
  }

  /** Operations for a restored exchange: all near the root, then another one in each state. */
  private restoredAt(length: number): readonly number[] {
    const { names, before } = this;
    if (length < RESTORED_DEPTH) return [...names.keys()];
    return [((before[2] ?? 0) >>> 0) % names.length];
  }

  private command(i: number): Command | null {
    return OPERATIONS[must(this.names[i], 'operations have numbers')](this.exchange);
  }

  private pathOf(parent: number): Uint8Array {
    const { length, paths } = this.batch;
    return paths.subarray(parent * length, (parent + 1) * length);
  }
}

function labelsDecide(held: string, counted: string): Violation {
  return {
    invariant: 'labels',
    rule: 'R-2.10',
    says: 'sequence numbers and trade ids decide no outcome',
    detail: `${held} with constant labels, ${counted} otherwise`,
  };
}

function refusalChanges(name: string, code: string): Violation {
  return {
    invariant: 'refusalChangesState',
    rule: 'D-17',
    says: 'a refused command changes no state',
    detail: `${name}: ${code}`,
  };
}
