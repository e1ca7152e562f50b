/**
 * Serialisation of the whole exchange to canonical bytes and back. `archiveLive` covers the state
 * that decides the future: its SHA-256 is the state hash. `archiveHistory` covers what only readers
 * use. Neither contains slot numbers, the sequence number or the chain hash, which describe a
 * position in a journal rather than state.
 */
import { unreachable } from '../../base/assert.ts';
import {
  ArchiveError,
  archiveList,
  ArchiveReader,
  ArchiveWriter,
  wordOf,
  type Archive,
  type ArchivePart,
} from '../../base/archive.ts';
import { sha256Hex } from '../../base/sha256.ts';
import {
  lots,
  orderId,
  ppm,
  priceTicks,
  quanta,
  seq,
  timeUs,
  tradeId,
  type AccountId,
  type Address,
  type MarketId,
  type OrderId,
  type SubaccountId,
} from '../../num/units.ts';
import {
  archiveOperatorEntry,
  archiveTransfer,
  archiveVaultSnapshot,
} from '../accounts/history-archive.ts';
import { archiveConfig, archiveSpec } from './config-archive.ts';
import type { Account } from '../accounts/accounts.ts';
import type { Subaccount } from '../accounts/subaccount.ts';
import type { OrderRows } from '../book/order-rows.ts';
import { NONE, ORDER_STATUSES, OrderTable } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { ExchangeConfig, RetentionConfig } from '../config.ts';
import { addMarket } from '../market/list.ts';
import type { Market } from '../market/market.ts';
import { watchExpiry } from '../orders/expiry.ts';
import { ownOrder } from '../orders/owned-orders.ts';
import { widenBounds } from '../orders/resting.ts';
import { Special } from '../orders/conditional.ts';
import { sliceDueUs, watchSlice } from '../orders/twap.ts';
import { ORDER_TYPE_RULES, ORDER_TYPES } from '../orders/order-types.ts';
import { arm, waitsIn } from '../orders/pending.ts';
import { END_REASONS } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';

const FORMAT = 'orrery-snapshot-3';
const LIVE_FORMAT = 'orrery-live-snapshot-3';

/**
 * - `whole`: everything.
 * - `live`: without history, for a copy that takes commands but has no readers of the past. State
 *   hash, events and chain hash are those of the whole.
 * - `prices`: without used nonces and ended orders, for a copy that gets prices only. The state
 *   hash differs; events and chain hash do not.
 */
export type SnapshotScope = 'whole' | 'live' | 'prices';

/** Of an order with a clientId and its part of a queue, about; untouched pages cost nothing. */
const EXPECTED_BYTES = 96;

export function snapshotOf(state: ExchangeState, scope: SnapshotScope = 'whole'): Uint8Array {
  const io = new ArchiveWriter(scope === 'prices', EXPECTED_BYTES * state.orders.size);
  io.section(scope === 'live' ? LIVE_FORMAT : FORMAT);
  archiveConfig(io, state.config);
  io.int(state.seq);
  io.text(state.hash.hex());
  archiveLive(io, state);
  if (scope !== 'live') archiveHistory(io, state);
  return io.bytes();
}

/**
 * Loads a snapshot into the state that `create` makes for its configuration. Throws `ArchiveError`
 * with the byte offset if the bytes are not a snapshot of this format.
 */
export function restoreState<S extends ExchangeState>(
  bytes: Uint8Array,
  create: (config: ExchangeConfig) => S,
  scope: 'whole' | 'live' = 'whole',
): S {
  const io = new ArchiveReader(bytes);
  io.section(scope === 'live' ? LIVE_FORMAT : FORMAT);
  const config: ExchangeConfig = archiveConfig(io, null);
  const state = create(config);
  state.seq = seq(io.int());
  state.hash.restore(io.text());
  archiveLive(io, state);
  if (scope !== 'live') archiveHistory(io, state);
  io.end();
  return state;
}

const NOTHING_KEPT: RetentionConfig = {
  tradesPerMarket: 0,
  candleMinutesPerMarket: 0,
  endedOrdersPerAccount: 0,
  transfersPerSubaccount: 0,
  vaultSnapshotsPerHolder: 0,
};

/** Retention settings have no effect on the future, so the state hash excludes them. */
export function stateHashOf(state: ExchangeState): string {
  const io = new ArchiveWriter();
  archiveConfig(io, { ...state.config, retention: NOTHING_KEPT });
  archiveLive(io, state);
  return sha256Hex(io.bytes());
}

