/**
 * Frozen markets (R-5.3b): freeze and thaw times, admitted fills, and the precedence of end
 * reasons.
 */
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '../../../src/engine/events.ts';
import { timeUs } from '../../../src/num/units.ts';
import { RiskWorld } from '../risk-world.ts';

const STALE = { indexStaleMs: 60_000 };

function opened(market: Record<string, unknown> = { markSource: 'index' }): RiskWorld {
  const world = new RiskWorld([market], STALE);
  world.fund({ ann: '100000', bob: '100000', cat: '100000', dan: '100000' });
  world.price('100');
  return world;
}

const freezes = (world: RiskWorld): string[] =>
  world.events
    .filter((event): event is Extract<EngineEvent, { kind: 'marketFrozen' }> => {
      return event.kind === 'marketFrozen';
    })
    .map(({ frozen, timeUs: at, sinceUs }) => `${String(frozen)} ${String(at - sinceUs)}`);

const status = (
  world: RiskWorld,
  to: 'open' | 'postOnly' | 'reduceOnly' | 'cancelOnly' | 'halted',
) =>
  world.apply({
    kind: 'setMarketStatus',
    timeUs: timeUs(world.atUs),
    market: world.marketOf('M'),
    status: to,
  });

describe('when a market freezes', () => {
  test.each([
    ['index', {}, true],
    ['median', {}, true],
    ['external', {}, true],
    ['last', { recordedLiquidity: true }, false],
    ['mid', { recordedLiquidity: true }, false],
    ['index', { indexSource: 'mid' }, false],
  ] as const)('a mark made of %s %j: %s', (markSource, more, frozen) => {
    const world = new RiskWorld([{ markSource, maxMarkDeviation: '0.01', ...more }], STALE);
    if (!('indexSource' in more)) world.price('100');
    world.wait(60_000);
    expect(freezes(world)).toEqual([]);
    world.atUs += 1;
    world.wait(0);
    expect(freezes(world)).toEqual(frozen ? ['true 0'] : []);
  });

  test('a market that never had a price is not frozen: its orders end noMarkPrice', () => {
    const world = new RiskWorld([{ markSource: 'index' }], STALE);
    world.fund({ ann: '1000' });
    world.wait(120_000);
    expect(freezes(world)).toEqual([]);
    expect(world.order('ann', '1', '100')).toMatchObject({ reason: 'noMarkPrice' });
  });

  test('the next price of its source thaws it, and the mark moves in the same command', () => {
    const world = opened();
    world.wait(90_000);
    const from = world.events.length;
    world.price('103');
    expect(world.events.slice(from).map(({ kind }) => kind)).toEqual([
      'oracleSet',
      'marketFrozen',
      'markChanged',
    ]);
    expect(freezes(world)).toEqual(['true 0', 'false 29999999']);
  });

  test('an index does not thaw a market whose mark is recorded', () => {
    const world = opened({ markSource: 'external' });
    world.wait(90_000);
    const market = world.marketOf('M');
    const index = { kind: 'setIndex', timeUs: timeUs(world.atUs), market, text: '101' } as const;
    world.apply({ ...index, priceTicks: 101 as never });
    expect(freezes(world)).toEqual(['true 0']);
    world.price('101');
    expect(freezes(world)).toHaveLength(2);
  });
});

