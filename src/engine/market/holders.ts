/** Holders of a market by side, as bitsets over subaccounts, iterated in ascending id. */
import type { SubaccountId } from '../../num/units.ts';

export class Holders {
  readonly longs = new IdSet();
  readonly shorts = new IdSet();

  /** After a position opened, closed or changed its side. */
  set(id: SubaccountId, positionLots: number): void {
    this.longs.set(id, positionLots > 0);
    this.shorts.set(id, positionLots < 0);
  }

  of(side: 1 | -1): IdSet {
    return side > 0 ? this.longs : this.shorts;
  }

  /** Current holders of both sides in ascending id. */
  *[Symbol.iterator](): Generator<SubaccountId> {
    const { longs, shorts } = this;
    for (let word = 0; word < longs.wordCount || word < shorts.wordCount; word++) {
      yield* idsOf(word, longs.word(word) | shorts.word(word));
    }
  }
}

export class IdSet {
  private words = new Uint32Array(4);

  get wordCount(): number {
    return this.words.length;
  }

  word(index: number): number {
    return this.words[index] ?? 0;
  }

  set(id: SubaccountId, has: boolean): void {
    const word = id >>> 5;
    if (word >= this.words.length) {
      if (!has) return;
      const larger = new Uint32Array(Math.max(word + 1, this.words.length * 2));
      larger.set(this.words);
      this.words = larger;
    }
    const bit = 1 << (id & 31);
    const before = this.word(word);
    this.words[word] = has ? before | bit : before & ~bit;
  }

  copy(): IdSet {
    const copy = new IdSet();
    copy.words = this.words.slice();
    return copy;
  }

  *[Symbol.iterator](): Generator<SubaccountId> {
    for (let word = 0; word < this.words.length; word++) yield* idsOf(word, this.word(word));
  }

  /** Ids that the other set lacks, in ascending order. */
  *without(other: IdSet): Generator<SubaccountId> {
    for (let word = 0; word < this.words.length; word++) {
      const bits = this.word(word) & ~other.word(word);
      if (bits !== 0) yield* idsOf(word, bits);
    }
  }
}

function* idsOf(word: number, bits: number): Generator<SubaccountId> {
  while (bits !== 0) {
    const place = 31 - Math.clz32(bits & -bits);
    yield (word * 32 + place) as SubaccountId;
    bits &= bits - 1;
  }
}
