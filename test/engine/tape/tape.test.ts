/** History in the same book (docs/RULES.md D-15, docs/ARCHITECTURE.md "Recorded liquidity"): place in the queue, impact, credit, gaps. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { TapeLevel } from '../../../src/engine/commands.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { divergenceText } from '../../../src/oracle/divergence.ts';
import { Lockstep } from '../../../src/oracle/lockstep.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  orderId,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../../src/num/units.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import { PLAIN_LIMIT } from '../../setup/plain-limit.ts';

const MARKET = marketId(0);
const USER = subaccountId(6);
let exchange: Exchange;
let lockstep: Lockstep;
let nowUs = 0;
let nonce = 0n;

function open(queueModel: string, impactModel: string): void {
  nowUs = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
  nonce = 0n;
  exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  lockstep = new Lockstep(exchange);
  const spec = parseMarketSpec(
    { symbol: 'T', tickSize: '1', lotSize: '1', queueModel, impactModel, priceBand: '0.5' },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  apply({ kind: 'listMarket', timeUs: timeUs(nowUs), spec: spec.value });
  apply({
    kind: 'deposit',
    timeUs: timeUs(nowUs),
    account: address(`0x${'a'.repeat(40)}`),
    subaccountIndex: 0,
    amount: quanta(10_000_000_000n),
  });
  apply({
    kind: 'setIndex',
    timeUs: timeUs(nowUs),
    market: MARKET,
    priceTicks: priceTicks(100),
    text: '100',
  });
}

function apply(command: Parameters<Exchange['apply']>[0]): void {
  const { outcome, divergence } = lockstep.apply(command);
  if (divergence !== null) throw new Error(divergenceText(divergence));
  expect(outcome).toBe('ok');
  expect(exchange.checkInvariants()).toEqual([]);
}

/** `bid 100 5` levels, one string each. */
function levelsOf(rows: readonly string[]): TapeLevel[] {
  return rows.map((row) => {
    const [side, price, size] = row.split(' ');
    return {
      side: side === 'bid' ? 'bid' : 'ask',
      priceTicks: priceTicks(Number(price)),
      lots: lots(Number(size)),
    };
  });
}

function depth(...rows: string[]): void {
  apply({ kind: 'tapeDepth', timeUs: timeUs(nowUs), market: MARKET, levels: levelsOf(rows) });
}

function snapshot(...rows: string[]): void {
  apply({ kind: 'tapeSnapshot', timeUs: timeUs(nowUs), market: MARKET, levels: levelsOf(rows) });
}

function trade(price: number, size: number): void {
  apply({
    kind: 'tapeTrade',
    timeUs: timeUs(nowUs),
    market: MARKET,
    priceTicks: priceTicks(price),
    lots: lots(size),
  });
}

/** Places a user's order; returns its id. */
function place(size: number, price: number, flags: 'ioc' | 'post' | '' = ''): number {
  nonce += 1n;
  apply({
    ...PLAIN_LIMIT,
    kind: 'placeOrder',
    timeUs: timeUs(nowUs),
    subaccount: USER,
    lots: lots(size),
    priceTicks: priceTicks(price),
    ioc: flags === 'ioc',
    postOnly: flags === 'post',
    nonce,
    delegate: null,
  });
  return exchange.lastOrderId;
}

function settled(id: number): number {
  return exchange.order(orderId(id))!.settledLots;
}

function book(): string {
  const side = (name: 'bid' | 'ask'): string =>
    exchange
      .depth(MARKET, name, 9)
      .map((level) => `${level.lots}@${level.priceTicks}`)
      .join(' ');
  return `${side('bid')} | ${side('ask')}`;
}

beforeEach(() => {
  open('riskAverse', 'permanent');
  snapshot('bid 99 10', 'ask 101 10');
});

describe('queue position', () => {
  test('a trade fills volume ahead first, then the order, and no more', () => {
    const id = place(5, 99);
    trade(99, -10);
    expect(settled(id)).toBe(0);
    trade(99, -3);
    expect(settled(id)).toBe(3);
    trade(99, -3);
    expect(settled(id)).toBe(5);
  });

  test('later volume queues behind', () => {
    const id = place(5, 99);
    depth('bid 99 40');
    trade(99, -12);
    expect(settled(id)).toBe(2);
  });

  test("an order's fill leaves the house volume behind it", () => {
    place(5, 99);
    depth('bid 99 30');
    trade(99, -14);
    // 10 ahead and 4 of ours; history reports that 14 of its 30 left.
    expect(book()).toBe('17@99 | 10@101');
    depth('bid 99 16');
    expect(book()).toBe('17@99 | 10@101');
  });

  test('an order at a better price fills before history’s own counterparty', () => {
    const id = place(4, 100);
    trade(99, -6);
    expect(settled(id)).toBe(4);
    expect(book()).toBe('4@99 | 10@101');
  });

  test.each([
    ['riskAverse', 20, 0],
    // 10 ahead, 10 behind: probability 1/2 for any exponent.
    ['probPower1', 10, 5],
    ['probPower2', 10, 5],
    ['probLog', 10, 5],
  ])('under %s a decrease to %i takes %i from ahead', (model, size, ahead) => {
    open(model, 'permanent');
    snapshot('bid 99 10', 'ask 101 10');
    const id = place(5, 99);
    depth('bid 99 20');
    if (size !== 20) depth(`bid 99 ${size}`);
    nowUs += 2_000_000;
    trade(99, -(10 - ahead) - 1);
    expect(settled(id)).toBe(1);
  });

  test('fractions of a lot are carried to the next decrease', () => {
    open('probPower1', 'permanent');
    snapshot('bid 99 2', 'ask 101 10');
    const id = place(5, 99);
    depth('bid 99 4');
    // Half of each lot was ahead: the second decrease completes a whole one.
    depth('bid 99 3');
    depth('bid 99 2');
    nowUs += 2_000_000;
    trade(99, -2);
    expect(settled(id)).toBe(1);
  });
});

