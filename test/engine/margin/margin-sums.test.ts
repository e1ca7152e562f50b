/**
 * Admission reads sums of orders. After every command of random lives they equal a
 * scan of all orders, and each planted fault of an update is found. Decisions are exact to one
 * Quantum, and do not depend on when the sums were started.
 */
import { afterEach, describe, expect, test } from 'vitest';
import seedrandom from 'seedrandom';
import { feeOfFill } from '../../../src/engine/accounts/fees.ts';
import { Subaccount, type Exposure } from '../../../src/engine/accounts/subaccount.ts';
import type { Command } from '../../../src/engine/commands.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import {
  marginSumsMatch,
  restingSumsMatch,
  scannedPart,
} from '../../../src/engine/invariants/check-margin-sums.ts';
import { affordsOrder, crossFree } from '../../../src/engine/margin/margin.ts';
import { MarginPart, MarginSums } from '../../../src/engine/margin/margin-part.ts';
import { marginSums } from '../../../src/engine/margin/margin-sums.ts';
import { haircutOf, initialOf, worstLots } from '../../../src/engine/margin/requirement.ts';
import { RestingSums } from '../../../src/engine/margin/resting-sums.ts';
import type { State } from '../../../src/engine/state.ts';
import type { Checker } from '../../../src/fuzz/checker.ts';
import { drawProfile } from '../../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../../src/fuzz/fuzz-run.ts';
import type { ProfileName } from '../../../src/fuzz/profile.ts';
import { isPositive, quantaOf, type Money } from '../../../src/num/money.ts';
import { lots, ppm, priceTicks, quanta, type PriceTicks } from '../../../src/num/units.ts';
import { EFFORT } from '../../setup/effort.ts';
import { stateOf } from '../invariants/planted.ts';

/** Profiles with pairs, icebergs, TWAP, isolated margin, tiers, freezes and liquidations. */
const LIVES: readonly [ProfileName, string][] = [
  ['swarm', 'sums 1'],
  ['swarm', 'sums 2'],
  ['stress', 'sums 3'],
  ['crisis', 'sums 4'],
  ['solvency', 'sums 5'],
];
const COMMANDS = 1200 * EFFORT;

function users(state: State): Subaccount[] {
  return state.accounts.subaccounts.filter(({ role }) => role === 'user');
}

/** Brings the sums of all users up to date, so that each is compared, and compares them. */
function faultOf(state: State): string | null {
  for (const subaccount of users(state)) marginSums(state, subaccount);
  return restingSumsMatch(state) ?? marginSumsMatch(state);
}

/** Reports a difference as a violation of. */
function sumsChecker(counts: { parts: number }): Checker {
  return {
    after: (engine) => {
      if (!(engine instanceof Exchange)) throw new Error('the run is of the engine');
      const state = stateOf(engine);
      counts.parts += users(state).reduce((sum, { opened }) => sum + opened.length, 0);
      const detail = faultOf(state);
      if (detail === null) return null;
      return { invariant: 'sums', rule: 'R-5.5', says: 'sums equal a scan', detail };
    },
  };
}

describe('sums equal a scan after every command', () => {
  test.each(LIVES)('%s, %s', (name, seed) => {
    const counts = { parts: 0 };
    const profile = drawProfile(seed, { name, commands: COMMANDS });
    const { failure } = runFuzz(profile, sumsChecker(counts));
    expect(failure?.violation ?? null).toBeNull();
    expect(counts.parts).toBeGreaterThan(COMMANDS);
  });
});

/** A method of a prototype that a planted fault replaces. */
type Method = (this: object, ...words: never[]) => unknown;

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0)) restore();
});

function plant(owner: object, name: string, make: (right: Method) => Method): void {
  const right = Reflect.get(owner, name) as Method;
  Reflect.set(owner, name, make(right));
  undo.push(() => Reflect.set(owner, name, right));
}

/** Such calls of the method from the fifth on are left out, but for every second one. */
const forgetSomeOf =
  (isSuch: (words: readonly number[]) => boolean) =>
  (right: Method): Method => {
    let calls = 0;
    return function forgetting(this: object, ...words: never[]): unknown {
      if (isSuch(words)) calls += 1;
      const isLeftOut = calls > 5 && calls % 2 === 0 && isSuch(words);
      return isLeftOut ? undefined : right.apply(this, words);
    };
  };
