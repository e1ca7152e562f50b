/** Holders of a market as a bitset over subaccounts, iterated in ascending id. */
import type { SubaccountId } from '../../num/units.ts';

export class Holders {
  private words = new Uint32Array(4);

  set(id: SubaccountId, holds: boolean): void {
    const word = id >>> 5;
    if (word >= this.words.length) {
      if (!holds) return;
      const larger = new Uint32Array(Math.max(word + 1, this.words.length * 2));
      larger.set(this.words);
      this.words = larger;
    }
    const bit = 1 << (id & 31);
    const before = this.words[word] ?? 0;
    this.words[word] = holds ? before | bit : before & ~bit;
  }

  /** Current holders in ascending id. */
  *[Symbol.iterator](): Generator<SubaccountId> {
    for (let word = 0; word < this.words.length; word++) {
      let bits = this.words[word] ?? 0;
      while (bits !== 0) {
        const place = 31 - Math.clz32(bits & -bits);
        yield (word * 32 + place) as SubaccountId;
        bits &= bits - 1;
      }
    }
  }
}
