/** Square-root impact in the book, in lockstep with the oracle; attacks on it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Command, TapeLevel } from '../../../src/engine/commands.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../../src/gateway/market-config.ts';
import { divergenceText } from '../../../src/oracle/divergence.ts';
import { Lockstep } from '../../../src/oracle/lockstep.ts';
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
import { EFFORT } from '../../setup/effort.ts';

const MARKET = marketId(0);
const MINUTE = 60_000_000;
const DEPOSIT = 1_000_000_000_000n;
const START = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;

class World {
  nowUs: number = START;
  exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  private lockstep: Lockstep | null;
  private nonce = 0n;

  constructor(checked = true) {
    this.lockstep = checked ? new Lockstep(this.exchange) : null;
    const spec = parseMarketSpec(
      {
        ...{
          symbol: 'T',
          tickSize: '1',
          lotSize: '1',
          impactModel: 'squareRoot',
          impactHalfLifeMs: 3_600_000,
        },
        ...{ makerFee: '0', takerFee: '0' },
        ...{
          queueModel: 'riskAverse',
          priceBand: '0.9',
          indexSource: 'oracle',
          markSource: 'index',
        },
      },
      keccak,
    );
    if (!spec.ok) throw new Error(spec.error);
    this.apply({ kind: 'listMarket', timeUs: timeUs(this.nowUs), spec: spec.value });
    for (const digit of ['a', 'b']) {
      this.apply({
        kind: 'deposit',
        timeUs: timeUs(this.nowUs),
        account: address(`0x${digit.repeat(40)}`),
        subaccountIndex: 0,
        amount: quanta(DEPOSIT),
      });
    }
    this.index();
  }

  index(): void {
    const price = priceTicks(1000);
    this.apply({
      kind: 'setIndex',
      timeUs: timeUs(this.nowUs),
      market: MARKET,
      priceTicks: price,
      text: '1000',
    });
  }

  apply(command: Command): void {
    if (this.lockstep === null) {
      expect(this.exchange.apply(command)).toBe('ok');
      return;
    }
    const { outcome, divergence } = this.lockstep.apply(command);
    if (divergence !== null) throw new Error(divergenceText(divergence));
    expect(outcome).toBe('ok');
    expect(this.exchange.checkInvariants()).toEqual([]);
  }

  /** Continues on a copy restored from a snapshot, without the oracle. */
  restore(): void {
    this.exchange = Exchange.restore(this.exchange.snapshot());
    this.lockstep = null;
  }

  depth(...rows: string[]): void {
    this.apply({
      kind: 'tapeDepth',
      timeUs: timeUs(this.nowUs),
      market: MARKET,
      levels: rows.map(levelOf),
    });
  }

  snapshot(...rows: string[]): void {
    const levels = rows.map(levelOf);
    this.apply({ kind: 'tapeSnapshot', timeUs: timeUs(this.nowUs), market: MARKET, levels });
  }

  gap(): void {
    this.apply({ kind: 'tapeGap', timeUs: timeUs(this.nowUs), market: MARKET });
  }

  trade(price: number, size: number): void {
    const at = { timeUs: timeUs(this.nowUs), market: MARKET };
    this.apply({ kind: 'tapeTrade', ...at, priceTicks: priceTicks(price), lots: lots(size) });
  }

  place(size: number, price: number, ioc = false, user = 6): number {
    this.nonce += 1n;
    this.apply({
      ...PLAIN_LIMIT,
      kind: 'placeOrder',
      timeUs: timeUs(this.nowUs),
      subaccount: subaccountId(user),
      lots: lots(size),
      priceTicks: priceTicks(price),
      ioc,
      nonce: this.nonce,
      delegate: null,
    });
    return this.exchange.lastOrderId;
  }

  settled(id: number): number {
    return this.exchange.order(orderId(id))!.settledLots;
  }

  book(levels = 4): string {
    const side = (name: 'bid' | 'ask'): string =>
      this.exchange
        .depth(MARKET, name, levels)
        .map((level) => `${level.lots}@${level.priceTicks}`)
        .join(' ');
    return `${side('bid')} | ${side('ask')}`;
  }

  /** Quanta that these users spent: without fees, what they paid less what they got. */
  paid(...users: number[]): bigint {
    return users.reduce((sum, user) => {
      const { balanceQuanta: cash } = this.exchange.subaccount(subaccountId(user));
      const [position] = this.exchange.positions(subaccountId(user));
      return sum + DEPOSIT - cash + (position?.costQuanta ?? 0n);
    }, 0n);
  }
}