export function archiveLive(io: Archive, state: ExchangeState): void {
  io.section('exchange');
  state.nowUs = timeUs(io.int(state.nowUs));
  state.nextOrderId = orderId(io.int(state.nextOrderId));
  state.nextTradeId = tradeId(io.int(state.nextTradeId));
  state.supply = quanta(io.bigint(state.supply));
  state.vaultShares = io.bigint(state.vaultShares);
  state.vaultSnapshotUs = archiveDue(io, state.vaultSnapshotUs);
  state.vaultLeaveUs = archiveDue(io, state.vaultLeaveUs);
  state.shortfallEpoch = io.int(state.shortfallEpoch);
  state.shortfallSinceUs = timeUs(io.int(state.shortfallSinceUs));
  state.shortfallDueUs = archiveDue(io, state.shortfallDueUs);
  state.exemptTotal = quanta(io.bigint(state.exemptTotal));
  state.exemptTotalEpoch = io.int(state.exemptTotalEpoch);
  state.insuranceHourUs = timeUs(io.int(state.insuranceHourUs));
  state.insuranceBase = quanta(io.bigint(state.insuranceBase));
  state.insurancePaid = quanta(io.bigint(state.insurancePaid));
  state.accounts.archive(io);
  const markets = io.int(state.markets.length);
  for (let i = 0; i < markets; i++) {
    const spec = archiveSpec(io, state.markets[i]?.spec ?? null);
    const market = state.markets[i] ?? addMarket(state, spec);
    if (io.part?.('market', market) !== true) market.archive(io, state.nowUs);
  }
  if (io.part?.('orders', state.orders) !== true) archiveOrders(io, state);
  for (const market of state.markets) {
    if (io.part?.('queues', market) !== true) archiveQueues(io, state, market);
  }
  for (const market of state.markets) {
    if (io.part?.('triggers', market) !== true) archiveTriggers(io, state, market);
  }
  if (io.loading) deriveRisk(state);
}

/** A time, or Infinity. */
function archiveDue(io: Archive, dueUs: number): number {
  return io.optionalInt(dueUs === Infinity ? null : dueUs) ?? Infinity;
}

/** Derives holders, running pauses and empty liquidation bounds. */
function deriveRisk(state: ExchangeState): void {
  for (const subaccount of state.accounts.subaccounts) {
    // A debt without positions waits for insurance (D-32).
    if (subaccount.cash < 0n) state.markForRiskCheck(subaccount);
    for (const exposure of subaccount.exposures) {
      if (exposure === undefined || exposure.positionLots === 0) continue;
      state.market(exposure.market).holders.set(subaccount.id, exposure.positionLots);
      state.markForRiskCheck(subaccount);
      if (exposure.liquidationResumesUs > state.nowUs) {
        state.liquidationPauses.push(exposure.liquidationResumesUs, subaccount.id);
      }
    }
  }
}

/** Most orders for which room is made before they are read: the count may be damaged. */
const RESERVED_ORDERS = 1 << 16;

/**
 * One part of the live state. Its bytes depend on `of` and the objects that it refers to; those of
 * a market on the time too, and those of queues and triggers on the orders.
 */
export function archivePart(
  io: Archive,
  state: ExchangeState,
  kind: ArchivePart,
  of: object,
): void {
  switch (kind) {
    case 'account':
      (of as Account).archive(io);
      return;
    case 'subaccount':
      (of as Subaccount).archive(io);
      return;
    case 'market':
      (of as Market).archive(io, state.nowUs);
      return;
    case 'orders':
      archiveOrders(io, state);
      return;
    case 'queues':
      archiveQueues(io, state, of as Market);
      return;
    case 'triggers':
      archiveTriggers(io, state, of as Market);
      return;
    default:
      unreachable(kind);
  }
}

/** Live orders in ascending id; book, bounds, clientIds and timers are rebuilt from them. */
function archiveOrders(io: Archive, state: ExchangeState): void {
  io.section('orders');
  const table = state.orders;
  const slots = io.loading ? [] : table.orderSlots();
  const count = io.int(slots.length);
  if (io.loading) table.reserve(Math.min(count, RESERVED_ORDERS));
  for (let i = 0; i < count; i++) {
    const slot = archiveOrder(io, table, slots[i] ?? NONE);
    if (!io.loading) continue;
    const subaccount = state.subaccount(table.subaccount(slot));
    ownOrder(state, subaccount, subaccount.exposure(table.market(slot)), slot);
    const clientId = table.clientIds.hash(slot, subaccount.account);
    if (clientId !== null) state.clientIds.add(clientId, slot);
    watchExpiry(state, slot, table.expiresAtMs(slot));
    const conditional = table.conditional(slot);
    if (conditional !== null && table.isWaiting(slot)) watchAgain(state, slot, conditional);
  }
}

