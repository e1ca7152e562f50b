/**
 * Runs with a known decisive command: before it the account is far from liquidation, and after it
 * the drift of the market liquidates it soon.
 */
import { assert } from '../../src/base/assert.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import type { NewOrder } from '../../src/engine/commands.ts';
import { marketId, ppm, priceTicks, lots, type SubaccountId } from '../../src/num/units.ts';
import { subaccountOf } from '../../src/time-machine/step-context.ts';
import type { Timeline } from '../../src/time-machine/timeline.ts';
import {
  Inevitability,
  type InevitabilityOptions,
} from '../../src/time-machine/what-if/inevitability.ts';
import { World, type WorldOptions } from './journals.ts';

export const FAR_MS = 9_007_199_254_741n;
/** Price moves of a future: the drift then exceeds the buffer that each decisive command leaves. */
export const HORIZON = 100;

export interface Built {
  readonly name: string;
  readonly timeline: Timeline;
  readonly victim: SubaccountId;
  readonly decisive: number;
  readonly liquidation: number;
  readonly horizon: number;
}

export interface DriftOptions extends WorldOptions {
  readonly sign?: 1 | -1;
  readonly markets?: number;
}

/** A market that drifts by 2 ticks a move, down or up. */
export class Drift {
  readonly world: World;
  readonly maker: SubaccountId;
  private readonly sign: 1 | -1;
  private readonly random;
  /** Markets that move with the first. */
  private readonly others: number;
  ticks = 2000;
  /** Added to the price of the other markets. */
  offset = 0;

  constructor(name: string, { sign = -1, markets = 1, ...options }: DriftOptions = {}) {
    this.sign = sign;
    this.world = new World(options);
    this.random = new RandomStreams(name).stream('walk');
    this.maker = this.world.user(10_000_000);
    for (let i = 1; i < markets; i++) this.world.list(`MARKET${String(i)}`);
    this.others = markets - 1;
    this.price();
  }

  /** The oracle's price of all markets. */
  price(): number {
    for (let i = 1; i <= this.others; i++) this.world.price(this.ticks + this.offset, i);
    return this.world.price(this.ticks).seq;
  }

  move(count: number): void {
    for (let i = 0; i < count; i++) {
      this.ticks += this.sign * 2 + this.random.below(7) - 3;
      this.price();
    }
  }

  /** The account buys (or sells) from the maker at the current price. */
  trade(account: SubaccountId, size: number, market = 0): number {
    this.world.order(this.maker, -size, this.ticks, { market });
    return this.world.order(account, size, this.ticks, { ioc: true, market }).seq;
  }
}

/** Equity above the maintenance requirement, in whole units. */
export function spareOf({ world }: Drift, account: SubaccountId): number {
  const { accountValueQuanta, maintenanceRequirementQuanta } = world.exchange.margin(account);
  return Math.floor(Number(accountValueQuanta - maintenanceRequirementQuanta) / 1e6);
}

/** Equity so that the account is `ticks` away from liquidation, for a position of one lot. */
export function withdrawTo(drift: Drift, account: SubaccountId, buffer: number): number {
  return drift.world.withdraw(account, spareOf(drift, account) - buffer).seq;
}

export interface Planted {
  readonly name: string;
  readonly build: (drift: Drift) => { readonly victim: SubaccountId; readonly decisive: number };
  readonly options?: DriftOptions;
}

/** An account that is long one lot, and some moves later. */
export function longAccount(drift: Drift, deposit: number, moves: number): SubaccountId {
  const account = drift.world.user(deposit);
  drift.trade(account, 1);
  drift.move(moves);
  return account;
}

/** Places orders of an account in one command. */
export function placeOrders(
  { world }: Drift,
  subaccount: SubaccountId,
  orders: readonly NewOrder[],
): number {
  const timeUs = world.time;
  return world.apply({ kind: 'placeOrders', timeUs, subaccount, delegate: null, orders }).seq;
}

/** A long account cancels the order that protects it. */
export function cancelProtection(
  drift: Drift,
  terms: (drift: Drift) => Partial<NewOrder>,
): { readonly victim: SubaccountId; readonly decisive: number } {
  const { world, maker } = drift;
  const victim = world.user(900);
  drift.move(50);
  drift.trade(victim, 4);
  world.order(maker, 100, drift.ticks - 100);
  const order = { lots: lots(-4), reduceOnly: true, nonce: 2_000_000n, ...terms(drift) };
  const placed = placeOrders(drift, victim, [newOrder(order)]);
  const id = world.exchange.lastOrderId;
  drift.move(6);
  assert(world.seq === placed + 6, 'the order waits: each later command is a move');
  return { victim, decisive: world.cancel({ id }).seq };
}

/** Withdrawals keep the initial margin, so the buffer is at least half of it. */
export const INITIAL_ROOM = 105;

/** An order of a group, of one lot unless it says otherwise. */
export function newOrder(terms: Partial<NewOrder> & Pick<NewOrder, 'nonce'>): NewOrder {
  return {
    market: marketId(0),
    orderType: 'limit',
    lots: lots(1),
    priceTicks: priceTicks(1),
    ioc: true,
    postOnly: false,
    reduceOnly: false,
    expiresAtMs: FAR_MS,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
    triggerTicks: null,
    trailingPpm: null,
    periodMs: null,
    parent: null,
    attached: false,
    ...terms,
  };
}

export function built({ name, build, options }: Planted): Built {
  const drift = new Drift(name, options);
  // Each market has its own moves.
  const horizon = HORIZON * (options?.markets ?? 1);
  const { victim, decisive } = build(drift);
  drift.move(90);
  const timeline = drift.world.open();
  timeline.index();
  for (let seq = decisive; seq <= drift.world.seq; seq++) {
    const { step } = timeline.seek(seq);
    const isHit = step?.events.some(
      (event) => event.kind === 'liquidationStep' && event.subaccount === victim,
    );
    if (isHit === true) return { name, timeline, victim, decisive, liquidation: seq, horizon };
  }
  throw new Error(`${name}: the account is not liquidated`);
}

export function found(
  { timeline, victim, liquidation, horizon }: Built,
  options: Partial<InevitabilityOptions> = {},
): number | null {
  const curve = new Inevitability(timeline, {
    subaccount: victim,
    liquidationSeq: liquidation,
    forks: 200,
    horizon,
    ...options,
  });
  let { decisiveSeq, done } = curve.run(1);
  while (!done) ({ decisiveSeq, done } = curve.run(8));
  return decisiveSeq;
}

export const isRight = ({ decisive }: Built, seq: number | null): boolean =>
  seq !== null && Math.abs(seq - decisive) <= 1;

/** The last command of the account before its liquidation. */
export function lastOwnCommand({ timeline, victim, liquidation }: Built): number | null {
  for (let seq = liquidation - 1; seq > 0; seq--) {
    const { engine, step } = timeline.seek(seq);
    if (step !== null && subaccountOf(engine, step.command) === victim) return seq;
  }
  return null;
}