function levelOf(row: string): TapeLevel {
  const [side, price, size] = row.split(' ');
  return {
    side: side === 'bid' ? 'bid' : 'ask',
    priceTicks: priceTicks(Number(price)),
    lots: lots(Number(size)),
  };
}

const bookOf = (size: number): string[] =>
  Array.from({ length: 12 }, (_, i) => [
    `bid ${String(999 - i)} ${String(size)}`,
    `ask ${String(1001 + i)} ${String(size)}`,
  ]).flat();
const BOOK = bookOf(50);

/** Moves of 1, −2 and 2 ticks with 100 lots each: k is 1 from 9 lots, 2 from 75, 3 from 209. */
function open(checked = true, rows = BOOK): World {
  const world = new World(checked);
  world.snapshot(...rows);
  for (const [price, size] of [
    [1000, 70],
    [1001, 100],
    [999, 100],
    [1001, 100],
    [1000, 1],
  ] as const) {
    world.trade(price, price > 1000 ? size : -size);
    world.snapshot(...rows);
    world.nowUs += MINUTE;
    world.index();
  }
  return world;
}

describe('taking', () => {
  test('R-14.6 each distance gives the lots of its table', () => {
    const world = open();
    expect(world.book()).toBe('50@999 50@998 50@997 50@996 | 50@1001 50@1002 50@1003 50@1004');
    world.place(9, 1100, true);
    // 41 lots are hidden at 1001.
    expect(world.book()).toBe('50@999 50@998 50@997 50@996 | 50@1002 50@1003 50@1004 50@1005');
    // 75 lots hide 1002; its 50 are gone at 59.
    world.place(60, 1100, true);
    expect(world.book()).toBe('50@999 50@998 50@997 50@996 | 40@1003 50@1004 50@1005 50@1006');
    world.place(6, 1100, true);
    expect(world.book()).toBe('50@999 50@998 50@997 50@996 | 34@1003 50@1004 50@1005 50@1006');
  });

  test('R-14.4 sales of the same size end the impact on asks', () => {
    const world = open();
    world.place(9, 1100, true);
    world.place(-9, 900, true);
    world.depth('ask 1012 50');
    expect(world.book()).toBe('41@999 50@998 50@997 50@996 | 41@1001 50@1002 50@1003 50@1004');
  });

  test('R-14.5 a better recorded level is hidden too, and moves the reach with it', () => {
    const world = open();
    world.place(9, 1100, true);
    world.depth('ask 1000 5');
    expect(world.book(1)).toBe('50@999 | 41@1001');
    world.depth('ask 1000 0');
    expect(world.book(1)).toBe('50@999 | 50@1002');
  });

  test('R-14.2, R-14.5 hidden levels return as own volume halves', () => {
    const world = open();
    world.place(76, 1100, true);
    expect(world.book(1)).toBe('50@999 | 33@1003');
    world.nowUs += 60 * MINUTE;
    world.index();
    world.depth('ask 1012 50');
    // 38 lots: only the first level is in reach; its 9 and all of the second are gone.
    expect(world.book(2)).toBe('50@999 50@998 | 33@1003 50@1004');
    world.snapshot(...BOOK);
    world.nowUs += 200 * MINUTE;
    world.index();
    world.depth('ask 1012 50');
    expect(world.book(2)).toBe('50@999 50@998 | 41@1001 33@1003');
  });
});

