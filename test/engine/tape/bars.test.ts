/**
 * Bars in the real book (docs/DATA.md "Bars"): paths, stops along them, their fills and prices; the
 * fast path.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BarFill, BarPath, Command } from '../../../src/engine/commands.ts';
import type { EngineEvent } from '../../../src/engine/events.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { lots, priceTicks, timeUs } from '../../../src/num/units.ts';
import { TapeWorld } from './tape-world.ts';
import { EFFORT } from '../../setup/effort.ts';

interface BarOptions {
  readonly path?: BarPath;
  readonly fill?: BarFill;
  readonly spread?: number;
  readonly depth?: number;
  readonly quote?: number;
}

const MARKET = {
  lotSize: '1',
  markSource: 'last',
  recordedLiquidity: true,
  indexSource: 'mid',
  makerFee: '0',
  takerFee: '0',
};

function bar(
  atUs: number,
  [open, high, low, close]: readonly [number, number, number, number],
  options: BarOptions = {},
): Command {
  return {
    kind: 'tapeBar',
    timeUs: timeUs(atUs),
    market: 0 as never,
    openTicks: priceTicks(open),
    highTicks: priceTicks(high),
    lowTicks: priceTicks(low),
    closeTicks: priceTicks(close),
    volumeLots: lots(50),
    quoteTicks: priceTicks(options.quote ?? close),
    spreadTicks: options.spread ?? 0,
    depthLots: lots(options.depth ?? 1_000_000),
    path: options.path ?? 'nearest',
    fill: options.fill ?? 'touch',
  };
}

class BarWorld extends TapeWorld {
  constructor(config: Record<string, unknown> = {}) {
    super([MARKET], config);
    this.fund({ alice: '100000', bob: '100000' });
    this.bar([100, 100, 100, 100]);
  }

  bar(prices: readonly [number, number, number, number], options: BarOptions = {}): void {
    this.atUs += 60_000_000;
    expect(this.apply(bar(this.atUs, prices, options))).toBe('ok');
  }

  /** `size@price` of each user fill since an event. */
  fills(from = 0): string[] {
    return this.events
      .slice(from)
      .flatMap((event) =>
        event.kind === 'orderFilled' ? [`${event.lots}@${event.priceTicks}`] : [],
      );
  }

  bracket(who: string, quantity: string, takeProfit: string, stopLoss: string): void {
    const record = this.order(who, quantity, quantity.startsWith('-') ? '1' : '1000', {
      flags: { ioc: true, postOnly: false, reduceOnly: false },
      takeProfit: { triggerPrice: takeProfit },
      stopLoss: { triggerPrice: stopLoss },
    });
    expect(record).toMatchObject({ status: 'filled' });
  }
}

