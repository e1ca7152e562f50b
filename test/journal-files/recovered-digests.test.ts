/** Digests of a recovery: those of retained orders, as in a plain list filtered at the end. */
import { expect, test } from 'vitest';
import { OrderIdsFrame } from '../../src/journal/format/frame.ts';
import { RecoveredDigests } from '../../src/journal-files/recovered-digests.ts';
import { seq, timeUs } from '../../src/num/units.ts';

/** An exchange that forgets all orders but the newest ones and every seventh. */
function forgetful(kept: number): { newest: number; hasOrder: (id: number) => boolean } {
  const engine = {
    newest: 0,
    hasOrder: (id: number) => id > engine.newest - kept || id % 7 === 0,
  };
  return engine;
}

const digest = (id: number): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => (id * 31 + i * 7) & 0xff);
const text = (id: number): string => Buffer.from(digest(id)).toString('hex');

test.each([0, 10, 1000, 1e9])('with %i retained orders beside every seventh', (kept) => {
  const engine = forgetful(kept);
  const before = [1, 2, 7].map((id) => [id, text(id)] as const);
  const digests = new RecoveredDigests(before);
  const naive: [number, string][] = before.map(([id, digestText]) => [id, digestText]);
  let id = 10;
  for (let frame = 0; frame < 4000; frame++) {
    const count = 1 + (frame % 5);
    const bytes = Buffer.concat(Array.from({ length: count }, (_, i) => digest(id + i)));
    engine.newest = id + count - 1;
    for (let i = 0; i < count; i++) naive.push([id + i, text(id + i)]);
    digests.add(new OrderIdsFrame(seq(frame), timeUs(frame), id, bytes), engine as never);
    id += count + (frame % 3);
  }
  expect(digests.retained(engine as never)).toEqual(naive.filter(([one]) => engine.hasOrder(one)));
});

test('a frame larger than the room', () => {
  const engine = forgetful(1e9);
  const digests = new RecoveredDigests([]);
  const bytes = Buffer.concat(Array.from({ length: 10_000 }, (_, i) => digest(i + 1)));
  const frame = new OrderIdsFrame(seq(1), timeUs(1), 1, bytes);
  digests.add(frame, engine as never);
  expect(frame.digests).toHaveLength(10_000);
  expect(digests.retained(engine as never).map(([, one]) => one)).toEqual(frame.digests);
  expect(frame.digests[9999]).toBe(text(10_000));
});