describe('impact', () => {
  test('permanent: consumed liquidity returns only as new volume', () => {
    place(6, 101, 'ioc');
    depth('ask 101 12');
    expect(book()).toBe('10@99 | 6@101');
    // History keeps 4 of the 6 that were taken, so 5 of 9 are new.
    depth('ask 101 4', 'ask 101 9');
    expect(book()).toBe('10@99 | 5@101');
    depth('ask 101 0', 'ask 101 12');
    expect(book()).toBe('10@99 | 12@101');
  });

  test('none: it returns with the next update of the level', () => {
    open('riskAverse', 'none');
    snapshot('bid 99 10', 'ask 101 10');
    place(6, 101, 'ioc');
    expect(book()).toBe('10@99 | 4@101');
    depth('ask 101 10');
    expect(book()).toBe('10@99 | 10@101');
  });

  test('halving: half returns each half-life', () => {
    open('riskAverse', 'halving');
    snapshot('bid 99 10', 'ask 101 10');
    place(8, 101, 'ioc');
    nowUs += 1_000_000;
    depth('ask 101 10');
    expect(book()).toBe('10@99 | 6@101');
    nowUs += 2_000_000;
    depth('ask 101 10');
    expect(book()).toBe('10@99 | 9@101');
  });

  test('halving: a lot taken earlier brings the next ones back no sooner (D-15)', () => {
    open('riskAverse', 'halving');
    snapshot('bid 99 10', 'ask 101 200');
    place(1, 101, 'ioc');
    nowUs += 990_000;
    place(199, 101, 'ioc');
    const returned = (afterUs: number): string => {
      nowUs += afterUs;
      depth('ask 101 200');
      return book();
    };
    // The mean time is 990,000 × 199 ÷ 200 = 985,050 µs after the first lot.
    expect([10_000, 985_049, 1].map(returned)).toEqual(['10@99 | ', '10@99 | ', '10@99 | 100@101']);
  });

  test('post-only is checked against the book without consumed liquidity', () => {
    place(10, 101, 'ioc');
    const id = place(1, 101, 'post');
    expect(exchange.order(orderId(id))!.status).toBe('new');
  });
});

describe('what users took is gone until history brings new volume', () => {
  // A lot is a tenth: a sell of 10 rests at 100, and history's bid is never above 1.1.
  const SELL = -100;
  const models = ['permanent', 'none', 'halving', 'squareRoot'];

  test.each(models)('%s: restatements of a crossing level fill an order once', (impact) => {
    open('riskAverse', impact);
    snapshot('bid 99 10', 'ask 102 10');
    const id = place(SELL, 100);
    for (let i = 0; i < 50; i++) {
      nowUs += 700_000;
      depth('bid 100 11', 'bid 99 0');
    }
    expect(settled(id)).toBe(-11);
    expect(book()).toBe(' | 89@100 10@102');
    expect(exchange.divergence(MARKET)).toEqual({ lots: 11, levels: 1 });
  });

  test.each(models)('%s: new volume of the level fills it further', (impact) => {
    open('riskAverse', impact);
    snapshot('bid 99 10', 'ask 102 10');
    const id = place(SELL, 100);
    const filledAfter = (size: number): number => {
      nowUs += 700_000;
      depth(`bid 100 ${String(size)}`);
      return -settled(id);
    };
    // Taken: 11; history removes 6 of them, adds 4, removes all, adds 3.
    expect([11, 11, 5, 9, 9, 0, 3].map(filledAfter)).toEqual([11, 11, 11, 15, 15, 15, 18]);
  });

  test.each(models)('%s: volume taken as taker does not fill the resting rest', (impact) => {
    open('riskAverse', impact);
    snapshot('bid 100 11', 'ask 102 10');
    const id = place(SELL, 100);
    for (let i = 0; i < 20; i++) {
      nowUs += 700_000;
      depth('bid 100 11');
      snapshot('bid 100 11', 'ask 102 10');
    }
    expect(settled(id)).toBe(-11);
  });

  test.each(models)('%s: once the order is cancelled, the model restores the book', (impact) => {
    open('riskAverse', impact);
    snapshot('bid 99 10', 'ask 102 10');
    place(SELL, 100);
    depth('bid 100 11');
    apply({ kind: 'cancelAll', timeUs: timeUs(nowUs), subaccount: USER, market: MARKET });
    nowUs += 1_000_000;
    depth('bid 100 11');
    const bids = new Map([
      ['none', '11@100 10@99'],
      ['halving', '6@100 10@99'],
    ]);
    expect(book()).toBe(`${bids.get(impact) ?? '10@99'} | 10@102`);
  });

  test('a snapshot without the level ends what was taken of it', () => {
    const id = place(SELL, 100);
    depth('bid 100 11');
    snapshot('bid 99 10', 'ask 102 10');
    depth('bid 100 11');
    expect(settled(id)).toBe(-22);
  });

  test('a trade with volume that is gone counts as divergence', () => {
    place(-10, 99, 'ioc');
    trade(99, -4);
    expect(exchange.divergence(MARKET)).toEqual({ lots: 4, levels: 1 });
    expect(exchange.market(MARKET).lastTicks).toBe(99);
  });
});

