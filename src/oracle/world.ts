/** State of the oracle: plain records in plain arrays. Ids are array indices. */
import type { OrderType } from '../engine/commands.ts';
import type { ExchangeConfig, MarketSpec, MarketStatus, SelfTradeMode } from '../engine/config.ts';
import type { Cause, EngineEvent, LedgerReason } from '../engine/events.ts';
import type { EndReason, RefusalCode } from '../engine/refusals.ts';
import type { OrderStatus } from '../engine/read/views.ts';
import { ofPpm, type Rate } from './numbers.ts';
import type { Holder, Movement, Print, RecordedMinute, Snapshot } from './records.ts';

/** An order from its acceptance or rejection on; never removed. */
export interface Order {
  readonly id: number;
  readonly sub: number;
  readonly market: number;
  readonly type: OrderType;
  /** Signed. */
  readonly lots: bigint;
  /** Filled lots, ≥ 0. */
  filled: bigint;
  readonly price: bigint;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly expiresMs: bigint;
  readonly clientId: string | null;
  readonly originator: string | null;
  readonly originatorFee: Rate;
  readonly trigger: bigint | null;
  readonly trailing: bigint | null;
  readonly period: bigint | null;
  /** An order of the exchange. */
  readonly engine: boolean;
  status: OrderStatus;
  reason: EndReason | null;
  /** On the book, in the queue of its price at `arrival`: lower is earlier. */
  resting: boolean;
  arrival: number;
  /** Related orders, by id. */
  group: number | null;
  sibling: number | null;
  parent: number | null;
  /** A take-profit or stop-loss that protects a position or a parent. */
  leg: boolean;
  /** Whether its parent may still fill (D-18). */
  parentLive: boolean;
  /** A pending trigger that the next check of its source includes. */
  armed: boolean;
  /** Start of a TWAP slice; null for others. */
  dueAt: bigint | null;
  /** Best mark since activation of a trailing stop; null before that. */
  best: bigint | null;
  readonly createdAt: bigint;
  updatedAt: bigint;
  updatedSeq: number;
}

export interface Position {
  lots: bigint;
  cost: bigint;
  /** Of an isolated position. */
  margin: bigint;
  /** Net funding received by the open part. */
  funding: bigint;
  fees: bigint;
  /** Size at the start of its liquidation (0: none), and the end of the pause. */
  began: bigint;
  resumesAt: bigint;
}

/** An account's own margin setting in a market. */
export interface Setting {
  isolated: boolean;
  /** In 1e-6; null without an own rate. */
  ratio: bigint | null;
}

export interface Sub {
  readonly id: number;
  readonly account: number;
  readonly address: string;
  readonly index: number;
  /** System accounts: vault, insurance, treasury, house, shortfall. */
  readonly system: boolean;
  readonly house: boolean;
  cash: bigint;
  netDeposits: bigint;
  /** Paid by others for its deficit while it had frozen positions. */
  clearingDebt: bigint;
  /** Deposits since the shortfall of this number began, less exempt withdrawals. */
  exempt: bigint;
  exemptEpoch: bigint;
  readonly positions: Position[];
  readonly settings: Setting[];
  readonly delegates: number[];
  readonly nonces: NonceScope;
}

/** Windows of used nonces, one per signing identity; `null` is the owner's signer set. */
export type NonceScope = { readonly signer: number | null; used: bigint[]; floor: bigint }[];

export interface Account {
  readonly address: string;
  selfTrade: SelfTradeMode | null;
  signers: readonly string[];
  quorum: number;
  readonly nonces: NonceScope;
}

export interface Tier {
  readonly floor: bigint;
  readonly initial: Rate;
  readonly maintenance: Rate;
}

/** The rates of a spec. */
export interface Rates {
  readonly maker: Rate;
  readonly taker: Rate;
  readonly band: Rate;
  readonly deviation: Rate;
  readonly tiers: readonly Tier[];
}

