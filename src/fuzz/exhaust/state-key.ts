/**
 * Key of a state: a 128-bit hash of all values that the state hash covers, except the
 * configuration. Same field list as snapshots, so no field can be missing. Not cryptographic; a
 * sample of equal keys is compared by SHA-256 (`compare-paths.ts`).
 */
import type { Archive } from '../../base/archive.ts';
import type { MarketSpec } from '../../engine/config.ts';
import { archiveSpec } from '../../engine/snapshot/config-archive.ts';

export const KEY_WORDS = 4;

export function sameWords(a: Int32Array, b: Int32Array): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3];
}

/** Rounds after the last value: each word reaches every lane. */
const CLOSING = 8;

export class StateKey implements Archive {
  readonly loading = false;
  private a = 0;
  private b = 0;
  private c = 0;
  private d = 0;
  private readonly big = new BigInt64Array(1);
  private readonly halves = new Int32Array(this.big.buffer);
  /** Two words per text: texts of a world are few, and long ones recur. */
  private readonly texts = new Map<string, readonly [number, number]>();

  /** Four words per spec, which is replaced and never changed; null in the key of a spec. */
  private readonly specs: WeakMap<object, Int32Array> | null;

  constructor(knowsSpecs = true) {
    this.specs = knowsSpecs ? new WeakMap() : null;
  }

  begin(): void {
    this.a = 0x6f727265;
    this.b = 0x65786861;
    this.c = 0x75737469;
    this.d = 0x76652e31;
  }

  /** Writes the four words of the key. */
  end(words: Int32Array): void {
    for (let i = 0; i < CLOSING; i += 1) this.word(0x5bd1e995 + i);
    words[0] = this.a;
    words[1] = this.b;
    words[2] = this.c;
    words[3] = this.d;
  }

  int(value: number): number {
    const low = value | 0;
    this.word(low);
    if (low !== value) {
      this.word(Math.floor(value / 0x100000000) | 0);
      this.word(0x2545f491);
    }
    return value;
  }

  /** Money and nonces have at most 64 bits. */
  bigint(value: bigint): bigint {
    this.big[0] = value;
    this.word(this.halves[0] ?? 0);
    this.word(this.halves[1] ?? 0);
    return value;
  }

  bool(value: boolean): boolean {
    this.word(value ? 1 : 0);
    return value;
  }

  text(value: string): string {
    let known = this.texts.get(value);
    if (known === undefined) {
      known = hashText(value);
      this.texts.set(value, known);
    }
    this.word(known[0]);
    this.word(known[1]);
    return value;
  }

  optionalText(value: string | null): string | null {
    this.word(value === null ? 0 : 1);
    return value === null ? null : this.text(value);
  }

  optionalInt(value: number | null): number | null {
    this.word(value === null ? 0 : 1);
    return value === null ? null : this.int(value);
  }

  section(name: string): void {
    this.word(name.length);
  }

  whole(record: object): boolean {
    if (this.specs === null) return false;
    let words = this.specs.get(record);
    if (words === undefined) {
      const fields = new StateKey(false);
      fields.begin();
      archiveSpec(fields, record as MarketSpec);
      words = new Int32Array(KEY_WORDS);
      fields.end(words);
      this.specs.set(record, words);
    }
    for (const word of words) this.word(word);
    return true;
  }

  private word(value: number): void {
    const { b } = this;
    const mixed = Math.imul(this.a ^ value, 0x9e3779b1);
    this.a = b;
    this.b = this.c;
    this.c = this.d;
    this.d = (Math.imul((mixed << 13) | (mixed >>> 19), 0x85ebca6b) + b) | 0;
  }
}

function hashText(text: string): readonly [number, number] {
  let first = text.length;
  let second = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    first = Math.imul(first ^ unit, 0x01000193) ^ (first >>> 15);
    second = Math.imul(second ^ unit, 0x5bd1e995) ^ (second >>> 13);
  }
  return [first | 0, second | 0];
}
