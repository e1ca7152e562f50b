/** Runs in which an obvious act, or a jump of the price, is the cause of a liquidation. */
import { priceTicks, quanta } from '../../src/num/units.ts';
import {
  cancelProtection,
  FAR_MS,
  INITIAL_ROOM,
  longAccount,
  spareOf,
  withdrawTo,
  type Planted,
} from './planted.ts';

export const ACTS: readonly Planted[] = [
  {
    name: 'a withdrawal',
    build: (drift) => {
      const victim = longAccount(drift, 3000, 70);
      return { victim, decisive: withdrawTo(drift, victim, INITIAL_ROOM) };
    },
  },
  {
    name: 'a larger position',
    build: (drift) => {
      const victim = longAccount(drift, 2000, 70);
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
      const { seq } = world.apply({
        kind: 'transfer',
        timeUs: world.time,
        from: world.addressOf(victim),
        fromIndex: 0,
        to: world.addressOf(friend),
        toIndex: 0,
        amount: quanta(BigInt(spareOf(drift, victim) - INITIAL_ROOM) * 1_000_000n),
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
      const victim = longAccount(drift, 1000, 70);
      drift.ticks = 1120;
      return { victim, decisive: drift.world.price(drift.ticks).seq };
    },
  },
  {
    name: 'the cancel of a stop-loss',
    build: (drift) =>
      cancelProtection(drift, ({ ticks }) => ({
        orderType: 'stopLoss',
        triggerTicks: priceTicks(ticks - 50),
      })),
  },
  {
    name: 'a resting order that another account fills',
    build: (drift) => {
      const { world } = drift;
      const victim = longAccount(drift, 1500, 40);
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
      const victim = longAccount(drift, 3500, 20);
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
      const victim = longAccount(drift, 3000, 60);
      const decisive = withdrawTo(drift, victim, INITIAL_ROOM + 5);
      drift.move(3);
      world.deposit(world.addressOf(victim), 1);
      return { victim, decisive };
    },
  },
];