/** Puts a pending order back into its index; trailing stops are restored with their groups. */
function watchAgain(state: ExchangeState, slot: number, conditional: Special): void {
  const table = state.orders;
  if (ORDER_TYPE_RULES[table.orderType(slot)].waitsFor === 'time') {
    const slice = table.id(slot) - (conditional.group?.orderId ?? table.id(slot));
    watchSlice(state, slot, sliceDueUs(table.createdAtUs(slot), conditional.periodMs ?? 0n, slice));
  }
  if (!conditional.armed || conditional.following) return;
  arm(state, state.market(table.market(slot)), slot, conditional);
}

/** Active trailing stops of a market, by their extremes. */
function archiveTriggers(io: Archive, state: ExchangeState, market: Market): void {
  io.section('triggers');
  const distanceOf = (id: OrderId): number =>
    state.orders.conditional(state.orders.slotOf(id))?.trailingPpm ?? 0;
  for (const index of [market.triggers.selling, market.triggers.buying]) {
    index.archive(io, waitsIn(state), distanceOf);
  }
}

/** Writes a row of `table`, or appends the row that is read to `target`. Returns the row. */
function archiveOrder(
  io: Archive,
  target: OrderTable,
  saved: number,
  table: OrderRows = target,
): number {
  const has = saved !== NONE;
  const id = orderId(io.int(has ? table.id(saved) : 0));
  const subaccount = io.int(has ? table.subaccount(saved) : 0) as SubaccountId;
  const market = io.int(has ? table.market(saved) : 0) as MarketId;
  const type = io.int(has ? ORDER_TYPES.indexOf(table.orderType(saved)) : 0);
  const size = lots(io.int(has ? table.lots(saved) : 0));
  const left = io.int(has ? table.left(saved) : 0);
  const price = priceTicks(io.int(has ? table.price(saved) : 0));
  const ioc = io.bool(has && table.isIoc(saved));
  const postOnly = io.bool(has && table.isPostOnly(saved));
  const reduceOnly = io.bool(has && table.isReduceOnly(saved));
  archiveWide(io, saved, table);
  const delegate = io.optionalInt(has ? table.delegate(saved) : null) as AccountId | null;
  const clientId = io.optionalText(has ? table.clientId(saved) : null);
  const originator = io.optionalText(has ? table.originator(saved) : null) as Address | null;
  const fee = ppm(io.int(has ? table.originatorFeePpm(saved) : 0));
  const created = timeUs(io.int(has ? table.createdAtUs(saved) : 0));
  const updated = timeUs(io.int(has ? table.updatedAtUs(saved) : 0));
  const lastSeq = seq(io.int(has ? table.lastUpdateSeq(saved) : 0));
  const status = io.int(has ? ORDER_STATUSES.indexOf(table.status(saved)) : 0);
  const reasonOf = has ? table.reason(saved) : null;
  const reason = io.int(reasonOf === null ? 0 : END_REASONS.indexOf(reasonOf) + 1);
  const waiting = io.bool(has && table.isWaiting(saved));
  const conditionalOf = has ? table.conditional(saved) : null;
  const conditional = io.bool(conditionalOf !== null) ? (conditionalOf ?? new Special()) : null;
  conditional?.archive(io);
  if (!io.loading) return saved;
  if (id < 1 || target.slotOf(id) !== NONE) {
    throw new ArchiveError(`no order of its own has the id ${String(id)}`);
  }
  const slot = target.add(
    id,
    {
      subaccount,
      market,
      orderType: wordOf(ORDER_TYPES, type),
      lots: size,
      priceTicks: price,
      ioc,
      postOnly,
      reduceOnly,
      nonce: wide[NONCE] ?? 0n,
      expiresAtMs: wide[EXPIRY] ?? 0n,
      delegate,
      clientId,
      originator,
      originatorFeePpm: fee,
    },
    { nowUs: created, seq: lastSeq },
  );
  target.markBookChanged(slot, { nowUs: updated, seq: lastSeq });
  target.reduce(slot, Math.abs(size) - left);
  const ended = reason === 0 ? null : wordOf(END_REASONS, reason - 1);
  target.setStatus(slot, wordOf(ORDER_STATUSES, status), ended);
  target.setWaiting(slot, waiting);
  if (conditional !== null) target.setSpecial(slot, conditional);
  return slot;
}

