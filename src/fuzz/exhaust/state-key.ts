/**
 * Key of a state: a 128-bit hash of all values that the state hash covers, except the
 * configuration. Same field list as snapshots, so no field can be missing. Not cryptographic; a
 * sample of equal keys is compared by SHA-256 (`compare-paths.ts`).
 *
 * The key is the hash of the keys of the state's parts: accounts, subaccounts, markets, orders,
 * queues and triggers. An operation changes few of them, and the others keep the keys that they had
 * in the state before.
 */
import type { Archive, ArchivePart } from '../../base/archive.ts';
import { InvariantError } from '../../base/assert.ts';
import type { MarketSpec } from '../../engine/config.ts';
import type { ExchangeState } from '../../engine/exchange-state.ts';
import { archiveSpec } from '../../engine/snapshot/config-archive.ts';
import { archivePart } from '../../engine/snapshot/snapshot.ts';

export const KEY_WORDS = 4;

export function sameWords(a: Int32Array, b: Int32Array): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3];
}

/** Rounds after the last value: each word reaches every lane. */
const CLOSING = 8;

/** Differences from the state whose keys of parts are known. */
export interface Changes {
  isChanged(part: object): boolean;
}

/** A part with its key in the state of the last full key. */
interface KnownPart {
  readonly kind: ArchivePart;
  readonly of: object;
  readonly words: Int32Array;
}

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
  /** Hashes parts; null in a key of a part. */
  private readonly inner: StateKey | null;
  /** Parts of the last full key, in the order of the archive. */
  private readonly known: KnownPart[] = [];
  private readonly words = new Int32Array(KEY_WORDS);
  private knownUs = 0;
  private state: ExchangeState | null = null;
  private changes: Changes | null = null;
  private nextPart = 0;

  constructor(specs: WeakMap<object, Int32Array> | null = new WeakMap(), hasParts = true) {
    this.specs = specs;
    this.inner = hasParts ? new StateKey(specs, false) : null;
  }

  /** A full key, which the keys with changes refer to; or one of a state with these changes. */
  begin(state: ExchangeState, changes: Changes | null): void {
    this.state = state;
    this.changes = changes;
    this.nextPart = 0;
    if (changes === null) {
      this.known.length = 0;
      this.knownUs = state.nowUs;
    }
    this.reset();
  }

  part(kind: ArchivePart, of: object): boolean {
    const { inner, known, state } = this;
    if (inner === null) return false;
    const i = this.nextPart;
    this.nextPart += 1;
    const last = this.changes === null ? undefined : known[i];
    if (last?.of === of && last.kind === kind && this.isUnchanged(kind, of)) {
      this.key(last.words);
      return true;
    }
    const words = this.changes === null ? new Int32Array(KEY_WORDS) : this.words;
    inner.reset();
    archivePart(inner, mustState(state), kind, of);
    inner.end(words);
    if (this.changes === null) known.push({ kind, of, words });
    this.key(words);
    return true;
  }

  /** Whether the part's bytes are those of the last full key. */
  private isUnchanged(kind: ArchivePart, of: object): boolean {
    const { changes, state } = this;
    if (changes === null || state === null || changes.isChanged(of)) return false;
    // A change of a queue or of a waiting order changes a counter of its market.
    return kind !== 'market' || state.nowUs === this.knownUs;
  }

  private key(words: Int32Array): void {
    for (let i = 0; i < KEY_WORDS; i += 1) this.word(words[i] ?? 0);
  }

  private reset(): void {
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
      const fields = new StateKey(null, false);
      fields.reset();
      archiveSpec(fields, record as MarketSpec);
      words = new Int32Array(KEY_WORDS);
      fields.end(words);
      this.specs.set(record, words);
    }
    this.key(words);
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

function mustState(state: ExchangeState | null): ExchangeState {
  if (state === null) throw new InvariantError('a key has begun before its parts');
  return state;
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
