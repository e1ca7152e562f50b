/** Places of a strategy's error in its file. */
import { expect, test } from 'vitest';
import { framesOf } from '../../src/strategy-loader/fault-place.ts';

test('frames of a file are found behind a long message, at once', () => {
  const long = 'x'.repeat(200_000);
  const stack = [
    `Error: ${long}`,
    long.replaceAll('xx', ':1'),
    '    at onBook (my.ts:12:7)',
    '    at other.ts:3:4',
    '    at my.ts:5:6',
    '    at run (node:internal/my.ts:1:2)',
  ].join('\n');
  const startedMs = performance.now();
  const frames = framesOf('my.ts', stack);
  expect(performance.now() - startedMs).toBeLessThan(1000);
  expect(frames.map(({ line, column }) => [line, column])).toEqual([
    [12, 7],
    [5, 6],
  ]);
});