describe('the synthetic book', () => {
  test.each([
    [0, '1000000@100 | 1000000@100'],
    [1, '1000000@100 | 1000000@101'],
    [2, '1000000@99 | 1000000@101'],
    [5, '1000000@98 | 1000000@103'],
  ])('stands %i ticks apart around the close', (spread, expected) => {
    const world = new BarWorld();
    world.bar([99, 120, 90, 100], { spread });
    const [bid, ask] = (['bid', 'ask'] as const).map((side) =>
      world.engine.depth(world.marketOf('M'), side, 9).map((at) => `${at.lots}@${at.priceTicks}`),
    );
    expect(`${bid?.join(' ')} | ${ask?.join(' ')}`).toBe(expected);
    expect(world.engine.market(world.marketOf('M'))).toMatchObject({
      markTicks: 100,
      lastTicks: 100,
    });
  });

  test('or around the next open, where market orders fill', () => {
    const world = new BarWorld();
    world.bar([100, 110, 90, 105], { quote: 107 });
    world.order('alice', '3', '1000', { flags: { ioc: true, postOnly: false, reduceOnly: false } });
    world.order('alice', '-1', '1', { flags: { ioc: true, postOnly: false, reduceOnly: false } });
    expect(world.fills()).toEqual(['3@107', '-1@107']);
  });

  test('a market order takes at most its depth, which the next bar restores', () => {
    const world = new BarWorld();
    world.bar([100, 100, 100, 100], { depth: 5, spread: 2 });
    const ioc = { flags: { ioc: true, postOnly: false, reduceOnly: false } };
    expect(world.order('alice', '8', '1000', ioc)).toMatchObject({
      settled: '5',
      reason: 'iocRemainder',
    });
    world.bar([100, 100, 100, 100], { depth: 5, spread: 2 });
    expect(world.order('alice', '8', '1000', ioc)).toMatchObject({ settled: '5' });
  });

  test('a far order is no price where the book is taken, so no trigger fires (decision 0124)', () => {
    const world = new BarWorld();
    world.bar([100, 101, 99, 100], { depth: 5, spread: 2 });
    // The target of the short is 90, and the price stays at 100.
    world.order('alice', '4', '50');
    world.bracket('alice', '-5', '90', '130');
    world.apply({ kind: 'advanceTime', timeUs: timeUs(world.atUs + 2_000_000) });
    // The own last price is the mark; without recorded bids the index stays.
    expect(world.engine.market(world.marketOf('M'))).toMatchObject({
      markTicks: 99,
      indexTicks: 100,
    });
    expect(world.fills()).toEqual(['-5@99']);
  });

  test('a quote keeps a distance to an order that it may not trade with', () => {
    const world = new BarWorld();
    world.bar([100, 100, 100, 100], { spread: 6 });
    world.order('alice', '1', '100');
    world.bar([101, 101, 100, 100], { fill: 'through' });
    expect(world.fills()).toEqual([]);
    expect(world.engine.market(world.marketOf('M'))).toMatchObject({
      bestBid: { priceTicks: 100 },
      bestAsk: { priceTicks: 101 },
    });
  });
});

describe('resting orders', () => {
  test.each<[BarFill, number, string[]]>([
    ['touch', 95, ['1@95']],
    ['through', 95, []],
    ['through', 94, ['1@95']],
    ['touch', 96, []],
  ])('under %s a low of %i fills a bid at 95 so: %j', (fill, low, expected) => {
    const world = new BarWorld();
    world.order('alice', '1', '95');
    world.bar([100, 101, low, 100], { fill });
    expect(world.fills()).toEqual(expected);
  });

  test('fill best first at their own prices, at most the depth of each leg', () => {
    const world = new BarWorld();
    world.order('alice', '2', '95');
    world.order('bob', '2', '97');
    world.order('alice', '-2', '103');
    world.bar([100, 104, 90, 100], { depth: 3 });
    // The high is nearer: up first; then 3 on the way down.
    expect(world.fills()).toEqual(['-2@103', '2@97', '1@95']);
  });

  test('that a gap passes fill at their own prices too', () => {
    const world = new BarWorld();
    world.order('alice', '1', '95');
    world.bar([90, 92, 89, 91]);
    expect(world.fills()).toEqual(['1@95']);
  });
});

describe('paths', () => {
  // A long from 100 with a profit at 110 and a stop at 90; both are in the bar.
  const both = (
    path: BarPath,
    prices: readonly [number, number, number, number],
  ): string | undefined => {
    const world = new BarWorld();
    world.bracket('alice', '1', '110', '90');
    world.bar(prices, { path });
    return world.fills().at(-1);
  };

  test.each<[BarPath, readonly [number, number, number, number], string]>([
    ['nearest', [100, 112, 85, 100], '-1@110'],
    ['nearest', [100, 115, 88, 100], '-1@90'],
    ['nearest', [100, 112, 88, 100], '-1@110'],
    ['worstCase', [100, 112, 85, 100], '-1@90'],
    ['stopFirst', [100, 112, 85, 100], '-1@90'],
  ])('%s %j sells %s', (path, prices, fill) => {
    expect(both(path, prices)).toBe(fill);
  });

  test('worst for a short is the high first, so a stop above fires first', () => {
    for (const path of ['worstCase', 'stopFirst'] as const) {
      const world = new BarWorld();
      world.bracket('alice', '-1', '90', '110');
      world.bar([100, 115, 88, 100], { path });
      expect(world.fills().at(-1)).toBe('1@110');
    }
  });
});

