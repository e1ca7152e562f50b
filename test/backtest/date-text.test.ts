/** Dates without the platform's clock equal the platform's. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dateText } from '../../src/base/date-text.ts';

test('times up to the year 2255 are formatted as by the platform', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (us) => {
      const platform = new Date(Math.floor(us / 1000)).toISOString();
      const fine = String(us % 1000).padStart(3, '0');
      expect(dateText(us)).toBe(`${platform.slice(0, 10)} ${platform.slice(11, 23)}${fine}`);
    }),
    { seed: 7, numRuns: 2000 },
  );
});
