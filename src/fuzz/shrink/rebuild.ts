/**
 * Replaces the history of a failure by a few commands that build one of its units again: the
 * positions and the equity, to the Quantum, that a subaccount had at the failure. A failure that
 * depends on an amount of money depends on every fee and payment before it, so no part of its
 * history can be removed; a deposit gives the same amount at once.
 *
 * A unit is tested with each of its possible ends: a price that leads to the marks of the failure,
 * or the last commands of the script. The other side of its positions is one rich user, or one for
 * each opposite position: auto-deleveraging closes against these one by one.
 */
import { must } from '../../base/assert.ts';
import type { MarketSpec } from '../../engine/config.ts';
import type { Engine } from '../../engine/read/views.ts';
import {
  PPM,
  priceTicks,
  subaccountId,
  type MarketId,
  type SubaccountId,
} from '../../num/units.ts';
import { lastSteps, Opening, OWN, RICH } from './opening.ts';
import { Binder, play, type Script } from './script.ts';
import type { Tester } from './tester.ts';

/** A rebuilt unit has about as many commands. */
const LONG = 10;
/** Last commands of the script that may follow the rebuilt unit. */
const ENDINGS = [1, 3];

interface Position {
  readonly market: MarketId;
  readonly lots: number;
  /** Mark before and after the last command. */
  readonly fromTicks: number;
  readonly toTicks: number;
}

interface Unit {
  readonly owner: SubaccountId;
  readonly positions: readonly Position[];
  /** At the marks after the last command. */
  readonly equity: bigint;
}

export function rebuildUnits(script: Script, tester: Tester): Script {
  if (script.steps.length < LONG) return script;
  const { units, ...ends } = unitsAtEnd(script, tester);
  for (const against of ['one', 'each'] as const) {
    for (const unit of units) {
      for (const ending of [0, ...ENDINGS]) {
        if (tester.cancelled) return script;
        const rebuilt = rebuild(script, tester, { ...ends, unit, ending, against });
        const failing = rebuilt === null ? null : tester.failing(rebuilt);
        if (failing !== null && failing.steps.length < script.steps.length) return failing;
      }
    }
  }
  return script;
}

interface Ends {
  readonly units: readonly Unit[];
  /** Units before the last command, those of the exchange last. */
  readonly holders: readonly UnitFigures[];
  readonly specs: readonly MarketSpec[];
}

/** Units with positions after the last command, and before it. */
function unitsAtEnd(script: Script, tester: Tester): Ends {
  const engine = tester.newEngine(script.config);
  const binder = new Binder(script, engine);
  play(engine, script.steps.slice(0, -1), binder);
  const before = unitFigures(engine, script);
  const marks = engine.markets().map(({ markTicks }) => markTicks ?? 0);
  play(engine, script.steps.slice(-1), binder);
  const after = unitFigures(engine, script);
  const markets = engine.markets();
  const positionOf = ({ market, lots: size }: Held): Position => {
    const toTicks = must(markets[market], 'a market of a position').markTicks ?? 0;
    return { market, lots: size, fromTicks: marks[market] ?? toTicks, toTicks };
  };
  const units = after.map(({ owner, equity, held }): Unit => ({
    owner,
    positions: held.map(positionOf),
    equity,
  }));
  for (const { owner, equity, held } of before) {
    const positions = held.map(positionOf);
    let moved = equity;
    for (const { market, lots: size, fromTicks, toTicks } of positions) {
      const { spec } = must(markets[market], 'a market of a position');
      moved += BigInt(size) * BigInt(toTicks - fromTicks) * unitOf(spec);
    }
    units.push({ owner, positions, equity: moved });
  }
  const holders = before.toSorted((a, b) => Number(a.isOfExchange) - Number(b.isOfExchange));
  return { units, holders, specs: markets.map(({ spec }) => spec) };
}

interface Held {
  readonly market: MarketId;
  readonly lots: number;
}

interface UnitFigures {
  readonly owner: SubaccountId;
  readonly isOfExchange: boolean;
  readonly equity: bigint;
  readonly held: readonly Held[];
}

/**
 * Cross and isolated units. An isolated one is rebuilt as a cross one, and a unit of the exchange
 * as one of the first user.
 */
function unitFigures(engine: Engine, { names }: Script): UnitFigures[] {
  return names.subaccounts.flatMap(({ address, index }, i) => {
    const id = engine.subaccountIdOf(address, index);
    if (id === undefined) return [];
    const owner = subaccountId(Math.max(i, OWN));
    const isOfExchange = i < OWN;
    const positions = engine.positions(id);
    const cross = positions.filter(({ isolated }) => !isolated);
    const apart = positions.filter(({ isolated }) => isolated);
    const units = apart.map((position) => ({
      owner,
      isOfExchange,
      equity: position.isolatedMarginQuanta + position.upnlQuanta,
      held: [{ market: position.market, lots: position.lots }],
    }));
    if (cross.length === 0) return units;
    const held = cross.map((position) => ({ market: position.market, lots: position.lots }));
    const { crossEquityQuanta: equity } = engine.margin(id);
    return [{ owner, isOfExchange, equity, held }, ...units];
  });
}

