/** The edges of one batch: their numbers, and the distinct states that they lead to. */
import { KEY_WORDS } from './state-key.ts';

/** Numbers of edges. */
export interface EdgeCounts {
  /** Operations that apply to their state. */
  edges: number;
  /** Refused: without effect. */
  refused: number;
  /** Accepted, without effect on the state. */
  unchanged: number;
  /** Checked by the oracle and all invariants. */
  checked: number;
  /** Pairs of paths to one state whose continuations were compared. */
  compared: number;
}

export const noEdges = (): EdgeCounts => ({
  edges: 0,
  refused: 0,
  unchanged: 0,
  checked: 0,
  compared: 0,
});

/** Distinct changed states in order of discovery: key, index of the parent, and operation. */
export interface FoundStates {
  readonly keys: Int32Array;
  readonly parents: Uint32Array;
  readonly operations: Uint8Array;
}

export class Found {
  readonly counts = noEdges();
  /** Accepted and refused edges by operation. */
  readonly accepted: Uint32Array;
  readonly refused: Uint32Array;
  private readonly keys: Int32Array;
  private readonly parents: Uint32Array;
  private readonly operations: Uint8Array;
  private length = 0;

  constructor(states: number, operations: number) {
    this.accepted = new Uint32Array(operations);
    this.refused = new Uint32Array(operations);
    const most = states * operations;
    this.keys = new Int32Array(most * KEY_WORDS);
    this.parents = new Uint32Array(most);
    this.operations = new Uint8Array(most);
  }

  countRefused(operation: number): void {
    this.counts.edges += 1;
    this.counts.refused += 1;
    this.refused[operation] = (this.refused[operation] ?? 0) + 1;
  }

  countAccepted(operation: number): void {
    this.counts.edges += 1;
    this.accepted[operation] = (this.accepted[operation] ?? 0) + 1;
  }

  add(words: Int32Array, parent: number, operation: number): void {
    this.keys.set(words, this.length * KEY_WORDS);
    this.parents[this.length] = parent;
    this.operations[this.length] = operation;
    this.length += 1;
  }

  /** Parent and operation that first led to this state; null if it is not one of the batch. */
  originOf(words: Int32Array): { readonly parent: number; readonly operation: number } | null {
    for (let i = 0; i < this.length; i += 1) {
      const at = i * KEY_WORDS;
      let word = 0;
      while (word < KEY_WORDS && this.keys[at + word] === words[word]) word += 1;
      if (word === KEY_WORDS) {
        return { parent: this.parents[i] ?? 0, operation: this.operations[i] ?? 0 };
      }
    }
    return null;
  }

  states(): FoundStates {
    const { length } = this;
    return {
      keys: this.keys.slice(0, length * KEY_WORDS),
      parents: this.parents.slice(0, length),
      operations: this.operations.slice(0, length),
    };
  }
}