describe('resting orders at hidden levels', () => {
  test('R-14.5 restatements fill no bid there; it fills when the level is beyond reach', () => {
    const world = open();
    world.place(9, 1100, true);
    const id = world.place(20, 1001);
    for (let i = 0; i < 5; i++) {
      world.depth('ask 1001 50');
      world.snapshot(...BOOK);
    }
    expect(world.settled(id)).toBe(0);
    world.nowUs += 60 * MINUTE;
    world.index();
    world.depth('ask 1012 50');
    expect(world.settled(id)).toBe(20);
    expect(world.book(1)).toBe('50@999 | 21@1001');
  });

  test('R-14.7 an offer there is behind the hidden lots', () => {
    const world = open();
    world.place(9, 1100, true);
    const id = world.place(-5, 1001, false, 7);
    expect(world.exchange.queueAhead(orderId(id))).toBe(41);
    world.trade(1001, 40);
    expect(world.settled(id)).toBe(0);
    world.trade(1001, 3);
    expect(world.settled(id)).toBe(-2);
  });

  test('R-14.7 a decrease that arrives before its trade is not counted twice', () => {
    const world = open();
    world.place(9, 1100, true);
    const id = world.place(-5, 1001, false, 7);
    world.depth('ask 1001 20');
    world.trade(1001, 30);
    expect(world.settled(id)).toBe(0);
    world.trade(1001, 11);
    expect(world.settled(id)).toBe(0);
    world.trade(1001, 1);
    expect(world.settled(id)).toBe(-1);
  });
});

describe('attacks', () => {
  const cost = (buy: (world: World) => void, checked = true): bigint => {
    const world = open(checked, bookOf(5000));
    buy(world);
    return world.paid(6, 7);
  };
  const big = cost((world) => world.place(240, 1100, true));

  test('the order pays the square root: 9 lots at the best, 66 a tick worse, …', () => {
    const walked = 9 * 1001 + 66 * 1002 + 134 * 1003 + 31 * 1004;
    expect(big).toBe(BigInt(walked) * 1_000_000n);
  });

  test('parts of an order at one instant pay what the order pays', () => {
    const parts = cost((world) => {
      for (let i = 0; i < 240; i++) world.place(1, 1100, true);
    }, false);
    expect(parts).toBe(big);
  });

  test('two accounts that share an order pay what one pays', () => {
    const shared = cost((world) => {
      for (let i = 0; i < 48; i++) world.place(5, 1100, true, 6 + (i % 2));
    });
    expect(shared).toBe(big);
  });

  test('own trades between two accounts change neither volume nor impact', () => {
    const washed = open();
    for (let i = 0; i < 5; i++) {
      washed.place(-1000, 1000, false, 6);
      washed.place(1000, 1000, true, 7);
      washed.nowUs += (10 * MINUTE) / 60;
    }
    const plain = open();
    plain.nowUs = washed.nowUs;
    plain.index();
    for (const world of [washed, plain]) world.place(80, 1100, true);
    expect(washed.book(9)).toBe(plain.book(9));
  });

  test('trades in turn on both sides do not change the cost of the next order', () => {
    const world = open(true, bookOf(5000));
    for (let i = 0; i < 3; i++) {
      world.place(80, 1100, true);
      world.place(-80, 900, true, 7);
    }
    world.snapshot(...bookOf(5000));
    const before = world.paid(6, 7);
    world.place(240, 1100, true);
    expect(world.paid(6, 7) - before).toBe(big);
  });

  test('a round trip between the parts of an order does not make it cheaper', () => {
    const around = cost((world) => {
      world.place(120, 1100, true);
      world.place(-60, 900, true, 7);
      world.place(60, 1100, true, 7);
      world.place(120, 1100, true);
    });
    expect(around).toBeGreaterThan(big);
  });

  test('an order just after a step of the decay pays almost as before it', () => {
    const waited = cost((world) => {
      world.place(120, 1100, true);
      world.nowUs += 226_000_000;
      world.index();
      world.place(120, 1100, true);
    });
    expect(waited).toBeGreaterThan((big * 998n) / 1000n);
  });

  test('a gap does not end the impact', () => {
    const world = open();
    world.place(80, 1100, true);
    world.gap();
    expect(world.book(1)).toBe(' | ');
    world.snapshot(...BOOK);
    expect(world.book(1)).toBe('50@999 | 50@1003');
  });

  test('before recorded minutes there is no impact beyond what was taken', () => {
    const world = new World();
    world.snapshot(...BOOK);
    world.place(60, 1100, true);
    expect(world.book(1)).toBe('50@999 | 40@1002');
  });
});