interface Rebuild extends Omit<Ends, 'units'> {
  readonly unit: Unit;
  /** The other side: one user, or each owner of an opposite position. */
  readonly against: 'one' | 'each';
  /** Number of the script's last commands that follow; 0: the marks after them instead. */
  readonly ending: number;
}

/** A script that builds the unit; null if there is no other user or no positive deposit. */
function rebuild(script: Script, tester: Tester, target: Rebuild): Script | null {
  const rich = buildWith(script, target, RICH);
  if (rich === null) return null;
  const engine = tester.newEngine(script.config);
  play(engine, rich.steps, new Binder(rich, engine));
  const owner = must(script.names.subaccounts[target.unit.owner], 'the unit has an owner');
  const id = engine.subaccountIdOf(owner.address, owner.index);
  if (id === undefined) return null;
  // At the marks before the last commands, if these follow.
  let { equity } = target.unit;
  if (target.ending > 0) {
    for (const { market, lots: size, fromTicks, toTicks } of target.unit.positions) {
      const spec = must(target.specs[market], 'a market of a position');
      equity -= BigInt(size) * BigInt(toTicks - fromTicks) * unitOf(spec);
    }
  }
  const deposit = RICH + equity - engine.margin(id).crossEquityQuanta;
  if (deposit <= 0n) return null;
  const built = buildWith(script, target, deposit);
  if (built === null || target.ending === 0) return built;
  return { ...built, steps: [...built.steps, ...lastSteps(script, target.ending)] };
}

/** Listings, deposits, prices at which the unit can open, its orders, and the final prices. */
function buildWith(script: Script, target: Rebuild, deposit: bigint): Script | null {
  const { unit, specs, ending } = target;
  const { subaccounts } = script.names;
  const owner = must(subaccounts[unit.owner], 'the unit has an owner');
  const users = subaccounts
    .map((_, id) => subaccountId(id))
    .filter((id) => id >= OWN && subaccounts[id]?.address !== owner.address);
  const shares = unit.positions.map((position) => sharesOf(position, target));
  const others = users.slice(0, Math.max(...shares.map(({ length }) => length)));
  if (others.length === 0) return null;
  const opening = new Opening(script.config);
  for (const { market } of unit.positions) {
    opening.list(must(specs[market], 'a market of a position'));
  }
  opening.pay(owner, deposit);
  for (const id of others) opening.pay(must(subaccounts[id], 'a user'), RICH);
  const endOf = ({ fromTicks, toTicks }: Position): number => (ending > 0 ? fromTicks : toTicks);
  for (const [i, position] of unit.positions.entries()) {
    const { market } = position;
    const spec = must(specs[market], 'a market of a position');
    const price = priceTicks(openingTicks(position.lots, endOf(position), spec));
    opening.setPrices(spec, market, { indexTicks: price, markTicks: price });
    for (const [n, part] of must(shares[i], 'shares of a position').entries()) {
      const other = must(others[n % others.length], 'another user');
      opening.position([unit.owner, other], [market, spec], part, price);
    }
  }
  for (const position of unit.positions) {
    const { market } = position;
    const spec = must(specs[market], 'a market of a position');
    const price = priceTicks(endOf(position));
    opening.setPrices(spec, market, { indexTicks: price, markTicks: price });
  }
  return { ...script, steps: opening.stepsFor(script) };
}

/** The parts of a position by user on the other side, the exchange last; signed. */
function sharesOf({ market, lots: size }: Position, { against, holders }: Rebuild): number[] {
  if (against === 'one') return [size];
  const side = Math.sign(size);
  const opposite = holders.flatMap(({ held }) =>
    held.filter((one) => one.market === market && one.lots * side < 0).map(({ lots }) => -lots),
  );
  const shares: number[] = [];
  let left = size;
  for (const lots of opposite) {
    const share = side * Math.min(left * side, lots * side);
    if (share !== 0) shares.push(share);
    left -= share;
  }
  return shares;
}

const unitOf = (spec: MarketSpec): bigint => BigInt(spec.quantaPerTickLot);

/** A price from which the unit can open a position that is in danger at `endTicks`. */
function openingTicks(size: number, endTicks: number, { tiers }: MarketSpec): number {
  const initial = Math.max(...tiers.map(({ initialMarginPpm }) => initialMarginPpm)) / PPM;
  const rate = Math.min(0.9, initial * 1.25 + 0.02);
  return size > 0
    ? Math.ceil(endTicks / (1 - rate))
    : Math.max(1, Math.floor(endTicks / (1 + rate)));
}