const forgetSome = forgetSomeOf(() => true);

/** Of the words of `RestingSums.note`: unfilled lots before and after a change. */
const joins = ([, , before]: readonly number[]): boolean => before === 0;
const shrinks = ([, , before, after]: readonly number[]): boolean => (after ?? 0) < (before ?? 0);

/** The part stays current although this field of the exposure or the market has changed. */
const ignores =
  (field: string, of: 'exposure' | 'market') =>
  (right: Method): Method =>
    function ignoring(this: object, exposure: never, market: never): unknown {
      const known: unknown = Reflect.get(this, field === 'frozen' ? 'isFrozen' : KNOWN[field]!);
      const source: object = of === 'exposure' ? exposure : market;
      const asKnown: object = Object.create(source, { [field]: { value: known } }) as object;
      const words = of === 'exposure' ? [asKnown, market] : [exposure, asKnown];
      return right.apply(this, words as never[]);
    };

const KNOWN: Readonly<Record<string, string>> = {
  markTicks: 'mark',
  ownMarginPpm: 'ownMarginPpm',
};

/**
 * Faults that `LIVES` reach. A position never changes without its cost, a mode only with an empty
 * market, and announced terms only with those in force, so parts that ignore them stay right.
 */
const FAULTS: readonly [string, () => void][] = [
  ['an order that joins is forgotten', () => plantNote(joins)],
  ['a fill or an end is forgotten', () => plantNote(shrinks)],
  ['the part ignores orders', () => plant(MarginPart.prototype, 'isCurrent', ignoresOrders)],
  ...(
    [
      ['ownMarginPpm', 'exposure'],
      ['markTicks', 'market'],
      ['frozen', 'market'],
    ] as const
  ).map(([field, of]): [string, () => void] => [
    `the part ignores ${field}`,
    () => plant(MarginPart.prototype, 'isCurrent', ignores(field, of)),
  ]),
  ['a part is not subtracted', () => plant(MarginSums.prototype, 'subtract', forgetSome)],
  ['every fee is 7', () => plant(RestingSums.prototype, 'feeOf', () => () => 7)],
];

function plantNote(isSuch: (words: readonly number[]) => boolean): void {
  plant(RestingSums.prototype, 'note', forgetSomeOf(isSuch));
}

function ignoresOrders(right: Method): Method {
  return function ignoring(this: object, exposure: never, market: never): unknown {
    const changes: unknown = Reflect.get(this, 'changes');
    const words = [Object.create(exposure, { resting: { value: { changes } } }), market];
    return right.apply(this, words as never[]);
  };
}

describe('a planted fault is found', () => {
  test.each(FAULTS)('%s', (_name, planting) => {
    const found = LIVES.some(([name, seed]) => {
      planting();
      const profile = drawProfile(seed, { name, commands: 1200 });
      const { failure } = runFuzz(profile, sumsChecker({ parts: 0 }));
      for (const restore of undo.splice(0)) restore();
      return failure !== null;
    });
    expect(found).toBe(true);
  });
});

const sum = (money: Money): bigint => quantaOf(money);

/** Free cross collateral after an order of a cross market in the worst case, by a scan. */
function scannedFree(state: State, owner: Subaccount, exposure: Exposure, order: Limit): bigint {
  const total = new MarginSums();
  for (const other of owner.opened) {
    total.add(scannedPart(state, owner, other, state.market(other.market)));
  }
  const market = state.market(exposure.market);
  const own = scannedPart(state, owner, exposure, market);
  const { positionLots, bidLots, askLots } = exposure;
  const buys = order.lots > 0;
  const size = Math.abs(order.lots);
  const worst = worstLots(positionLots, bidLots + (buys ? size : 0), askLots + (buys ? 0 : size));
  const { makerFeePpm, takerFeePpm, quantaPerTickLot: unit } = market.spec;
  const fee = feeOfFill(size, order.price, unit, ppm(Math.max(makerFeePpm, takerFeePpm, 0)));
  const beyond = (buys ? 1 : -1) * (order.price - (market.markTicks ?? 0));
  const loss = BigInt(Math.max(0, beyond)) * BigInt(size) * BigInt(unit);
  const taken = sum(total.taken) - sum(own.taken) + initialOf(exposure, market, worst);
  const haircut = haircutOf(sum(total.frozen), state.config.frozenHaircutPpm);
  return owner.cash + sum(total.upnl) - taken - sum(total.cost) - haircut - fee - loss;
}