export interface Market {
  readonly id: number;
  /** Terms in force, and announced ones: both rates apply to new orders. */
  spec: MarketSpec;
  rates: Rates;
  nextSpec: MarketSpec | null;
  nextAt: bigint | null;
  /** Whether it was frozen at the last search for units below zero. */
  wasFrozen: boolean;
  /** Paid by insurance for deficits of this market in the hour of `World.insuranceHour`. */
  insurancePaid: bigint;
  /** The vault's closing order, by id. */
  vaultOrder: number | null;
  /** Open interest for margin rates during a tentative fill; null: the actual one. */
  interestTried: bigint | null;
  readonly unit: bigint;
  status: MarketStatus;
  /** R-5.3b: no trigger, funding or liquidation; and the start of the freeze. */
  frozen: boolean;
  frozenSince: bigint;
  /** Limit of open interest in lots; the first price converts a limit in money. */
  openInterestCap: bigint;
  capFixed: boolean;
  index: bigint | null;
  indexAt: bigint;
  mark: bigint | null;
  /** Time of the last recorded mark; null before the first. */
  markAt: bigint | null;
  /** Mark and lowest maintenance rate at the start of the instant. */
  tested: { readonly mark: bigint | null; readonly lowest: bigint };
  /** The mark at the start of the step; null if this step has not recomputed it. */
  markBefore: bigint | null;
  last: bigint | null;
  /** The last price at its last check. */
  lastSeen: bigint | null;
  /** Whether trigger source and mark changed since the last check, and that source. */
  sourceChanged: boolean;
  recomputed: boolean;
  lastSource: bigint | null;
  /**
   * EMA of the basis in 1e-6 ticks, its newest sample in half ticks, and the second of that sample.
   */
  ema: bigint;
  emaSample: bigint;
  emaSecond: bigint;
  emaDue: bigint | null;
  /** The book changed since the last check. */
  bookChanged: boolean;
  markDue: bigint | null;
  /** Premium samples in 1e-9 since the last settlement. */
  samples: bigint[];
  fundingRate: bigint;
  /** An instant may be processed more than once; it is sampled and settled once. */
  sampledAt: bigint;
  settledAt: bigint;
  /** All prints and all settlements ever. */
  readonly prints: Print[];
  /**
   * Whether there was a bar. A bar replaces its quotes, so their queue positions are not compared.
   */
  barred: boolean;
  readonly rateChanges: { readonly at: bigint; readonly rate: bigint }[];
  /** Recorded liquidity on the book. */
  readonly house: Segment[];
  readonly levels: HouseLevel[];
  /** own volume in 1/1000 lots, its step, recorded minutes, and levels not in the book. */
  own: bigint;
  ownStep: bigint;
  readonly minutes: RecordedMinute[];
  minutesCut: boolean;
  readonly withheld: { readonly side: bigint; readonly price: bigint; readonly lots: bigint }[];
  /** Fractions of a lot that the queue model carries, in 1e-9, by order. */
  readonly carried: bigint[];
  /** After a gap in the recording, until the next snapshot. */
  stale: boolean;
  /** Stated best bid + best ask while users' orders hold the levels away (decision 0143). */
  statedMid: bigint | null;
  /** Lots that users took and history stated again, ever, and how many times. */
  readonly diverged: { lots: bigint; levels: number };
}

export interface HouseLevel {
  readonly side: bigint;
  readonly price: bigint;
  /** Lots that users took and history still contains; those of them that it states again. */
  taken: bigint;
  restated: bigint;
  /** Those of them that the impact model keeps out of the book, and since when. */
  displaced: bigint;
  displacedAt: bigint;
  /** A decrease without a trade so far, from ahead of the first user order and from elsewhere. */
  creditFront: bigint;
  creditBack: bigint;
  creditUntil: bigint;
}

/** House volume between two orders of a level, or one historical order, in the same queue. */
export interface Segment {
  readonly side: bigint;
  readonly price: bigint;
  lots: bigint;
  readonly arrival: number;
  /** The venue's number of this order; null for unnamed volume. */
  readonly ref: number | null;
}

/** An event, in the fields that carry numbers. */
export interface Emitted {
  readonly kind: EngineEvent['kind'];
  readonly [field: string]: string | number | bigint | boolean | null;
}

/** An effect of an end or a fill on other orders, applied after the command's own work. */
export type Todo =
  | { readonly kind: 'leg'; readonly leg: Order }
  | { readonly kind: 'parentEnded'; readonly legs: readonly Order[] }
  | { readonly kind: 'sliceEnded' | 'sliceTook'; readonly slice: Order };