describe('fills in a frozen market', () => {
  /** ann is long 10, bob short 10; cat and dan are flat. */
  function frozen(rest: (world: RiskWorld) => void): RiskWorld {
    const world = opened();
    world.trade('ann', 'bob', '10', '100');
    rest(world);
    world.wait(90_000);
    return world;
  }

  test('both sides reduce: they trade', () => {
    const world = frozen((w) => w.order('bob', '4', '100'));
    expect(world.order('ann', '-4', '100')).toMatchObject({ status: 'filled' });
  });

  test('a resting order that opens is cancelled, and the taker goes on', () => {
    const resting: unknown[] = [];
    const world = frozen((w) => {
      resting.push(w.order('cat', '4', '100'), w.order('bob', '4', '99'));
    });
    expect(world.order('ann', '-4', '99')).toMatchObject({ status: 'filled' });
    const ended = world.events.flatMap((event) =>
      event.kind === 'orderEnded' && event.reason === 'staleIndex' ? [event.status] : [],
    );
    expect(ended).toEqual(['cancelled']);
    expect(world.position('bob')).toMatchObject({ quantity: '-6' });
  });

  test('a fill stops where either side would open', () => {
    // bob rests 15 but is short 10.
    const world = frozen((w) => w.order('bob', '15', '100'));
    expect(world.order('ann', '-10', '100')).toMatchObject({ status: 'filled' });
    expect(world.position('bob')).toBeUndefined();
    // The rest of bob's order would open, so the next reducing taker does not meet it.
    expect(world.order('cat', '-1', '100')).toMatchObject({ reason: 'staleIndex' });
  });

  test.each([
    ['an order that opens', 'cat', '1', {}, 'rejected', 'staleIndex'],
    ['an order that grows a position', 'ann', '1', {}, 'rejected', 'staleIndex'],
    ['an order that would flip it', 'ann', '-11', {}, 'rejected', 'staleIndex'],
    ['an order that reduces rests', 'ann', '-10', {}, 'new', null],
    [
      'reduce-only beyond the position rests',
      'ann',
      '-11',
      { flags: { ioc: false, postOnly: false, reduceOnly: true } },
      'new',
      null,
    ],
  ] as const)('%s', (_name, who, quantity, more, state, reason) => {
    const world = frozen(() => undefined);
    expect(world.order(who, quantity, '100', more)).toMatchObject({ status: state, reason });
  });

  test('no account is liquidated there, and the owner is checked at the thaw', () => {
    const world = new RiskWorld([{ markSource: 'index' }], STALE);
    world.fund({ ann: '110', bob: '100000', cat: '100000' });
    world.price('100');
    world.trade('ann', 'bob', '10', '100');
    world.order('cat', '20', '90');
    world.wait(90_000);
    expect(world.steps()).toEqual([]);
    world.price('93');
    expect(world.steps()[0]).toBe('ann order');
  });
});

describe('end reasons in their precedence (R-2.8)', () => {
  test.each([
    ['halted', 'halted', 'ann', '-1', {}],
    ['cancelOnly', 'halted', 'ann', '-1', {}],
    ['reduceOnly', 'halted', 'cat', '1', {}],
    ['reduceOnly', null, 'ann', '-1', {}],
    ['postOnly', 'halted', 'ann', '-1', {}],
    [
      'postOnly',
      null,
      'cat',
      '1',
      { flags: { ioc: false, postOnly: true, reduceOnly: false }, price: '99' },
    ],
  ] as const)('%s: %s for %s %s %j', (to, reason, who, quantity, more) => {
    const world = opened();
    world.trade('ann', 'bob', '10', '100');
    status(world, to);
    expect(world.order(who, quantity, '100', more)).toMatchObject({ reason });
  });

  test('halted precedes noMarkPrice, and noMarkPrice precedes all book faults', () => {
    const world = new RiskWorld([{ markSource: 'index' }], STALE);
    world.fund({ ann: '1000' });
    const beyond = { flags: { ioc: false, postOnly: false, reduceOnly: true } };
    expect(world.order('ann', '1', '1', beyond)).toMatchObject({ reason: 'noMarkPrice' });
    status(world, 'halted');
    expect(world.order('ann', '1', '1', beyond)).toMatchObject({ reason: 'halted' });
  });

  test('staleIndex precedes the band', () => {
    const world = opened({ markSource: 'index', priceBand: '0.01' });
    world.wait(90_000);
    expect(world.order('ann', '1', '1000')).toMatchObject({ reason: 'staleIndex' });
  });
});

describe('halted', () => {
  test('freezes at once, takes the index but not the mark, and thaws with it', () => {
    const world = opened();
    status(world, 'halted');
    world.price('104');
    const market = world.engine.market(world.marketOf('M'));
    expect([market.markTicks, market.indexTicks]).toEqual([100, 104]);
    status(world, 'open');
    expect(world.engine.market(world.marketOf('M')).markTicks).toBe(104);
    expect(freezes(world)).toEqual(['true 0', 'false 0']);
  });

  test('a market whose index is too old stays frozen when it is reopened', () => {
    const world = opened();
    status(world, 'halted');
    world.wait(90_000);
    status(world, 'open');
    expect(freezes(world)).toEqual(['true 0']);
    world.price('100');
    expect(freezes(world)).toHaveLength(2);
  });
});