describe('stops on the way', () => {
  test('stopFirst considers only stops that the open has not passed (D-66)', () => {
    const world = new BarWorld();
    world.order('alice', '2', '1000', {
      flags: { ioc: true, postOnly: false, reduceOnly: false },
    });
    for (const trailingPercent of ['2', '12']) {
      world.order('alice', '-1', '1', {
        orderType: 'TrailingStop',
        trailingPercent,
        flags: { ioc: true, postOnly: false, reduceOnly: true },
      });
    }
    // The open passes the stop at 98; the low, though farther than the high, fires the one at 88
    // first.
    world.bar([97, 110, 80, 90], { path: 'stopFirst' });
    expect(world.fills().slice(1)).toEqual(['-1@97', '-1@88']);
  });

  describe('the path is chosen once the open has been played (D-66)', () => {
    test('stopFirst considers the stop of an entry that the open fills', () => {
      const world = new BarWorld();
      world.order('alice', '1', '95', {
        takeProfit: { triggerPrice: '110' },
        stopLoss: { triggerPrice: '85' },
      });
      // The high is nearer to the open, and reaches the take profit.
      world.bar([94, 112, 70, 90], { path: 'stopFirst' });
      expect(world.fills()).toEqual(['1@95', '-1@85']);
    });

    test('worstCase considers the position of an entry that the open fills', () => {
      const world = new BarWorld();
      world.order('alice', '1', '95', {
        takeProfit: { triggerPrice: '110' },
        stopLoss: { triggerPrice: '85' },
      });
      world.bar([94, 112, 70, 90], { path: 'worstCase' });
      expect(world.fills()).toEqual(['1@95', '-1@85']);
    });

    test('stopFirst considers a trailing stop that the open moves', () => {
      const world = new BarWorld();
      world.bracket('alice', '1', '125', '10');
      world.order('alice', '-1', '1', {
        orderType: 'TrailingStop',
        trailingPercent: '10',
        flags: { ioc: true, postOnly: false, reduceOnly: true },
      });
      // At 100 the stop was at 90, which the bar does not reach; at the open it is at 108.
      world.bar([120, 126, 100, 110], { path: 'stopFirst' });
      expect(world.fills().slice(1)).toEqual(['-1@108']);
    });
  });

  test('a stop fires at its own price, half a spread away', () => {
    const world = new BarWorld();
    world.bracket('alice', '1', '200', '93');
    world.bar([100, 101, 80, 82], { spread: 2 });
    expect(world.fills().at(-1)).toBe('-1@92');
  });

  test('a stop that a gap passes fires at the open', () => {
    const world = new BarWorld();
    world.bracket('alice', '1', '200', '93');
    world.bar([88, 89, 80, 82]);
    expect(world.fills().at(-1)).toBe('-1@88');
  });

  test('a trailing stop follows the high and fires on the way back', () => {
    const world = new BarWorld();
    const ioc = { flags: { ioc: true, postOnly: false, reduceOnly: false } };
    world.order('alice', '1', '1000', ioc);
    world.order('alice', '-1', '1', {
      orderType: 'TrailingStop',
      trailingPercent: '10',
      flags: { ioc: true, postOnly: false, reduceOnly: true },
    });
    world.bar([100, 120, 95, 100]);
    expect(world.fills().at(-1)).toBe('-1@108');
  });

  test('an order behind a rearmed one still fires at its own price', () => {
    const world = new BarWorld();
    const legs = (price: string) =>
      world.order('alice', '-1', '1', {
        orderType: 'StopLoss',
        triggerPrice: price,
        flags: { ioc: true, postOnly: false, reduceOnly: true },
      });
    const ioc = { flags: { ioc: true, postOnly: false, reduceOnly: false } };
    world.order('alice', '2', '1000', ioc);
    legs('97');
    legs('91');
    world.bar([100, 100, 80, 85], { depth: 1_000 });
    expect(world.fills().slice(1)).toEqual(['-1@97', '-1@91']);
  });

  test('a position is liquidated at the first price at which it is below maintenance', () => {
    const world = new BarWorld();
    world.fund({ carol: '1000' });
    const ioc = { flags: { ioc: true, postOnly: false, reduceOnly: false } };
    world.order('carol', '90', '1000', ioc);
    const { liquidationPrice } = world.position('carol') ?? {};
    world.bar([100, 101, 50, 60]);
    // 5 % maintenance: 1000 − 90 × (100 − p) < 90 p / 20 first holds at 93.
    expect(world.fills().at(-1)).toBe('-90@93');
    expect(liquidationPrice).toBe('93');
  });
});

