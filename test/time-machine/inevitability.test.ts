/** The curve of a liquidation: its forks, its kinds of futures, and what it refuses. */
import { expect, it } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { Inevitability } from '../../src/time-machine/what-if/inevitability.ts';
import { ACTS } from './acts.ts';
import { World } from './journals.ts';
import { built, found, HORIZON, isRight } from './planted.ts';

const RUN = built(must(ACTS[0], 'there are runs'));

it('keeps to its forks, is the same for a seed, and has a curve that rises', () => {
  const options = {
    subaccount: RUN.victim,
    liquidationSeq: RUN.liquidation,
    forks: 250,
    horizon: HORIZON,
  };
  const curve = new Inevitability(RUN.timeline, options).run(Infinity);
  expect(curve).toEqual(new Inevitability(RUN.timeline, options).run(Infinity));
  expect(curve.forks).toBeLessThanOrEqual(options.forks);
  expect(curve.points.at(0)).toMatchObject({ liquidated: 0 });
  expect(curve.points.at(-1)!.liquidated).toBe(curve.points.at(-1)!.futures);
  expect(structuredClone(curve)).toEqual(curve);
});

it('judges by the commands of others as they were', () => {
  expect(isRight(RUN, found(RUN, { futures: 'recorded' }))).toBe(true);
});

it('refuses what is no liquidation, and a journal with too few moves', () => {
  const { timeline, victim, liquidation } = RUN;
  const options = { subaccount: victim, liquidationSeq: liquidation - 1 };
  expect(() => new Inevitability(timeline, options)).toThrow('does not liquidate');
  const world = new World();
  const [maker, taker] = [world.user(1e6), world.user(100)];
  world.price(1000);
  world.order(maker, -1, 1000);
  world.order(taker, 1, 1000);
  const { seq } = world.price(900);
  const few = { subaccount: taker, liquidationSeq: seq };
  expect(() => new Inevitability(world.open(), few).run(1)).toThrow('has only 1 price moves');
  expect(new Inevitability(world.open(), { ...few, futures: 'recorded' }).run(99).done).toBe(true);
});
