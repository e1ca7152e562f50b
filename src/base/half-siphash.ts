/**
 * HalfSipHash-2-4 (Aumasson, Bernstein): a keyed pseudorandom function from a list of 32-bit words
 * to 32 bits. The message is the words in little-endian order, so its length is 4 · n bytes and the
 * padding holds only the length.
 */

/** A key of 64 bits as two words. */
export interface HalfSipKey {
  readonly k0: number;
  readonly k1: number;
}

/** The key of 16 hex digits: 8 bytes, each word little-endian. */
export function halfSipKey(hex: string): HalfSipKey {
  return { k0: wordOf(hex, 0), k1: wordOf(hex, 8) };
}

function wordOf(hex: string, from: number): number {
  let word = 0;
  for (let byte = 3; byte >= 0; byte--) {
    const at = from + 2 * byte;
    word = (word << 8) | Number.parseInt(hex.slice(at, at + 2), 16);
  }
  return word | 0;
}

/** A value from 0 to 2^32 − 1. Input words are taken modulo 2^32. */
export function halfSipHash({ k0, k1 }: HalfSipKey, words: readonly number[]): number {
  let v0 = k0;
  let v1 = k1;
  let v2 = 0x6c796765 ^ k0;
  let v3 = 0x74656462 ^ k1;
  // The length block follows the words, then four finalisation rounds.
  const blocks = words.length + 1;
  for (let i = 0; i <= blocks; i++) {
    const closing = i === blocks;
    const word = closing ? 0 : i === words.length ? words.length << 26 : (words[i] ?? 0);
    if (closing) v2 ^= 0xff;
    else v3 ^= word;
    for (let round = closing ? 4 : 2; round > 0; round--) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    if (!closing) v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}