test('bars appear as candles', () => {
  const world = new BarWorld();
  world.bar([100, 110, 90, 105]);
  const candles = world.call('getCandles', { symbol: 'M', interval: '1m' }, null);
  const [, last] = candles.body as {
    open: string;
    high: string;
    low: string;
    close: string;
    volume: string;
  }[];
  expect(last).toMatchObject({ open: '100', high: '110', low: '90', close: '105', volume: '50' });
});

test.each([
  [{ lowTicks: priceTicks(101) }],
  [{ highTicks: priceTicks(99) }],
  [{ lowTicks: priceTicks(0) }],
  [{ volumeLots: lots(-1) }],
  [{ spreadTicks: -1 }],
  [{ quoteTicks: priceTicks(2 ** 31) }],
  [{ closeTicks: priceTicks(100.5) }],
])('a bar with %j is refused', (fault) => {
  const world = new BarWorld();
  const sound = bar(world.atUs, [100, 100, 100, 100]);
  expect(world.apply({ ...sound, ...fault })).toBe('tape_level_invalid');
});

/** Traders' requests between bars. */
type RequestForm =
  | { readonly do: 'limit'; readonly size: number; readonly price: number; readonly ioc: boolean }
  | {
      readonly do: 'bracket';
      readonly size: number;
      readonly profit: number;
      readonly stop: number;
    }
  | { readonly do: 'trail'; readonly size: number; readonly percent: string }
  | { readonly do: 'cancelAll' };

