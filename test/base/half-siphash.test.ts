/**
 * HalfSipHash-2-4 with 32 bits of output, against the vectors of its reference implementation
 * (veorq/SipHash, vectors_hsip32).
 */
import { expect, test } from 'vitest';
import { halfSipHash, halfSipKey } from '../../src/base/half-siphash.ts';

/** Key 00 01 … 07, message 00 01 … of 0, 4, 8 … 60 bytes; outputs as bytes in hex. */
const VECTORS = [
  'a9359f5b',
  '2a6e4689',
  'd0b8848f',
  '57f0872f',
  'd9b5ac84',
  'e34d1045',
  '27400c63',
  'b0644000',
  'fee72112',
  'e75cc6ec',
  'b6bc1840',
  '7705d548',
  '69e12ce3',
  '3b85f3d4',
  'a5c5b940',
  'd4e76c73',
];

/** The bytes of a word in little-endian order. */
function bytesOf(word: number): string {
  return [0, 8, 16, 24]
    .map((shift) => ((word >>> shift) & 0xff).toString(16).padStart(2, '0'))
    .join('');
}

/** The word of the message 00 01 02 … that begins at this byte. */
const countingWord = (at: number): number =>
  at | ((at + 1) << 8) | ((at + 2) << 16) | ((at + 3) << 24);

test.each(VECTORS.map((bytes, n) => [n, bytes] as const))(
  'the hash of a message of %i words equals the reference',
  (n, bytes) => {
    const words = Array.from({ length: n }, (_, i) => countingWord(4 * i));
    expect(bytesOf(halfSipHash(halfSipKey('0001020304050607'), words))).toBe(bytes);
  },
);

test('another key, and words above 2^31', () => {
  const words = [1, 7, 0xf5e10100, 5];
  expect(bytesOf(halfSipHash(halfSipKey('efcdab8967452301'), words))).toBe('c7f67be2');
});