export interface World {
  readonly config: ExchangeConfig;
  readonly rates: {
    readonly vaultShare: Rate;
    readonly insuranceShare: Rate;
    readonly liquidationFee: Rate;
  };
  seq: number;
  now: bigint;
  /** Cause of current events. */
  cause: Cause;
  readonly accounts: Account[];
  readonly subs: Sub[];
  readonly markets: Market[];
  /** Every order ever, by id − 1, and the live ones. */
  readonly orders: Order[];
  live: Order[];
  arrivals: number;
  trades: number;
  supply: bigint;
  /** The UTC hour of: its start, its base, and payments. */
  insuranceHour: bigint;
  insuranceBase: bigint;
  insurancePaid: bigint;
  /** Number of the newest shortfall, and the time of insurance's next payment to it. */
  shortfallEpoch: bigint;
  payDownDue: bigint | null;
  /** Time of the vault's next offer of its positions. */
  vaultLeaveDue: bigint | null;
  /** Vault shares and their holders. */
  readonly holders: Holder[];
  readonly snapshots: Snapshot[];
  readonly movements: Movement[];
  /** Pauses between slices, and whether a risk check is due. */
  pauses: { readonly end: bigint; readonly position: Position }[];
  danger: boolean;
  /** Triggers of the current command, and queued effects of its ends and fills. */
  newTriggers: Order[];
  todo: Todo[];
  /** Of the last command, in order. */
  emitted: Emitted[];
  /** Subaccounts, and markets by their mark or index, that changed since the last comparison. */
  readonly touched: Set<number>;
  readonly marked: Set<number>;
  /** The last command after which state was compared, and orders with events since then. */
  comparedSeq: number;
  /** Market data is compared after each command up to this one. */
  dataUntil: number;
  toCompare: number[];
  /** Number of comparisons of state, which selects the rotating part. */
  comparisons: number;
}

export const VAULT = 0;
export const INSURANCE = 1;
export const TREASURY = 2;
export const HOUSE_MAKERS = 3;
export const HOUSE_TAKERS = 4;
export const SHORTFALL = 5;

export function newWorld(config: ExchangeConfig): World {
  const world: World = {
    config,
    rates: {
      vaultShare: ofPpm(config.vaultFeeSharePpm),
      insuranceShare: ofPpm(config.insuranceFeeSharePpm),
      liquidationFee: ofPpm(config.liquidationFeePpm),
    },
    seq: 0,
    now: BigInt(config.genesisTimeUs),
    cause: 'command',
    accounts: [],
    subs: [],
    markets: [],
    orders: [],
    live: [],
    arrivals: 0,
    trades: 0,
    supply: 0n,
    insuranceHour: -1n,
    insuranceBase: 0n,
    insurancePaid: 0n,
    shortfallEpoch: 0n,
    payDownDue: null,
    vaultLeaveDue: null,
    holders: [],
    snapshots: [],
    movements: [],
    pauses: [],
    danger: false,
    newTriggers: [],
    todo: [],
    emitted: [],
    touched: new Set(),
    marked: new Set(),
    comparedSeq: 0,
    dataUntil: 0,
    toCompare: [],
    comparisons: 0,
  };
  const house = (n: number): string => `0x${'0'.repeat(39)}${n}`;
  const { clsAccount, insuranceAccount, treasuryAccount, shortfallAccount } = config;
  const houses = [house(1), house(2)];
  const own = [clsAccount, insuranceAccount, treasuryAccount, ...houses, shortfallAccount];
  for (const address of own) openSub(world, address, 0);
  return world;
}

export const MINUTE = 60_000_000n;
export const HOUR = 60n * MINUTE;
export const DAY = 24n * HOUR;

// Lookup ---------------------------------------------------------------------------------------

/** Unwraps a value that exists by construction. */
export function must<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('the oracle has the record');
  return value;
}

export const subOf = (world: World, id: number): Sub => must(world.subs[id]);
export const marketOf = (world: World, id: number): Market => must(world.markets[id]);
export const orderOf = (world: World, id: number): Order => must(world.orders[id - 1]);