test('R-14.1 the half-life of own volume is an hour by default', () => {
  const spec = (impactModel: string): unknown =>
    parseMarketSpec({ symbol: 'T', tickSize: '1', lotSize: '1', impactModel }, keccak);
  const hour = { value: { impactHalfLifeUs: 60 * MINUTE } };
  expect(spec('squareRoot')).toMatchObject(hour);
  expect(spec('halving')).toMatchObject({ value: { impactHalfLifeUs: 1_000_000 } });
});

test('R-14.1 bars and single orders are refused', () => {
  const world = open(false);
  const at = { timeUs: timeUs(world.nowUs), market: MARKET };
  const price = priceTicks(1000);
  const order: Command = {
    kind: 'tapeL3',
    ...at,
    action: 'add',
    ref: 1,
    side: 'bid',
    priceTicks: price,
    lots: lots(1),
  };
  const bar: Command = {
    ...{
      kind: 'tapeBar',
      ...at,
      openTicks: price,
      highTicks: price,
      lowTicks: price,
      closeTicks: price,
    },
    ...{ volumeLots: lots(1), quoteTicks: price, spreadTicks: 1, depthLots: lots(1) },
    ...{ path: 'nearest', fill: 'touch' },
  };
  for (const command of [order, bar]) {
    const checked = new Lockstep(world.exchange);
    expect(checked.apply(command).outcome).toEqual({ code: 'impact_needs_levels' });
  }
});

/** A step of history, of a user, or of time. */
const side = fc.constantFrom('bid', 'ask');
const level = fc
  .tuple(side, fc.integer({ min: -2, max: 9 }), fc.nat(60))
  .map(
    ([name, away, size]) =>
      `${name} ${String(name === 'bid' ? 999 - away : 1001 + away)} ${String(size)}`,
  );
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ depth: fc.array(level, { minLength: 1, maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ snapshot: fc.array(level, { maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.constant({ gap: true }) },
  {
    weight: 4,
    arbitrary: fc.record({
      trade: fc.integer({ min: 990, max: 1010 }),
      size: fc.integer({ min: -40, max: 40 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      order: fc.integer({ min: 990, max: 1012 }),
      size: fc.integer({ min: -150, max: 150 }),
      ioc: fc.boolean(),
      user: fc.integer({ min: 6, max: 7 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ wait: fc.constantFrom(1, 400_000, MINUTE, 4 * MINUTE, 70 * MINUTE) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function play(world: World, one: Step): void {
  if ('depth' in one) world.depth(...one.depth);
  else if ('snapshot' in one) world.snapshot(...one.snapshot);
  else if ('gap' in one) world.gap();
  else if ('trade' in one) world.trade(one.trade, one.size === 0 ? 1 : one.size);
  else if ('order' in one) world.place(one.size === 0 ? 1 : one.size, one.order, one.ioc, one.user);
  else {
    world.nowUs += one.wait;
    world.index();
  }
}

test('engine and oracle agree on random histories; the model has effects in them', () => {
  let hidden = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
      const world = open();
      for (const one of steps) {
        play(world, one);
        const shown = world.exchange.depth(MARKET, 'ask', 1)[0]?.priceTicks;
        if (shown !== undefined && shown > 1001) hidden += 1;
      }
    }),
    { numRuns: 30 * EFFORT },
  );
  expect(hidden).toBeGreaterThan(50);
});

test('a copy restored at any place goes on with the same hashes', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), fc.nat(59), (steps, at) => {
      const [whole, resumed] = [open(false), open(false)];
      for (const [i, one] of steps.entries()) {
        play(whole, one);
        play(resumed, one);
        if (i === at) resumed.restore();
        expect(resumed.exchange.stateHash()).toBe(whole.exchange.stateHash());
      }
      expect(resumed.exchange.chainHash()).toBe(whole.exchange.chainHash());
    }),
    { numRuns: 20 * EFFORT },
  );
});