describe('crossing of history and users', () => {
  test('a level that crosses an order trades with it at the user’s price, and rests the remainder', () => {
    const id = place(4, 100);
    depth('ask 99 10', 'bid 99 0');
    expect(settled(id)).toBe(4);
    expect(exchange.market(MARKET).lastTicks).toBe(100);
    expect(book()).toBe(' | 6@99 10@101');
  });

  test('house levels that history contradicts are removed', () => {
    depth('ask 98 3');
    expect(book()).toBe(' | 3@98 10@101');
  });
});

describe('a decrease that arrives before its trade', () => {
  test('is reversed, so that no volume is used twice', () => {
    depth('bid 99 4');
    trade(99, -6);
    expect(book()).toBe('4@99 | 10@101');
  });

  test('is reversed behind and ahead as it was taken', () => {
    const id = place(5, 99);
    depth('bid 99 20');
    // The risk-averse model takes it from behind; the trade shows that it was from the front.
    depth('bid 99 12');
    trade(99, -8);
    trade(99, -3);
    expect(settled(id)).toBe(1);
  });

  test('expires after a second', () => {
    depth('bid 99 4');
    nowUs += 1_000_001;
    trade(99, -3);
    expect(book()).toBe('1@99 | 10@101');
  });
});

describe('gaps', () => {
  test('no house fills until a snapshot, and then the order is behind the whole level', () => {
    const id = place(5, 99);
    apply({ kind: 'tapeGap', timeUs: timeUs(nowUs), market: MARKET });
    expect(book()).toBe('5@99 | ');
    trade(99, -50);
    depth('bid 99 1');
    expect(book()).toBe('5@99 | ');
    snapshot('bid 99 7', 'ask 101 3');
    trade(99, -7);
    expect(settled(id)).toBe(0);
    trade(99, -1);
    expect(settled(id)).toBe(1);
  });

  test('a snapshot without a gap keeps equal levels and our queue position', () => {
    const id = place(5, 99);
    snapshot('bid 99 10', 'bid 98 3', 'ask 102 1');
    expect(book()).toBe('15@99 3@98 | 1@102');
    trade(99, -11);
    expect(settled(id)).toBe(1);
  });
});

test('D-71 a trade passes over the orders of a frozen market, and takes the volume behind them', () => {
  const id = place(5, 99);
  depth('bid 99 16');
  nowUs += 61_000_000;
  apply({ kind: 'advanceTime', timeUs: timeUs(nowUs) });
  trade(99, -12);
  expect([settled(id), book()]).toEqual([0, '9@99 | 10@101']);
  depth('bid 99 4');
  trade(99, -3);
  expect([settled(id), book()]).toEqual([0, '6@99 | 10@101']);
});

test('without users the book equals history’s, whatever came before it', () => {
  const level = fc
    .tuple(fc.constantFrom('bid', 'ask'), fc.integer({ min: 0, max: 9 }), fc.nat(5))
    .map(
      ([side, distance, size]) =>
        `${side} ${side === 'bid' ? 99 - distance : 101 + distance} ${size}`,
    );
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.array(level, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.tuple(fc.integer({ min: 90, max: 110 }), fc.constantFrom(-3, 2)) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      open('probPower2', 'permanent');
      snapshot('bid 99 10', 'ask 101 10');
      const history = new Map([
        ['bid 99', 10],
        ['ask 101', 10],
      ]);
      for (const item of steps) {
        if (typeof item[0] === 'number') trade(item[0], item[1] as number);
        else {
          depth(...(item as string[]));
          for (const row of item as string[]) {
            const [side = '', price = '', size = ''] = row.split(' ');
            history.set(`${side} ${price}`, Number(size));
          }
        }
      }
      // History restates the traded levels; then both books must be equal.
      const rows = [...history].map(([key, size]) => `${key} ${size}`);
      nowUs += 2_000_000;
      depth(...rows);
      const shown = (['bid', 'ask'] as const).flatMap((side) =>
        exchange
          .depth(MARKET, side, 99)
          .map(({ priceTicks: price, lots: size }) => `${side} ${price} ${size}`),
      );
      expect(shown.sort()).toEqual(rows.filter((row) => !row.endsWith(' 0')).sort());
    }),
    { numRuns: 150 },
  );
});
