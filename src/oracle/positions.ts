/** Effects of a fill on a position and on the money behind it. */
import { allOf, type Fees } from './fees.ts';
import { marginTaken } from './margin.ts';
import { abs, max, min, shareDown, shareUp, sign } from './numbers.ts';
import {
  book,
  bookMargin,
  MINUTE,
  positionOf,
  emit,
  subOf,
  VAULT,
  type Market,
  type Position,
  type Sub,
  type World,
} from './world.ts';

/** Lots of a trade (signed) that close a position. */
export const closingLots = (position: bigint, lots: bigint): bigint =>
  sign(position) === -sign(lots) ? min(abs(position), abs(lots)) : 0n;

/** Whether a position reached or crossed zero. */
export const hasTurned = (before: bigint, after: bigint): boolean =>
  before !== 0n && sign(after) !== sign(before);

/** PnL of closing a part of the position: its cost is rounded against the holder. */
function pnlOf(market: Market, position: Position, closed: bigint, price: bigint): bigint {
  const cost = shareUp(position.cost * closed, abs(position.lots));
  return sign(position.lots) * closed * price * market.unit - cost;
}

/** Planned changes of a trade of `lots` at `price`. */
export interface Deal {
  readonly lots: bigint;
  readonly closed: bigint;
  readonly opened: bigint;
  readonly price: bigint;
  readonly pnl: bigint;
  readonly funding: bigint;
}

export function dealOf(market: Market, position: Position, lots: bigint, price: bigint): Deal {
  const closed = closingLots(position.lots, lots);
  const opened = abs(lots) - closed;
  if (closed === 0n) return { lots, closed, opened, price, pnl: 0n, funding: 0n };
  return {
    lots,
    closed,
    opened,
    price,
    pnl: pnlOf(market, position, closed, price),
    funding: shareDown(position.funding * closed, abs(position.lots)),
  };
}

/** Changes position, cost and funding by a deal. */
export function dispatch(market: Market, position: Position, deal: Deal): void {
  const { lots, closed, opened, price, pnl, funding } = deal;
  if (closed > 0n) position.cost -= sign(position.lots) * closed * price * market.unit - pnl;
  position.cost += sign(lots) * opened * price * market.unit;
  position.funding -= funding;
  position.lots += lots;
}

/** Money of a deal between cash and the margin of an isolated position. */
export interface IsolatedMoney {
  /** Fees by payer: the margin for the closed part, the cash for the opened part. */
  readonly closingFees: Fees;
  readonly openingFees: Fees;
  /** From margin to cash; below 0 if the position closes with a loss beyond its margin. */
  readonly returned: bigint;
  /** From cash to margin. */
  readonly taken: bigint;
}

export interface DealTerms {
  readonly deal: Deal;
  readonly fees: Fees;
  readonly received?: bigint;
  readonly gradual?: boolean;
}

/**
 * A fill first closes, then releases, then opens. The closed part returns its share of the margin,
 * rounded down, with its PnL less its fees; a larger loss stays in the margin. `received` comes
 * with a transferred position; a gradual close keeps its margin until the last lot (`gradual`).
 */
export function isolatedMoney(
  world: World,
  sub: Sub,
  market: Market,
  { deal, fees, received = 0n, gradual = false }: DealTerms,
): IsolatedMoney {
  const position = positionOf(sub, market.id);
  const size = abs(position.lots);
  const { closed, opened } = deal;
  const whole = closed + opened;
  const part = (fee: bigint): bigint => shareUp(fee * closed, whole);
  const closingFees = {
    protocol: part(fees.protocol),
    originator: part(fees.originator),
    liquidation: part(fees.liquidation),
  };
  const openingFees = {
    protocol: fees.protocol - closingFees.protocol,
    originator: fees.originator - closingFees.originator,
    liquidation: fees.liquidation - closingFees.liquidation,
  };
  const result = deal.pnl - allOf(closingFees) + received;
  let returned = 0n;
  if (closed > 0n && closed === size) returned = position.margin + result;
  else if (closed > 0n && !gradual) {
    returned = max(0n, shareDown(position.margin * closed, size) + result);
  }
  const kept = (size - closed) * deal.price * market.unit;
  const taken = marginTaken(world, sub, market, kept, opened * deal.price * market.unit);
  return { closingFees, openingFees, returned, taken };
}

/** Books realised PnL and fees of a deal: in cash, or in the margin of an isolated position. */
export function settleDeal(
  world: World,
  sub: Sub,
  { id }: Market,
  { deal, fees }: DealTerms,
  isolated: IsolatedMoney | null,
): void {
  if (isolated === null) {
    book(world, sub, deal.pnl, 'realizedPnl');
    payFees(world, sub, fees);
    return;
  }
  bookMargin(world, sub, id, deal.pnl, 'realizedPnl');
  bookMargin(world, sub, id, -isolated.closingFees.protocol, 'fee');
  bookMargin(world, sub, id, -isolated.closingFees.originator, 'originatorFee');
  bookMargin(world, sub, id, -isolated.closingFees.liquidation, 'liquidationFee');
  moveToMargin(world, sub, id, -max(0n, isolated.returned));
  payFees(world, sub, isolated.openingFees);
  moveToMargin(world, sub, id, isolated.taken);
}

function payFees(world: World, sub: Sub, fees: Fees): void {
  book(world, sub, -fees.protocol, 'fee');
  book(world, sub, -fees.originator, 'originatorFee');
  book(world, sub, -fees.liquidation, 'liquidationFee');
}

/** From cash to the margin of an isolated position; below 0 the other way. */
export function moveToMargin(world: World, sub: Sub, market: number, amount: bigint): void {
  book(world, sub, -amount, 'isolatedMargin');
  bookMargin(world, sub, market, amount, 'isolatedMargin');
}

/** Resets the sums of a position that closed or changed sign, and emits it. */
export function emitPosition(world: World, sub: Sub, market: Market, before: bigint): void {
  const position = positionOf(sub, market.id);
  world.touched.add(sub.id);
  if (hasTurned(before, position.lots)) {
    position.fees = 0n;
    position.began = 0n;
    if (position.resumesAt > world.now) world.danger = true;
    position.resumesAt = 0n;
  }
  if (sub.id === VAULT) noteVaultHolds(world);
  // Frozen gains count up to the requirement of the remaining position.
  if (market.frozen) world.danger = true;
  emit(world, {
    kind: 'positionChanged',
    subaccount: sub.id,
    market: market.id,
    lots: position.lots,
    costQuanta: position.cost,
  });
}

/** a vault with a position offers it from the next whole minute on. */
function noteVaultHolds(world: World): void {
  const holds = world.markets.some(({ id }) => positionOf(subOf(world, VAULT), id).lots !== 0n);
  if (!holds || world.config.vaultLeavePpm === 0) world.vaultLeaveDue = null;
  else world.vaultLeaveDue ??= world.now - (world.now % MINUTE) + MINUTE;
}
