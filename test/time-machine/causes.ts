/**
 * Runs in which the cause of a liquidation is not an obvious act of the account: another's sale, a
 * closed hedge, a change of margin, funding, an order that waits.
 */
import { ppb, ppm, marketId, priceTicks } from '../../src/num/units.ts';
import {
  cancelProtection,
  FAR_MS,
  longAccount,
  newOrder,
  placeOrders,
  spareOf,
  withdrawTo,
  type Drift,
  type Planted,
} from './planted.ts';

/** Tiers of the market with another maintenance margin. */
const HIGHER = { initialMargin: '0.3', maintenanceMargin: '0.15' };

/** The operator raises the maintenance margin to 15 %. */
function raiseMaintenance({ world }: Drift): number {
  const spec = world.spec('BTC', HIGHER);
  return world.apply({ kind: 'setMarketTerms', timeUs: world.time, market: marketId(0), spec }).seq;
}

export const CAUSES: readonly Planted[] = [
  {
    name: "another's sale that moves the mark",
    options: {
      config: { indexStaleUs: 1e9 as never },
      terms: {
        markSource: 'median',
        initialMargin: '0.2',
        maintenanceMargin: '0.1',
        maxMarkDeviation: '0.05',
        funding: { impactNotional: '1000' },
      },
    },
    build: (drift) => {
      const { world, maker } = drift;
      const victim = world.user(3000);
      const seller = world.user(10_000_000);
      drift.trade(victim, 1);
      // The book is far above the index, and so is the mark.
      world.order(maker, 100, 2400);
      world.order(maker, 1000, 1200);
      world.order(maker, -1000, 2700);
      world.wait(300);
      drift.move(60);
      withdrawTo(drift, victim, 205);
      drift.move(5);
      return { victim, decisive: world.order(seller, -110, 1200, { ioc: true }).seq };
    },
  },
  {
    name: 'the end of a hedge in another market',
    options: { markets: 2, terms: { initialMargin: '0.05', maintenanceMargin: '0.045' } },
    build: (drift) => {
      const victim = drift.world.user(820);
      drift.trade(victim, 4);
      drift.trade(victim, -4, 1);
      drift.move(60);
      return { victim, decisive: drift.trade(victim, 4, 1) };
    },
  },
  {
    name: 'a jump of the other market',
    options: { markets: 2 },
    build: (drift) => {
      const { world } = drift;
      const victim = world.user(1500);
      drift.trade(victim, 1);
      drift.trade(victim, 1, 1);
      drift.move(60);
      drift.offset = 90 - spareOf(drift, victim);
      return { victim, decisive: world.price(drift.ticks + drift.offset, 1).seq };
    },
  },
  {
    name: 'a higher maintenance margin',
    options: { config: { termsNoticeUs: 0 as never } },
    build: (drift) => {
      const victim = longAccount(drift, 500, 60);
      return { victim, decisive: raiseMaintenance(drift) };
    },
  },
  {
    name: 'the notice of a higher maintenance margin',
    options: { config: { termsNoticeUs: 20_000_000 as never } },
    build: (drift) => {
      const victim = longAccount(drift, 500, 60);
      return { victim, decisive: raiseMaintenance(drift) };
    },
  },
  {
    name: 'a lower margin of an isolated position',
    build: (drift) => {
      const { world } = drift;
      const victim = world.user(5000);
      const set = (margin: number, nonce: bigint) =>
        world.apply({
          kind: 'updateMargin',
          timeUs: world.time,
          subaccount: victim,
          market: marketId(0),
          isolated: true,
          marginPpm: ppm(margin),
          nonce,
          expiresAtMs: FAR_MS,
          delegate: null,
        }).seq;
      set(500_000, 1_000_001n);
      drift.trade(victim, 1);
      drift.move(60);
      return { victim, decisive: set(100_000, 1_000_002n) };
    },
  },
  {
    name: 'a settlement of funding',
    options: { terms: { funding: { source: 'external' } } },
    build: (drift) => {
      const { world } = drift;
      const victim = longAccount(drift, 600, 60);
      const { seq } = world.apply({
        kind: 'settleFunding',
        timeUs: world.time,
        market: marketId(0),
        ratePpb: ppb(150_000_000),
      });
      return { victim, decisive: seq };
    },
  },
  {
    name: 'a purchase in slices',
    build: (drift) => {
      const { world } = drift;
      const victim = longAccount(drift, 1600, 60);
      world.order(drift.maker, -100, drift.ticks);
      const slices = Array.from({ length: 6 }, (_, i) =>
        newOrder({
          orderType: 'twap',
          priceTicks: priceTicks(drift.ticks + 10),
          nonce: 2_000_000n + BigInt(i),
          periodMs: 1000n,
        }),
      );
      return { victim, decisive: placeOrders(drift, victim, slices) };
    },
  },
  {
    name: 'the cancel of a trailing stop',
    build: (drift) =>
      cancelProtection(drift, () => ({ orderType: 'trailingStop', trailingPpm: 30_000 })),
  },
  {
    name: 'a purchase in a second market',
    options: { markets: 2 },
    build: (drift) => {
      const victim = longAccount(drift, 1500, 60);
      return { victim, decisive: drift.trade(victim, 6, 1) };
    },
  },
];
