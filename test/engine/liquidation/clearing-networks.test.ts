/**
 * Clearing in the whole engine on random networks of positions: gaps in several markets, frozen
 * ones in between, bankrupt parties on both sides, two subaccounts of one owner, isolated and cross
 * positions, the house as counterparty, insurance empty, partial and full.
 */
import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import type { TapeLevel } from '../../../src/engine/commands.ts';
import type { EngineEvent } from '../../../src/engine/events.ts';
import type { ClearingPlan } from '../../../src/engine/liquidation/clearing-plan.ts';
import { unitOf, RiskUnit } from '../../../src/engine/margin/risk-unit.ts';
import type { State } from '../../../src/engine/state.ts';
import { lots, priceTicks, timeUs } from '../../../src/num/units.ts';

/**
 * A fault planted into every plan; see the last tests. A plan that leaves a debt is no fault here:
 * the engine settles it in the next round. test/engine/liquidation/clearing-plan.test.ts detects
 * such plans.
 */
const fault = vi.hoisted(() => ({ of: null as ((plan: ClearingPlan) => ClearingPlan) | null }));
vi.mock('../../../src/engine/liquidation/clearing-plan.ts', async (original) => {
  const real = await original<typeof import('../../../src/engine/liquidation/clearing-plan.ts')>();
  const planClearing: typeof real.planClearing = (...input) => {
    const plan = real.planClearing(...input);
    return fault.of === null ? plan : fault.of(plan);
  };
  return { ...real, planClearing };
});

// The test setup has loaded the engine; load it again with the plan above.
vi.resetModules();
const { RiskWorld } = await import('../risk-world.ts');

const SYMBOLS = ['A', 'B', 'C'] as const;
const NAMES = ['ann', 'bob', 'cat', 'dan'] as const;
const HOUSE = 'house';

const trade = fc.record({
  what: fc.constant('trade' as const),
  buyer: fc.constantFrom(...NAMES, ...NAMES, HOUSE),
  seller: fc.constantFrom(...NAMES, ...NAMES, HOUSE),
  buyerIndex: fc.constantFrom(0, 0, 0, 1),
  sellerIndex: fc.constantFrom(0, 0, 0, 1),
  symbol: fc.constantFrom(...SYMBOLS),
  lots: fc.integer({ min: 5, max: 30 }),
});
const gap = fc.record({
  what: fc.constant('gap' as const),
  /** Percent of the previous price; null: the market goes stale until its next price. */
  moves: fc.tuple(
    ...SYMBOLS.map(() => fc.option(fc.integer({ min: -50, max: 50 }), { freq: 8, nil: null })),
  ),
  silence: fc.boolean(),
});
const life = fc.record({
  cash: fc.array(fc.integer({ min: 50, max: 900 }), {
    minLength: NAMES.length,
    maxLength: NAMES.length,
  }),
  isolated: fc.array(fc.constantFrom(null, null, ...SYMBOLS), {
    minLength: NAMES.length,
    maxLength: NAMES.length,
  }),
  insurance: fc.constantFrom(0, 5, 100, 100_000),
  vault: fc.constantFrom(0, 0, 500),
  acts: fc.array(fc.oneof(trade, trade, trade, trade, trade, gap), {
    minLength: 20,
    maxLength: 45,
  }),
});
type Lifecycle = typeof life extends fc.Arbitrary<infer L> ? L : never;

/** Coverage of a run, so that the test cannot pass vacuously. */
interface Coverage {
  adl: number;
  charges: number;
  shortfalls: number;
  insured: number;
  house: number;
  frozen: number;
}

function live(drawn: Lifecycle, coverage: Coverage): void {
  const world = new RiskWorld(
    // The marks of A and B move together at whole seconds; that of C separately, and it can freeze.
    SYMBOLS.map((symbol) => ({
      symbol,
      lotSize: '1',
      ...(symbol === 'C' ? {} : { markSource: 'mid', recordedLiquidity: true }),
    })),
    { indexStaleMs: 60_000 },
  );
  world.checks = false;
  const { state } = world.engine as unknown as { state: State };
  const apply = (command: Parameters<typeof world.apply>[0]): void => {
    const from = world.events.length;
    const before = marksOf(state);
    world.apply(command);
    check(state, world.events.slice(from), before, coverage);
  };
  const price = (symbol: string, value: number): void => {
    const market = world.marketOf(symbol);
    const level = (side: 'bid' | 'ask', ticks: number): TapeLevel => ({
      side,
      priceTicks: priceTicks(ticks),
      lots: lots(1),
    });
    const levels = [level('bid', value - 2), level('ask', value + 2)];
    const of = { timeUs: timeUs(world.atUs), market };
    // Without an index of its own the settlement price is the mark.
    if (symbol === 'C') apply({ kind: 'setMark', ...of, priceTicks: priceTicks(value) });
    else apply({ kind: 'tapeSnapshot', ...of, levels });
  };
  const wait = (seconds: number): void => {
    world.atUs += seconds * 1_000_000;
    apply({ kind: 'advanceTime', timeUs: timeUs(world.atUs) });
  };
  const at: Record<string, number> = { A: 100, B: 100, C: 100 };
  for (const symbol of SYMBOLS) price(symbol, 100);
  wait(1);
  NAMES.forEach((name, i) => {
    world.deposit(name, String(drawn.cash[i]));
    world.deposit(name, String(drawn.cash[i]), 1);
    const symbol = drawn.isolated[i];
    if (symbol !== null && symbol !== undefined) world.setMargin(name, true, '0.1', symbol);
  });
  if (drawn.insurance > 0) world.deposit('insurance', String(drawn.insurance));
  // The next hour's limit uses the insurance balance at its start.
  wait(3600);
  for (const symbol of SYMBOLS) price(symbol, 100);
  wait(1);
  if (drawn.vault > 0) {
    world.deposit('gus', String(drawn.vault));
    world.transfer('gus', 'vault', String(drawn.vault));
  }
  for (const act of drawn.acts) {
    if (act.what === 'trade') {
      const { buyer, seller, symbol } = act;
      if (buyer === seller) continue;
      const now = String(at[symbol]);
      const order = (who: string, subaccountIndex: number, size: number): void => {
        if (who === HOUSE) {
          const side = size > 0 ? ('bid' as const) : ('ask' as const);
          const level = {
            side,
            priceTicks: priceTicks(at[symbol] ?? 0),
            lots: lots(Math.abs(size)),
          };
          const market = world.marketOf(symbol);
          apply({ kind: 'tapeDepth', timeUs: timeUs(world.atUs), market, levels: [level] });
        } else world.order(who, String(size), now, { symbol, subaccountIndex });
      };
      const first = seller === HOUSE ? ([seller, 0, -act.lots] as const) : null;
      order(...(first ?? ([buyer, act.buyerIndex, act.lots] as const)));
      if (first === null) order(seller, act.sellerIndex, -act.lots);
      else order(buyer, act.buyerIndex, act.lots);
      continue;
    }
    if (act.silence) wait(61);
    coverage.frozen += state.markets.filter(({ frozen }) => frozen).length;
    SYMBOLS.forEach((symbol, i) => {
      const move = act.moves[i];
      if (move === null || move === undefined) return;
      at[symbol] = Math.max(3, Math.round(((at[symbol] ?? 0) * (100 + move)) / 100));
      price(symbol, at[symbol]);
    });
    wait(1);
  }
}

