/**
 * Ten built runs with a known decisive command: before it the account is far from liquidation, and
 * after it the drift of the market liquidates it soon. The method must find it in nine of them, at
 * most one command off; two plausible methods that are wrong find fewer.
 */
import { expect, it } from 'vitest';
import { lots, priceTicks, quanta } from '../../src/num/units.ts';
import { Inevitability } from '../../src/time-machine/what-if/inevitability.ts';
import { World } from './journals.ts';
import {
  built,
  FAR_MS,
  found,
  HORIZON,
  INITIAL_ROOM,
  isRight,
  lastOwnCommand,
  newOrder,
  withdrawTo,
  type Built,
  type Planted,
} from './planted.ts';

const CASES: readonly Planted[] = [
  {
    name: 'a withdrawal',
    build: (drift) => {
      const victim = drift.world.user(3000);
      drift.trade(victim, 1);
      drift.move(70);
      return { victim, decisive: withdrawTo(drift, victim, INITIAL_ROOM) };
    },
  },
  {
    name: 'a larger position',
    build: (drift) => {
      const victim = drift.world.user(2000);
      drift.trade(victim, 1);
      drift.move(70);
      return { victim, decisive: drift.trade(victim, 7) };
    },
  },
  {
    name: 'a transfer to another account',
    build: (drift) => {
      const { world } = drift;
      const victim = world.user(3000);
      const friend = world.user(10);
      drift.trade(victim, 1);
      drift.move(60);
      const { accountValueQuanta, maintenanceRequirementQuanta } = world.exchange.margin(victim);
      const spare = Number(accountValueQuanta - maintenanceRequirementQuanta) / 1e6;
      const { seq } = world.apply({
        kind: 'transfer',
        timeUs: world.time,
        from: world.addressOf(victim),
        fromIndex: 0,
        to: world.addressOf(friend),
        toIndex: 0,
        amount: quanta(BigInt(Math.floor(spare - INITIAL_ROOM)) * 1_000_000n),
        market: null,
        signer: world.addressOf(victim),
        nonce: 1_000_000n,
        expiresAtMs: FAR_MS,
      });
      return { victim, decisive: seq };
    },
  },
  {
    name: 'a crash',
    build: (drift) => {
      const victim = drift.world.user(1000);
      drift.trade(victim, 1);
      drift.move(70);
      drift.ticks = 1120;
      return { victim, decisive: drift.world.price(drift.ticks).seq };
    },
  },
  {
    name: 'the cancel of a stop-loss',
    build: (drift) => {
      const { world } = drift;
      const victim = world.user(900);
      drift.move(50);
      drift.trade(victim, 4);
      world.order(drift.maker, 100, drift.ticks - 100);
      const { seq } = world.apply({
        kind: 'placeOrders',
        timeUs: world.time,
        subaccount: victim,
        delegate: null,
        orders: [
          newOrder({
            orderType: 'stopLoss',
            lots: lots(-4),
            reduceOnly: true,
            nonce: 2_000_000n,
            triggerTicks: priceTicks(drift.ticks - 50),
          }),
        ],
      });
      const id = world.exchange.lastOrderId;
      drift.move(6);
      expect(world.seq - seq).toBe(6);
      return { victim, decisive: world.cancel({ id }).seq };
    },
  },
  {
    name: 'a resting order that another account fills',
    build: (drift) => {
      const { world } = drift;
      const victim = world.user(1500);
      drift.trade(victim, 1);
      drift.move(40);
      const bid = drift.ticks - 60;
      world.order(victim, 5, bid);
      drift.move(20);
      return { victim, decisive: world.order(drift.maker, -5, bid, { ioc: true }).seq };
    },
  },
  {
    name: 'a withdrawal of a short account in a rising market',
    build: (drift) => {
      const victim = drift.world.user(3000);
      drift.trade(victim, -1);
      drift.move(70);
      return { victim, decisive: withdrawTo(drift, victim, INITIAL_ROOM + 30) };
    },
    options: { sign: 1 },
  },
  {
    name: 'a jump against a short account',
    build: (drift) => {
      const victim = drift.world.user(1500);
      drift.trade(victim, -1);
      drift.move(70);
      drift.ticks = 3290;
      return { victim, decisive: drift.world.price(drift.ticks).seq };
    },
    options: { sign: 1 },
  },
  {
    name: 'the last of three withdrawals',
    build: (drift) => {
      const { world } = drift;
      const victim = world.user(3500);
      drift.trade(victim, 1);
      drift.move(20);
      world.withdraw(victim, 200);
      drift.move(20);
      world.withdraw(victim, 200);
      drift.move(20);
      return { victim, decisive: withdrawTo(drift, victim, INITIAL_ROOM) };
    },
  },
  {
    name: 'a withdrawal, with a harmless one after it',
    build: (drift) => {
      const { world } = drift;
      const victim = world.user(3000);
      drift.trade(victim, 1);
      drift.move(60);
      const decisive = withdrawTo(drift, victim, INITIAL_ROOM + 5);
      drift.move(3);
      world.deposit(world.addressOf(victim), 1);
      return { victim, decisive };
    },
  },
];

const ALL = CASES.map(built);

it('finds the decisive command of at least nine of ten runs, at most one command off', () => {
  const wrong = ALL.map((run) => ({ run, seq: found(run) }))
    .filter(({ run, seq }) => !isRight(run, seq))
    .map(({ run, seq }) => `${run.name}: ${String(seq)}, not ${String(run.decisive)}`);
  expect(wrong.length, wrong.join('; ')).toBeLessThanOrEqual(1);
});

it.each([
  ['the last command of the account', lastOwnCommand],
  ['any future with a liquidation', (run: Built) => found(run, { threshold: 0.001, horizon: 400 })],
])('is not as good as %s: that finds fewer than nine', (_name, method) => {
  expect(ALL.filter((run) => isRight(run, method(run))).length).toBeLessThan(9);
});

it('keeps to its forks, is the same for a seed, and has a curve that rises', () => {
  const [run] = ALL;
  const options = {
    subaccount: run!.victim,
    liquidationSeq: run!.liquidation,
    forks: 250,
    horizon: HORIZON,
  };
  const curve = new Inevitability(run!.timeline, options).run(Infinity);
  expect(curve).toEqual(new Inevitability(run!.timeline, options).run(Infinity));
  expect(curve.forks).toBeLessThanOrEqual(options.forks);
  expect(curve.points.at(0)).toMatchObject({ liquidated: 0 });
  expect(curve.points.at(-1)!.liquidated).toBe(curve.points.at(-1)!.futures);
  expect(structuredClone(curve)).toEqual(curve);
});

it('judges by the commands of others as they were', () => {
  const [run] = ALL;
  expect(isRight(run!, found(run!, { futures: 'recorded' }))).toBe(true);
});

it('refuses what is no liquidation, and a journal with too few moves', () => {
  const [{ timeline, victim, liquidation }] = ALL as [Built];
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