interface Limit {
  readonly lots: number;
  readonly price: PriceTicks;
}

test('an order is accepted with exactly its margin and refused with one Quantum less', () => {
  const random = seedrandom('one Quantum');
  let tried = 0;
  for (const [name, seed] of LIVES) {
    runFuzz(
      drawProfile(seed, { name, commands: COMMANDS }),
      { after: () => null },
      {
        onCommand: (_command, _outcome, engine) => {
          if (random() > 0.1 || !(engine instanceof Exchange)) return false;
          const state = stateOf(engine);
          for (const owner of users(state)) {
            const exposure = owner.opened[Math.floor(random() * owner.opened.length)];
            if (exposure === undefined || exposure.isolated || owner.clearingDebt > 0n) continue;
            const market = state.market(exposure.market);
            const { markTicks: mark } = market;
            if (mark === null) continue;
            const side = random() < 0.5 ? 1 : -1;
            const size = 1 + Math.floor(random() * 50);
            const held = side > 0 ? exposure.bidLots : exposure.askLots;
            if (side * exposure.positionLots + held + size <= 0) continue;
            if (
              side * exposure.positionLots < 0 &&
              held + size <= Math.abs(exposure.positionLots)
            ) {
              continue;
            }
            const price = priceTicks(Math.max(1, mark + Math.floor((random() - 0.5) * mark * 0.2)));
            const { cash } = owner;
            const free = scannedFree(state, owner, exposure, { lots: side * size, price });
            const accepts = (spare: bigint): boolean => {
              owner.cash = quanta(cash - free + spare);
              return affordsOrder(state, owner, exposure, market, {
                lots: lots(side * size),
                priceTicks: price,
                ioc: false,
                originatorFeePpm: ppm(0),
              });
            };
            expect([accepts(-1n), accepts(0n), accepts(1n)]).toEqual([false, true, true]);
            owner.cash = cash;
            tried += 1;
          }
          return false;
        },
      },
    );
  }
  expect(tried).toBeGreaterThan(200);
});

test('free collateral without a market leaves out that market only', () => {
  const { engine } = runFuzz(drawProfile('sums 2', { name: 'swarm', commands: 600 }), {
    after: () => null,
  });
  if (!(engine instanceof Exchange)) throw new Error('the run is of the engine');
  const state = stateOf(engine);
  for (const owner of users(state)) {
    const whole = crossFree(state, owner);
    for (const exposure of owner.opened) {
      const part = scannedPart(state, owner, exposure, state.market(exposure.market));
      if (isPositive(part.frozen)) continue;
      expect(crossFree(state, owner, exposure)).toBe(whole - sum(part.upnl) + sum(part.taken));
    }
  }
});

test.each(LIVES)('%s, %s: the chain hash does not depend on when sums start', (name, seed) => {
  const commands: Command[] = [];
  const profile = drawProfile(seed, { name, commands: COMMANDS });
  const { engine } = runFuzz(
    profile,
    { after: () => null },
    {
      onCommand: (command) => {
        commands.push(command);
        return false;
      },
    },
  );
  if (!(engine instanceof Exchange)) throw new Error('the run is of the engine');
  // Without a bound of the cash, every order and fill is decided by the exact rule.
  Object.defineProperty(Subaccount.prototype, 'cashAbout', { get: () => NaN, configurable: true });
  try {
    let exact = new Exchange(stateOf(engine).config);
    for (const [i, command] of commands.entries()) {
      exact.apply(command);
      // A restored exchange starts its sums again.
      if (i % 100 === 99) exact = exact.fork();
    }
    expect(exact.chainHash()).toBe(engine.chainHash());
  } finally {
    Object.defineProperty(Subaccount.prototype, 'cashAbout', CASH_ABOUT);
  }
});

const CASH_ABOUT = Object.getOwnPropertyDescriptor(Subaccount.prototype, 'cashAbout')!;