export function findSub(world: World, address: string, index: number): Sub | undefined {
  return world.subs.find((sub) => sub.address === address && sub.index === index);
}

export function findAccount(world: World, address: string): Account | undefined {
  return world.accounts.find((account) => account.address === address);
}

/** A system account, which has only subaccount 0 (D-37). */
export const isOwn = (world: World, address: string): boolean =>
  world.subs.some((sub) => sub.system && sub.address === address);

/** The account's dense id, created at its first credit or delegation. */
export function openAccount(world: World, address: string): number {
  const found = world.accounts.findIndex((account) => account.address === address);
  if (found >= 0) return found;
  world.accounts.push({ address, selfTrade: null, signers: [address], quorum: 1, nonces: [] });
  return world.accounts.length - 1;
}

/** a subaccount is created by its first credit. */
export function openSub(world: World, address: string, index: number): Sub {
  const found = findSub(world, address, index);
  if (found !== undefined) return found;
  const id = world.subs.length;
  const made: Sub = {
    id,
    account: openAccount(world, address),
    address,
    index,
    system: id <= SHORTFALL,
    house: id === HOUSE_MAKERS || id === HOUSE_TAKERS,
    cash: 0n,
    netDeposits: 0n,
    clearingDebt: 0n,
    exempt: 0n,
    exemptEpoch: 0n,
    positions: [],
    settings: [],
    delegates: [],
    nonces: [],
  };
  world.subs.push(made);
  return made;
}

export function positionOf(sub: Sub, market: number): Position {
  return (sub.positions[market] ??= {
    lots: 0n,
    cost: 0n,
    margin: 0n,
    funding: 0n,
    fees: 0n,
    began: 0n,
    resumesAt: 0n,
  });
}

export function settingOf(sub: Sub, market: number): Setting {
  return (sub.settings[market] ??= { isolated: false, ratio: null });
}

export const isIsolated = (sub: Sub, market: number): boolean => settingOf(sub, market).isolated;

/** Unfilled lots of an order, ≥ 0. */
export const leftOf = (order: Order): bigint =>
  (order.lots < 0n ? -order.lots : order.lots) - order.filled;

export const isLive = ({ status }: Order): boolean =>
  status === 'new' || status === 'partiallyFilled' || status === 'pending';

// Events ---------------------------------------------------------------------------------------

/** Emits an event with its time and cause. */
export function emit(world: World, emitted: Emitted): void {
  world.emitted.push(Object.assign(emitted, { timeUs: world.now, cause: world.cause }));
}

/** Runs `act` with another cause. */
export function because<T>(world: World, cause: Cause, act: () => T): T {
  const outer = world.cause;
  world.cause = cause;
  const answer = act();
  world.cause = outer;
  return answer;
}

/** a new UTC hour starts with insurance's balance before its next change. */
export function rollInsuranceHour(world: World): void {
  const hour = world.now - (world.now % HOUR);
  if (hour === world.insuranceHour) return;
  world.insuranceHour = hour;
  world.insuranceBase = subOf(world, INSURANCE).cash;
  world.insurancePaid = 0n;
  for (const market of world.markets) market.insurancePaid = 0n;
}

/** Adds a signed amount to cash. */
export function book(world: World, sub: Sub, delta: bigint, reason: LedgerReason): void {
  if (delta === 0n) return;
  if (sub.id === INSURANCE) rollInsuranceHour(world);
  sub.cash += delta;
  world.touched.add(sub.id);
  emit(world, {
    kind: 'balanceChanged',
    subaccount: sub.id,
    reason,
    deltaQuanta: delta,
    balanceQuanta: sub.cash,
  });
}

/** The same for the margin of an isolated position. */
export function bookMargin(
  world: World,
  sub: Sub,
  market: number,
  delta: bigint,
  reason: LedgerReason,
): void {
  if (delta === 0n) return;
  const position = positionOf(sub, market);
  position.margin += delta;
  world.touched.add(sub.id);
  emit(world, {
    kind: 'isolatedMarginChanged',
    subaccount: sub.id,
    market,
    reason,
    deltaQuanta: delta,
    marginQuanta: position.margin,
  });
}

export type Answer = 'ok' | RefusalCode;