/** Nonce and expiry of the row that is read, and their words. */
const wide = new BigInt64Array(2);
const wideWords = new Uint32Array(wide.buffer);
const NONCE = 0;
const EXPIRY = 1;

/**
 * Nonce and expiry, which no order has below 0. An archive that takes words gets those of the row:
 * bigints of 500,000 rows would cost more than all other fields.
 */
function archiveWide(io: Archive, saved: number, table: OrderRows): void {
  if (io.pairs !== undefined) {
    if (saved === NONE) io.pairs(wideWords, 0, wide.length);
    else io.pairs(table.words, table.widePair(saved), wide.length);
    return;
  }
  wide[NONCE] = io.bigint(saved === NONE ? 0n : table.nonce(saved));
  wide[EXPIRY] = io.bigint(saved === NONE ? 0n : table.expiresAtMs(saved));
}

/** In place of an order id: a historical order (L3). */
const HISTORICAL = -1;

/** Queues of both sides: an order's id; 0 and a segment's size; or −1, an L3 number and size. */
function archiveQueues(io: Archive, state: ExchangeState, market: Market): void {
  archiveSides(io, state, market);
  if (io.loading) market.seenChanges = market.book.changes;
}

function archiveSides(io: Archive, state: ExchangeState, market: Market): void {
  io.section('book');
  for (const side of [1, -1] as const) {
    const ladder = market.book.ladder(side);
    if (io.loading) {
      const levels = io.int(0);
      for (let i = 0; i < levels; i++) loadLevel(io, state, market, side);
      continue;
    }
    io.int(ladder.levelCount);
    for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
      io.int(ladder.price(level));
      io.int(ladder.queueLength(level));
      for (let slot = ladder.head(level); slot !== NONE; slot = state.orders.next(slot)) {
        const ref = market.tape.refs.get(slot);
        io.int(ref === undefined ? state.orders.id(slot) : HISTORICAL);
        if (ref !== undefined) io.int(ref);
        if (state.orders.isHouse(slot)) io.int(state.orders.left(slot));
      }
    }
  }
}

function loadLevel(io: Archive, state: ExchangeState, market: Market, side: 1 | -1): void {
  const price = priceTicks(io.int(0));
  const length = io.int(0);
  for (let i = 0; i < length; i++) {
    const id = io.int(0);
    if (id === 0 || id === HISTORICAL) {
      const ref = id === HISTORICAL ? io.int(0) : 0;
      const size = lots(side * io.int(0));
      const segment = state.orders.addSegment(state.houseMaker.id, market.id, size, price);
      market.book.append(segment);
      if (id === HISTORICAL) market.tape.nameOrder(segment, ref);
      continue;
    }
    const slot = state.orders.slotOf(orderId(id));
    market.book.append(slot);
    if (state.orders.isReduceOnly(slot)) continue;
    const exposure = state.subaccount(state.orders.subaccount(slot)).exposure(market.id);
    widenBounds(exposure, side, price);
  }
}

function archiveHistory(io: Archive, state: ExchangeState): void {
  io.section('history');
  for (const market of state.markets) {
    market.bookSeq = seq(io.int(market.bookSeq));
    market.trades.archive(io);
    market.candles.archive(io);
    market.tape.archiveHistory(io);
  }
  state.transfers.archive(io, 'transfers', archiveTransfer);
  state.vaultSnapshots.archive(io, 'vaultSnapshots', archiveVaultSnapshot);
  io.section('operator');
  const log = archiveList(io, state.operatorLog, (saved) => archiveOperatorEntry(io, saved));
  if (io.loading) state.operatorLog.push(...log);
  io.section('ended');
  const ended = state.endedOrders;
  // A loaded row passes through a table of live orders.
  const passage = new OrderTable();
  for (const account of state.accounts.all) {
    account.endedOrdersCut = io.bool(account.endedOrdersCut);
    const slots: number[] = [];
    if (io.pricesOnly !== true) {
      for (let slot = account.endedOrders.head; slot !== NONE; slot = ended.nextOfOwner(slot)) {
        slots.push(slot);
      }
    }
    archiveList(io, slots, (saved) => {
      if (saved !== null) {
        archiveOrder(io, passage, ended.rowOf(saved), ended.page(saved));
        return saved;
      }
      const slot = archiveOrder(io, passage, NONE);
      ended.add(account.endedOrders, passage, slot);
      passage.remove(slot);
      return slot;
    });
  }
}