const marksOf = (state: State): (number | null)[] =>
  state.markets.map((market) => market.markTicks);

/** R-1.6a and the bounds of after a command. */
function check(
  state: State,
  events: readonly EngineEvent[],
  before: readonly (number | null)[],
  coverage: Coverage,
): void {
  let equity = 0n;
  for (const subaccount of state.accounts.subaccounts) {
    let all: bigint = subaccount.cash;
    for (const exposure of subaccount.exposures) {
      if (exposure === undefined) continue;
      const market = state.market(exposure.market);
      const worth = BigInt(exposure.positionLots) * BigInt(market.markTicks ?? 0);
      all += exposure.marginQuanta - exposure.costQuanta;
      all += worth * BigInt(market.spec.quantaPerTickLot);
    }
    equity += all;
    if (subaccount.role === 'house' || subaccount.role === 'shortfall') continue;
    const units = [new RiskUnit(subaccount, null)];
    for (const exposure of subaccount.exposures) {
      if (exposure?.isolated === true) units.push(unitOf(state, exposure));
    }
    for (const unit of units) {
      const held = unit.positions();
      if (held.length === 0 && unit.balance < 0n) throw new Error('a flat unit owes');
      const waits = held.some(({ market }) => state.market(market).frozen);
      if (!waits && unit.figures(state).equity < 0n) throw new Error('a unit is below zero');
    }
  }
  if (equity !== state.supply) throw new Error('the sum is not conserved');
  if (state.shortfall.cash > 0n || state.insurance.cash < 0n) throw new Error('overdrawn');
  if (events.length > 5_000) throw new Error('the ladder does not end');
  for (const event of events) {
    if (event.kind === 'liquidationStep') {
      if (event.step === 'shortfall') coverage.shortfalls += 1;
      if (event.step === 'insurance') coverage.insured += 1;
    }
    if (event.kind !== 'positionTransferred' || event.reason !== 'adl') continue;
    coverage.adl += 1;
    if (state.subaccount(event.to).role === 'house') coverage.house += 1;
    if (event.moneyQuanta >= 0n) continue;
    coverage.charges += 1;
    const { markTicks, spec } = state.market(event.market);
    const move = Math.sign(event.lots) * ((before[event.market] ?? 0) - (markTicks ?? 0));
    const gain = BigInt(Math.abs(event.lots) * Math.max(0, move)) * BigInt(spec.quantaPerTickLot);
    if (-event.moneyQuanta > gain) throw new Error('a party pays more than it gained');
  }
}

const none = (): Coverage => ({
  adl: 0,
  charges: 0,
  shortfalls: 0,
  insured: 0,
  house: 0,
  frozen: 0,
});

beforeEach(() => {
  fault.of = null;
});

test('no unit ends below zero, no party pays beyond its gain, the sum is conserved, the ladder ends', () => {
  const coverage = none();
  fc.assert(
    fc.property(life, (drawn) => live(drawn, coverage)),
    { numRuns: 100, seed: 16 },
  );
  for (const [what, times] of Object.entries(coverage))
    expect([what, times > 0]).toEqual([what, true]);
}, 120_000);

test.each<readonly [string, (plan: ClearingPlan) => ClearingPlan]>([
  [
    'pays more than it gained',
    (plan) => ({
      ...plan,
      shortfall: 0n,
      closings: plan.closings.map((of, i) =>
        i === 0 ? { ...of, charge: of.charge + plan.shortfall } : of,
      ),
    }),
  ],
  [
    'a flat unit owes',
    (plan) => ({ ...plan, insurance: plan.insurance.map((part) => part + 10n ** 12n) }),
  ],
])('detects a planted fault: %s', (message, planted) => {
  fault.of = planted;
  const coverage = none();
  const found = fc.sample(life, { numRuns: 100, seed: 16 }).some((drawn) => {
    try {
      live(drawn, coverage);
      return false;
    } catch (error) {
      return String(error).includes(message);
    }
  });
  expect(found).toBe(true);
});
