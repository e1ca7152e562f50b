/** Marks of an account's fills: each belongs to its market, and all are counted. */
import { expect, it } from 'vitest';
import { scanAccount } from '../../src/web/time-machine/account-scan.ts';
import { World } from './journals.ts';

it('counts the fills of each market, however many there are between two samples', async () => {
  const world = new World();
  world.list('ETH');
  const [maker, taker] = [world.user(1e6), world.user(1e6)];
  world.price(1000);
  world.price(50, 1);
  for (let i = 0; i < 3; i++) world.order(maker, -1, 1000);
  world.order(maker, 2, 50, { market: 1 });
  world.order(taker, 3, 1000);
  world.order(taker, -2, 50, { market: 1 });
  const timeline = world.open();
  timeline.index();
  const scan = await scanAccount(timeline, taker, [0, world.seq], 2, () => false);
  const marks = scan?.marks.map(({ kind, market, count }) => [kind, market, count]);
  expect(marks).toEqual([
    ['buy', 0, 3],
    ['sell', 1, 1],
  ]);
});
