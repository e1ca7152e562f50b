/**
 * Replaces the history of a failure by a few commands that repeat its last fills between rich
 * users. A reduce-only order, a trigger or a liquidation needs the positions that it meets, and
 * these need the fills before them; a plain limit order of the size that was filled needs none.
 * If the failure needs the positions, the owners trade for them first.
 */
import { must } from '../../base/assert.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { MarketView } from '../../engine/read/views.ts';
import { subaccountId, type OrderId, type SubaccountId } from '../../num/units.ts';
import { Opening, OWN, RICH, scriptMarket, scriptOwner, scriptPositions } from './opening.ts';
import { Binder, play, type Script } from './script.ts';
import type { Tester } from './tester.ts';

/** A rebuilt history has about as many commands. */
const LONG = 20;
/** Last commands of the script whose fills are repeated. */
const ENDINGS = [1, 3, 10];

interface Ways {
  /** The owners trade for their former positions first. */
  readonly withPositions: boolean;
  /** Makers' orders have the lots that remained unfilled. */
  readonly withRest: boolean;
}

const WAYS: readonly Ways[] = [
  { withPositions: false, withRest: true },
  { withPositions: false, withRest: false },
  { withPositions: true, withRest: true },
];

/** Its owner is an index of the script. */
type Fill = Extract<EngineEvent, { kind: 'orderFilled' }>;

interface Last {
  readonly fills: readonly Fill[];
  /** Markets before the fills. */
  readonly markets: readonly MarketView[];
  /** Positions before the fills. */
  readonly positions: ReadonlyMap<SubaccountId, readonly Pick<Fill, 'market' | 'lots'>[]>;
}

export function rebuildFills(script: Script, tester: Tester): Script {
  if (script.steps.length < LONG) return script;
  for (const ending of ENDINGS) {
    const last = lastFills(script, tester, ending);
    if (last.fills.length === 0) continue;
    for (const ways of WAYS) {
      if (tester.cancelled) return script;
      const failing = tester.failing(rebuild(script, last, ways));
      if (failing !== null && failing.steps.length < script.steps.length) return failing;
    }
  }
  return script;
}

/** Fills of the last commands, whose owners are indices of the script. */
function lastFills(script: Script, tester: Tester, ending: number): Last {
  const { names, config, steps } = script;
  const engine = tester.newEngine(config);
  const binder = new Binder(script, engine);
  play(engine, steps.slice(0, -ending), binder);
  const markets = engine.markets();
  const positions = scriptPositions(names, engine);
  const fills: Fill[] = [];
  play(engine, steps.slice(-ending), binder, (event) => {
    if (event.kind !== 'orderFilled') return;
    const owner = scriptOwner(names, engine, event.subaccount);
    fills.push({ ...event, subaccount: subaccountId(owner) });
  });
  return { fills, markets, positions };
}

/** Listings, deposits, prices, positions if wanted, and orders. */
function rebuild(script: Script, last: Last, { withPositions, withRest }: Ways): Script {
  const { names, config } = script;
  const { fills } = last;
  const owners = new Set(fills.map(({ subaccount }) => subaccount));
  const users = names.subaccounts.map((_, id) => subaccountId(id)).slice(OWN);
  // A user without a fill has the other side of positions and of fills with recorded liquidity, and
  // the fills of the exchange itself.
  const other = must(users.find((id) => !owners.has(id)) ?? users[0], 'a user of a script');
  const userOf = (owner: SubaccountId): SubaccountId => (owner >= OWN ? owner : other);
  const opening = new Opening(config);
  const markets = last.markets.filter(({ id }) => fills.some(({ market }) => market === id));
  for (const { spec, markTicks } of markets) opening.list(spec, markTicks);
  for (const id of new Set([...[...owners].map(userOf), other])) {
    opening.pay(must(names.subaccounts[id], 'a user of a script'), RICH);
  }
  for (const view of markets) opening.setPrices(view.spec, scriptMarket(names, view.spec), view);
  for (const { id, spec, markTicks, indexTicks } of withPositions ? markets : []) {
    const price = markTicks ?? indexTicks;
    for (const owner of owners) {
      const held = last.positions.get(owner)?.find(({ market }) => market === id);
      if (held === undefined || price === null || owner === other) continue;
      opening.position([owner, other], [scriptMarket(names, spec), spec], held.lots, price);
    }
  }
  for (const { subaccount, market, size, priceTicks } of ordersOf(fills, other, withRest)) {
    const { spec } = must(last.markets[market], 'a market of a fill');
    opening.order(userOf(subaccount), scriptMarket(names, spec), size, priceTicks);
  }
  return { ...script, steps: opening.stepsFor(script) };
}

interface Order extends Pick<Fill, 'subaccount' | 'market' | 'priceTicks'> {
  readonly size: number;
}

/**
 * Takers' orders of the sizes that were filled, each after the makers that it meets. `other` is on
 * the side that a fill with recorded liquidity lacks.
 */
function ordersOf(fills: readonly Fill[], other: SubaccountId, withRest: boolean): Order[] {
  const byOrder = new Map<OrderId, Fill[]>();
  for (const fill of fills) {
    const others = byOrder.get(fill.orderId);
    if (others === undefined) byOrder.set(fill.orderId, [fill]);
    else others.push(fill);
  }
  const placed = new Set<OrderId>();
  const orders: Order[] = [];
  const place = (orderId: OrderId): void => {
    if (placed.has(orderId)) return;
    placed.add(orderId);
    const own = must(byOrder.get(orderId), 'fills of an order');
    const last = must(own.at(-1), 'a last fill');
    const size = own.reduce((sum, { lots }) => sum + lots, 0);
    const rest = withRest && last.role === 'maker' ? last.remainingLots : 0;
    orders.push({ ...last, size: size + rest });
  };
  const sideOf = (fill: Fill, role: Fill['role']): Fill | undefined =>
    fills.find((one) => one.tradeId === fill.tradeId && one.role === role);
  const byOther = (fill: Fill): void => {
    orders.push({ ...fill, subaccount: other, size: -fill.lots });
  };
  for (const fill of fills) {
    if (fill.role === 'maker') {
      if (sideOf(fill, 'taker') !== undefined) continue;
      place(fill.orderId);
      byOther(fill);
    } else if (!placed.has(fill.orderId)) {
      for (const part of must(byOrder.get(fill.orderId), 'fills of an order')) {
        const maker = sideOf(part, 'maker');
        if (maker === undefined) byOther(part);
        else place(maker.orderId);
      }
      place(fill.orderId);
    }
  }
  return orders;
}
