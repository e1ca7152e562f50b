/** Hex digits as bytes, with `Buffer` as the oracle. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hexByte, setHex } from '../../src/base/hex.ts';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });

test('digits in either case are the bytes of a Buffer', () => {
  fc.assert(
    fc.property(bytes, fc.boolean(), fc.nat(5), (wanted, isUpper, at) => {
      const digits = Buffer.from(wanted).toString('hex');
      const text = `0x${isUpper ? digits.toUpperCase() : digits}`;
      const found = new Uint8Array(at + wanted.length + 1);
      setHex(found, at, text, 2, wanted.length);
      expect([...found]).toEqual([...new Uint8Array(at), ...wanted, 0]);
      expect(hexByte(text, 2)).toBe(wanted[0]);
    }),
    { seed: 41, numRuns: 200 },
  );
});
