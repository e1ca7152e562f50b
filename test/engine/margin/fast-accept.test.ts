/**
 * The fast accept path of the margin check never accepts an order that the exact rule refuses
 * random accounts with positions, orders, frozen markets, risen rates and announced terms,
 * checked both ways.
 */
import { expect, test } from 'vitest';
import seedrandom from 'seedrandom';
import type { Exposure, Subaccount } from '../../../src/engine/accounts/subaccount.ts';
import { NONE } from '../../../src/engine/book/order-table.ts';
import { feeOfFill } from '../../../src/engine/accounts/fees.ts';
import { NO_FEES } from '../../../src/engine/accounts/order-fees.ts';
import { affordsFill, affordsOrder } from '../../../src/engine/margin/margin.ts';
import type { State } from '../../../src/engine/state.ts';
import { moneyOf } from '../../../src/num/money.ts';
import { lots, ppm, priceTicks, quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

const SYMBOLS = ['A', 'B', 'C'];

/** The result of the exact rule: without a bound of the cash, the fast path never accepts. */
function exactly(subaccount: Subaccount, ask: () => boolean): boolean {
  Object.defineProperty(subaccount, 'cashAbout', { configurable: true, get: () => NaN });
  try {
    return ask();
  } finally {
    Reflect.deleteProperty(subaccount, 'cashAbout');
    // With sums of orders, the fast path would be left out.
    subaccount.sumsOrders = false;
    subaccount.margin = null;
    for (const exposure of subaccount.opened) {
      exposure.resting = null;
      exposure.part = null;
    }
  }
}

interface Drawn {
  readonly state: State;
  readonly ann: Subaccount;
  readonly pick: (min: number, max: number) => number;
}

function draw(seed: string): Drawn {
  const random = seedrandom(seed);
  const pick = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  const world = new RiskWorld(
    SYMBOLS.map((symbol, i) => ({
      symbol,
      takerFee: '0.001',
      ...(i === 1
        ? {
            marginTiers: [
              { notionalFloor: '0', initialMargin: '0.05', maintenanceMargin: '0.02' },
              { notionalFloor: '500', initialMargin: '0.2', maintenanceMargin: '0.1' },
            ],
          }
        : {}),
      ...(pick(0, 1) === 0
        ? { openNotionalLower: String(pick(0, 500)), openNotionalUpper: String(pick(600, 4000)) }
        : {}),
    })),
    { frozenHaircut: `0.${String(pick(1, 9))}` },
  );
  world.fund({ ann: String(pick(100, 400)), bob: '10000000' });
  for (const symbol of SYMBOLS) {
    world.price('100', symbol);
    if (pick(0, 3) === 0)
      world.setMargin('ann', pick(0, 1) === 0, `0.${String(pick(2, 9))}`, symbol);
    const size = (pick(-12, 12) / 10).toFixed(1);
    if (Number(size) !== 0) {
      world.order('bob', String(-Number(size)), '100', { symbol });
      const flags = { ioc: true, postOnly: false, reduceOnly: false };
      world.order('ann', size, '100', { symbol, flags });
      world.call('cancelAllOrders', { account: world.addressOf('bob'), subaccountIndex: 0 }, 'bob');
    }
    if (pick(0, 1) === 0) world.order('ann', String(pick(-9, -1) / 10), '105', { symbol });
    if (pick(0, 1) === 0) world.order('ann', String(pick(1, 9) / 10), '95', { symbol });
  }
  world.checks = false;
  const state = stateOf(world.engine);
  for (const market of state.markets) {
    market.markTicks = priceTicks(pick(90, 112));
    if (pick(0, 2) === 0) market.frozen = true;
    if (pick(0, 3) === 0) {
      const tiers = market.spec.tiers.map((tier) => ({
        ...tier,
        initialMarginPpm: ppm(Math.min(1_000_000, tier.initialMarginPpm * pick(1, 4))),
      }));
      market.nextSpec = { ...market.spec, tiers };
      // As after setMarketTerms.
      market.highestInitialPpm = Math.max(
        ...[...market.spec.tiers, ...tiers].map(({ initialMarginPpm }) => initialMarginPpm),
      );
    }
  }
  const ann = state.subaccount(world.idOf('ann'));
  // Around the limit, where both results occur, and far from it.
  ann.cash = quanta(BigInt(pick(-20, 60)) * 10_000_000n + BigInt(pick(0, 999_999)));
  return { state, ann, pick };
}

test('the exact rule accepts every fast accept', () => {
  const answers = { accepted: 0, refused: 0 };
  const compare = (ann: Subaccount, ask: () => boolean, what: string): void => {
    const truth = exactly(ann, ask);
    expect(ask(), what).toBe(truth);
    answers[truth ? 'accepted' : 'refused'] += 1;
  };
  for (let life = 0; life < 150; life++) {
    const seed = `fast accept ${String(life)}`;
    const { state, ann, pick } = draw(seed);
    for (let i = 0; i < 40; i++) {
      const market = state.markets[pick(0, SYMBOLS.length - 1)]!;
      const exposure: Exposure = ann.exposure(market.id);
      const size = pick(1, 900) * (pick(0, 1) === 0 ? -1 : 1);
      const price = priceTicks(pick(88, 115));
      const ioc = pick(0, 1) === 0;
      const what = `${seed}: ${String(size)} at ${String(price)} in ${market.spec.symbol}`;
      compare(
        ann,
        () =>
          affordsOrder(state, ann, exposure, market, {
            lots: lots(size),
            priceTicks: price,
            ioc,
            originatorFeePpm: ppm(0),
          }),
        `order ${what}`,
      );
      // In a frozen market fills only reduce.
      const { positionLots } = exposure;
      const fill = market.frozen
        ? -Math.sign(positionLots) * Math.min(Math.abs(size), Math.abs(positionLots))
        : size;
      if (fill === 0) continue;
      const unit = market.spec.quantaPerTickLot;
      const fee = feeOfFill(Math.abs(fill), price, unit, market.spec.takerFeePpm);
      const fees = { ...NO_FEES, protocol: moneyOf(fee) };
      compare(
        ann,
        () =>
          affordsFill(state, exposure, market, { lots: lots(fill), priceTicks: price, fees }, NONE),
        `fill ${what}`,
      );
    }
  }
  expect(answers.accepted).toBeGreaterThan(1000);
  expect(answers.refused).toBeGreaterThan(1000);
});
