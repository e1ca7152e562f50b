/** Bytes of integers: the fast paths write and read what plain bigint arithmetic does. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../src/base/archive.ts';

/** Zigzag varint of any size. */
function varint(value: bigint): number[] {
  let rest = value < 0n ? -2n * value - 1n : 2n * value;
  const bytes: number[] = [];
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}

/** Signed number of bytes, then the absolute value, low byte first. */
function wide(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 8n) {
    bytes.push(Number(rest & 0xffn));
  }
  return [...varint(BigInt(value < 0n ? -bytes.length : bytes.length)), ...bytes];
}

const EDGES = [1, 7, 8, 27, 28, 29, 48, 49, 51, 52, 53].flatMap((bits) =>
  [2 ** bits - 1, 2 ** bits, 2 ** bits + 1].flatMap((size) => [size, -size]),
);
const integers = fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.constantFrom(...EDGES));

test('integers are zigzag varints', () => {
  fc.assert(
    fc.property(integers.filter(Number.isSafeInteger), (value) => {
      const io = new ArchiveWriter();
      io.int(value);
      expect([...io.bytes()]).toEqual(varint(BigInt(value)));
      expect(new ArchiveReader(io.bytes()).int()).toBe(value);
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test('bigints are their size and their bytes', () => {
  const edges = EDGES.map((edge) => BigInt(edge));
  const values = fc.oneof(fc.bigInt(-(2n ** 128n), 2n ** 128n), fc.constantFrom(...edges));
  fc.assert(
    fc.property(values, (value) => {
      const io = new ArchiveWriter();
      io.bigint(value);
      expect([...io.bytes()]).toEqual(wide(value));
      expect(new ArchiveReader(io.bytes()).bigint()).toBe(value);
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test.each([
  [[0x80, 0x80, 0x80], 'ends early'],
  [varint(2n ** 53n), 'beyond 2^53'],
  [varint(-(2n ** 53n)), 'beyond 2^53'],
  [new Array<number>(11).fill(0x80), 'integer too long'],
])('bytes %j are refused: %s', (bytes, message) => {
  expect(() => new ArchiveReader(Uint8Array.from(bytes)).int()).toThrow(message);
});

test('pairs of words are as many bigints', () => {
  const edges = [0n, 1n, 255n, 256n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n];
  const nonces = fc.oneof(fc.bigInt(0n, 2n ** 63n - 1n), fc.constantFrom(...edges));
  fc.assert(
    fc.property(fc.array(nonces), fc.nat(3), (values, skipped) => {
      const words = new Uint32Array(BigInt64Array.from([...edges, ...values]).buffer);
      const io = new ArchiveWriter();
      io.pairs(words, edges.length - skipped, values.length + skipped);
      const written = [...edges.slice(edges.length - skipped), ...values];
      expect([...io.bytes()]).toEqual(written.flatMap(wide));
      const read = new BigInt64Array(written.length + 1);
      new ArchiveReader(io.bytes()).pairs(new Uint32Array(read.buffer), 1, written.length);
      expect([...read]).toEqual([0n, ...written]);
      const copy = new ArchiveWriter();
      const reader = new ArchiveReader(io.bytes());
      copy.pairBytes(reader.pairBytes(new Uint8Array(), written.length), written.length);
      expect(copy.bytes()).toEqual(io.bytes());
      reader.end();
    }),
    { seed: 1, numRuns: 300 },
  );
});

test.each([
  ['negative', wide(-1n), 'expected a bigint'],
  ['of nine bytes', wide(2n ** 64n), 'expected a bigint'],
  ['of 2^63', wide(2n ** 63n), '2^63 or more'],
  ['cut', wide(2n ** 40n).slice(0, -1), 'expected a bigint'],
  ['missing', [], 'expected a bigint'],
])('a pair that is %s is refused', (_, bytes, message) => {
  expect(() => {
    new ArchiveReader(Uint8Array.from(bytes)).pairs(new Uint32Array(2), 0, 1);
  }).toThrow(message);
  expect(() => {
    new ArchiveReader(Uint8Array.from(bytes)).pairBytes(new Uint8Array(), 1);
  }).toThrow(message);
});