const act: fc.Arbitrary<RequestForm> = fc.oneof(
  fc.record({
    do: fc.constant('limit' as const),
    size: fc.constantFrom(-40, -3, -1, 1, 2, 40),
    price: fc.integer({ min: 60, max: 140 }),
    ioc: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('bracket' as const),
    size: fc.constantFrom(-30, -1, 1, 30),
    profit: fc.integer({ min: 1, max: 40 }),
    stop: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({
    do: fc.constant('trail' as const),
    size: fc.constantFrom(-1, 1),
    percent: fc.constantFrom('1', '7', '30'),
  }),
  fc.record({ do: fc.constant('cancelAll' as const) }),
);

const path = fc.constantFrom<BarPath>('nearest', 'worstCase', 'stopFirst');
const randomBar = fc
  .record({
    moves: fc.tuple(...([0, 1, 2, 3] as const).map(() => fc.integer({ min: -14, max: 14 }))),
    spread: fc.constantFrom(0, 1, 2, 5),
    depth: fc.constantFrom(0, 2, 1000),
    ahead: fc.integer({ min: -3, max: 3 }),
    path,
    fill: fc.constantFrom<BarFill>('touch', 'through'),
  })
  .map(({ moves, ...rest }) => ({ moves: moves, ...rest }));

test('the fast path of a bar and the step-by-step path give equal events and states', () => {
  const step = fc.record({
    acts: fc.array(fc.tuple(fc.constantFrom('alice', 'bob', 'carol'), act), { maxLength: 3 }),
    bar: randomBar,
  });
  let fills = 0;
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.constantFrom('mark', 'last', 'index'),
      (steps, triggerSource) => {
        const world = new BarWorld({ triggerSource });
        world.fund({ carol: '700' });
        let price = 100;
        for (const { acts, bar: drawn } of steps) {
          for (const [who, what] of acts) perform(world, who, what, price);
          const [open = 0, high = 0, low = 0, close = 0] = drawn.moves.map((move) =>
            Math.max(20, price + move),
          );
          const prices = [
            open,
            Math.max(open, high, low, close),
            Math.min(open, high, low, close),
            close,
          ] as const;
          world.bar(prices, { ...drawn, quote: Math.max(1, close + drawn.ahead) });
          price = close;
        }
        const full = replayed(world.commands, world.engine.config, true);
        const quick = replayed(world.commands, world.engine.config, false);
        expect(full.events).toEqual(quick.events);
        expect(full.events).toEqual(world.events);
        expect(full.engine.chainHash()).toBe(quick.engine.chainHash());
        expect(full.engine.stateHash()).toBe(quick.engine.stateHash());
        expect(full.restored.chainHash()).toBe(quick.engine.chainHash());
        expect(full.restored.stateHash()).toBe(quick.engine.stateHash());
        fills += world.fills().length;
      },
    ),
    { numRuns: 60 * EFFORT },
  );
  expect(fills).toBeGreaterThan(100);
});

function perform(world: BarWorld, who: string, what: RequestForm, price: number): void {
  const flags = (ioc: boolean, reduceOnly = false) => ({ ioc, postOnly: false, reduceOnly });
  switch (what.do) {
    case 'limit':
      world.order(
        who,
        String(what.size),
        String(what.ioc ? (what.size > 0 ? 200 : 1) : what.price),
        {
          flags: flags(what.ioc),
        },
      );
      return;
    case 'bracket': {
      const up = Math.sign(what.size);
      world.order(who, String(what.size), what.size > 0 ? '200' : '1', {
        flags: flags(true),
        takeProfit: { triggerPrice: String(Math.max(1, price + up * what.profit)) },
        stopLoss: { triggerPrice: String(Math.max(1, price - up * what.stop)) },
      });
      return;
    }
    case 'trail':
      world.order(who, String(what.size), what.size > 0 ? '200' : '1', {
        orderType: 'TrailingStop',
        trailingPercent: what.percent,
        flags: flags(true, true),
      });
      return;
    case 'cancelAll':
      world.apply({
        kind: 'cancelAll',
        timeUs: timeUs(world.atUs),
        subaccount: world.idOf(who),
        market: null,
      });
  }
}

/**
 * The same commands in another exchange, and in one that is restored from snapshots periodically.
 */
function replayed(
  commands: readonly Command[],
  config: ConstructorParameters<typeof Exchange>[0],
  inFull: boolean,
) {
  const engine = new Exchange(config);
  let restored = new Exchange(config);
  if (inFull) engine.playBarsInFull();
  const events: EngineEvent[] = [];
  commands.forEach((command, i) => {
    engine.apply(command, (event) => events.push(event));
    if (i % 5 === 3) restored = restored.fork();
    restored.apply(command);
  });
  return { engine, restored, events };
}

test('a bar that affects no order or position emits two events', () => {
  // Orders of another market must have no effect.
  const world = new TapeWorld([MARKET, { ...MARKET, symbol: 'N' }]);
  world.fund({ alice: '1000' });
  world.apply(bar(world.atUs, [100, 100, 100, 100]));
  world.order('alice', '1', '95');
  const before = world.events.length;
  world.apply({ ...bar(world.atUs, [100, 110, 90, 100]), market: 1 } as Command);
  expect(world.events.slice(before).map(({ kind }) => kind)).toEqual([
    'markChanged',
    'tapeApplied',
  ]);
});
