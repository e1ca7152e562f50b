/**
 * The breadth-first search: levels of states, expanded in batches. Results of batches are added in
 * the order of the batches, so the table does not depend on the number of workers.
 */
import { must } from '../../base/assert.ts';
import { RollingHash } from '../../base/rolling-hash.ts';
import type { Batch, ExhaustFailure, ExhaustPlan, Expansion } from './expand.ts';
import { noEdges, type EdgeCounts } from './found.ts';
import { KeySet } from './key-set.ts';
import { KEY_WORDS } from './state-key.ts';
import { operationsOf } from './worlds.ts';

/** A level: all edges to paths of this many operations, and the new states. */
export interface LevelRow extends Readonly<EdgeCounts> {
  readonly depth: number;
  readonly states: number;
}

/** States of one batch. */
const BATCH = 64;

/** A growing list of paths of equal length. */
export class PathList {
  readonly length: number;
  count = 0;
  private bytes: Uint8Array;

  constructor(length: number, bytes: Uint8Array = new Uint8Array(), count = 0) {
    this.length = length;
    this.bytes = bytes;
    this.count = count;
  }

  push(parent: Uint8Array, operation: number): void {
    const at = this.count * this.length;
    if (at + this.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(1024, this.bytes.length * 2));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes.set(parent, at);
    this.bytes[at + this.length - 1] = operation;
    this.count += 1;
  }

  slice(from: number, to: number): Uint8Array {
    return this.bytes.slice(from * this.length, to * this.length);
  }
}

/** The part of a search that a checkpoint file keeps. */
export interface SavedSearch {
  readonly rows: readonly LevelRow[];
  readonly current: LevelRow;
  /** States of the level that are expanded. */
  readonly expanded: number;
  readonly accepted: readonly number[];
  readonly refused: readonly number[];
  readonly reached: readonly string[];
}

export class Search {
  readonly plan: ExhaustPlan;
  /** Levels that are complete. */
  readonly rows: LevelRow[] = [];
  readonly accepted: number[];
  readonly refused: number[];
  readonly reached = new Set<string>();
  failure: ExhaustFailure | null = null;
  /** Of the level that is being explored: numbers, and new states so far. */
  private counts = noEdges();
  private newStates = 0;
  private expanded = 0;
  private taken = 0;
  private level: PathList;
  private next: PathList;
  private readonly known = new KeySet();
  /** Results whose predecessors are missing, by their first state. */
  private readonly early = new Map<number, Expansion>();
  private readonly hash = new RollingHash();

  constructor(plan: ExhaustPlan, rootKey: Int32Array) {
    this.plan = plan;
    this.known.add(rootKey);
    const { length } = operationsOf(plan.world);
    this.accepted = new Array<number>(length).fill(0);
    this.refused = new Array<number>(length).fill(0);
    // The one path of no operations.
    this.level = new PathList(0, new Uint8Array(), 1);
    this.next = new PathList(1);
  }

  /** Depth of the edges that are being explored; above the plan's depth at the end. */
  get depth(): number {
    return this.level.length + 1;
  }

  get isComplete(): boolean {
    return this.depth > this.plan.depth || this.level.count === 0;
  }

  /** All states found, the opening's included. */
  get states(): number {
    return this.known.size;
  }

  get edges(): number {
    return this.rows.reduce((sum, row) => sum + row.edges, this.counts.edges);
  }

  /** Part of the current level that is expanded. */
  get fraction(): number {
    return this.expanded / Math.max(1, this.level.count);
  }

  /** Hash of all edges in order; only if the plan asks for it. */
  get digest(): string {
    return this.hash.hex();
  }

  /** The next states to expand; null when the others of the level must be added first. */
  take(): (Batch & { readonly from: number }) | null {
    if (this.isComplete || this.taken >= this.level.count) return null;
    const from = this.taken;
    const to = Math.min(from + BATCH, this.level.count);
    this.taken = to;
    return { from, length: this.level.length, count: to - from, paths: this.level.slice(from, to) };
  }

  /** Adds the result of the batch that begins at state `from`. */
  add(from: number, expansion: Expansion): void {
    this.early.set(from, expansion);
    for (;;) {
      const ready = this.early.get(this.expanded);
      if (ready === undefined || this.failure !== null) return;
      this.early.delete(this.expanded);
      this.merge(this.expanded, ready);
      if (this.expanded === this.level.count) this.endLevel();
    }
  }

  private merge(from: number, { counts, states, ...rest }: Expansion): void {
    for (const name of Object.keys(counts) as (keyof EdgeCounts)[]) {
      this.counts[name] += counts[name];
    }
    for (const [i, count] of rest.accepted.entries()) add(this.accepted, i, count);
    for (const [i, count] of rest.refused.entries()) add(this.refused, i, count);
    for (const name of rest.reached) this.reached.add(name);
    this.hash.text(rest.digest);
    this.hash.commit();
    this.failure = rest.failure;
    const isLast = this.depth >= this.plan.depth;
    const to = Math.min(from + BATCH, this.level.count);
    const paths = this.level.slice(from, to);
    const { length } = this.level;
    for (const [i, operation] of states.operations.entries()) {
      if (!this.known.add(states.keys, i * KEY_WORDS)) continue;
      this.newStates += 1;
      // States of the last level are counted and not expanded.
      if (isLast) continue;
      const parent = must(states.parents[i], 'every state has a parent');
      this.next.push(paths.subarray(parent * length, (parent + 1) * length), operation);
    }
    this.expanded = to;
  }

  private endLevel(): void {
    this.rows.push(this.currentRow());
    this.level = this.next;
    this.next = new PathList(this.level.length + 1);
    this.counts = noEdges();
    this.newStates = 0;
    this.expanded = 0;
    this.taken = 0;
  }

  private currentRow(): LevelRow {
    return { depth: this.depth, states: this.newStates, ...this.counts };
  }

  /** State of the search without results that wait for others: those batches are repeated. */
  save(): { readonly head: SavedSearch; readonly parts: readonly Uint8Array[] } {
    const { rows, accepted, refused, reached, expanded, level, next, known } = this;
    return {
      head: {
        rows,
        current: this.currentRow(),
        expanded,
        accepted,
        refused,
        reached: [...reached].sort(),
      },
      parts: [
        new Uint8Array(known.words().buffer),
        level.slice(0, level.count),
        next.slice(0, next.count),
      ],
    };
  }

  /** Continues a saved search. */
  load(head: SavedSearch, [keys, level, next]: readonly Uint8Array[]): void {
    const { depth, states, ...counts } = head.current;
    this.rows.push(...head.rows);
    this.counts = { ...counts };
    this.newStates = states;
    for (const [i, count] of head.accepted.entries()) add(this.accepted, i, count);
    for (const [i, count] of head.refused.entries()) add(this.refused, i, count);
    for (const name of head.reached) this.reached.add(name);
    const words = new Int32Array((keys ?? new Uint8Array()).slice().buffer);
    for (let at = 0; at < words.length; at += KEY_WORDS) this.known.add(words, at);
    this.level = listOf(depth - 1, level);
    this.next = listOf(depth, next);
    this.expanded = head.expanded;
    this.taken = head.expanded;
  }
}

function listOf(length: number, bytes: Uint8Array = new Uint8Array()): PathList {
  return new PathList(length, bytes, length === 0 ? 1 : bytes.length / length);
}

function add(to: number[], i: number, count: number): void {
  to[i] = (to[i] ?? 0) + count;
}
