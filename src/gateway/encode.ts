/** Engine values as records: decimal text, milliseconds, null if absent. */
import type { OrderRecordShape } from '../contract/schemas.ts';
import type { OrderRef } from '../engine/orders/conditional.ts';
import type {
  ExchangeView,
  LevelView,
  MarketView,
  OrderView,
  PositionView,
  TransferView,
  RankingAges,
} from '../engine/read/views.ts';
import { absBig, ceilDivBig } from '../num/arithmetic.ts';
import {
  formatDecimal,
  formatScaled,
  parseDecimal,
  scaledBy,
  type Decimal,
} from '../num/decimal.ts';
import { address, COLLATERAL_DECIMALS, type Address, type TimeUs } from '../num/units.ts';
import { must } from '../base/assert.ts';
import type { OrderIds } from './order-ids.ts';

export const ZERO_ADDRESS = address('0x0000000000000000000000000000000000000000');
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);
const RATIO_DECIMALS = 6;
/** R-5.8a */
const INFINITE_RATIO = '999999';
const ENTRY_DECIMALS = 8;

export function money(amount: bigint): string {
  return formatDecimal(amount, COLLATERAL_DECIMALS);
}

/** Parts per million as a fraction. */
export function fraction(partsPerMillion: number): string {
  return formatDecimal(BigInt(partsPerMillion), 6);
}

export function millis(us: TimeUs): number {
  return Math.floor(us / 1000);
}

interface Step extends Decimal {
  /** `digits` as a number. */
  readonly units: number;
}

const steps = new Map<string, Step>();

/** Decimal of a spec's text, cached. */
export function stepOf(text: string): Step {
  let step = steps.get(text);
  if (step === undefined) {
    const decimal = must(parseDecimal(text) ?? undefined, 'a listed step is decimal text');
    step = { ...decimal, units: Number(decimal.digits) };
    steps.set(text, step);
  }
  return step;
}

/** A number of steps as decimal text. */
export function inSteps(count: number | bigint, step: string): string {
  const { digits, scale, units } = stepOf(step);
  const total = Number(count) * units;
  if (Number.isSafeInteger(total)) return formatScaled(total, scale);
  return formatDecimal(BigInt(count) * digits, scale);
}

/** Gives a number of steps as the double that is nearest to it, as of its text. */
export function numbersInSteps(step: string): (count: number) => number {
  const { scale, units } = stepOf(step);
  const scaled = scaledBy(scale);
  if (scaled === null) return (count) => Number(inSteps(count, step));
  return (count) => {
    const total = count * units;
    return Number.isSafeInteger(total) ? scaled(total) : Number(inSteps(count, step));
  };
}

export function priceText(market: MarketView, ticks: number | bigint): string {
  return inSteps(ticks, market.spec.tickSize);
}

export function sizeText(market: MarketView, lots: number | bigint): string {
  return inSteps(lots, market.spec.lotSize);
}

/** n ÷ d with 6 decimals, rounded up; n ≥ 0, d > 0. */
export function ratioText(n: bigint, d: bigint): string {
  return formatDecimal(ceilDivBig(n * 10n ** BigInt(RATIO_DECIMALS), d), RATIO_DECIMALS);
}

export function encodeLevel(
  market: MarketView,
  level: LevelView | null,
): { price: string; quantity: string } | null {
  return level === null
    ? null
    : { price: priceText(market, level.priceTicks), quantity: sizeText(market, level.lots) };
}

/** A time in the unit of market data. */
export function marketTime(view: ExchangeView, us: TimeUs): number {
  return view.config.marketDataTimeUnit === 's' ? Math.floor(us / 1_000_000) : millis(us);
}

export function encodeOrder(view: ExchangeView, ids: OrderIds, order: OrderView): OrderRecordShape {
  const market = view.market(order.market);
  const subaccount = view.subaccount(order.subaccount);
  const type = order.orderType;
  const refText = (ref: OrderRef | null): string | null =>
    ref === null ? null : ids.digestOfRef(order.subaccount, ref);
  return {
    account: view.addressOf(subaccount.account),
    clientId: order.clientId,
    createdAt: millis(order.createdAtUs),
    expiresAt: exactInteger(order.expiresAtMs),
    flags: {
      ioc: order.ioc,
      postOnly: order.postOnly,
      reduceOnly: order.reduceOnly,
      selfTradeExpire: view.selfTradeModeOf(subaccount.account),
    },
    groupId: refText(order.group),
    lastUpdateSequenceNumber: order.lastUpdateSeq,
    nonce: exactInteger(order.nonce),
    ocoGroupId: refText(pairOf(order)),
    orderId: ids.digestOf(order),
    orderType:
      view.config.orderTypeCase === 'pascal' ? type.charAt(0).toUpperCase() + type.slice(1) : type,
    originator: order.originator ?? ZERO_ADDRESS,
    originatorFee: order.originatorFeePpm,
    parentOrderId: refText(order.parent),
    period: order.periodMs === null ? null : exactInteger(order.periodMs),
    price: priceText(market, order.priceTicks),
    quantity: sizeText(market, order.lots),
    reason: order.reason,
    remaining: sizeText(market, order.remainingLots),
    settled: sizeText(market, order.settledLots),
    status: order.status,
    subaccountIndex: subaccount.index,
    symbol: market.spec.symbol,
    trailingPercent:
      order.trailingPpm === null ? null : formatDecimal(BigInt(order.trailingPpm), 4),
    triggerPrice: order.triggerTicks === null ? null : priceText(market, order.triggerTicks),
    updatedAt: millis(order.updatedAtUs),
  };
}

/** Pair of a protective order, identified by its first order. */
function pairOf(order: OrderView): OrderRef | null {
  if (order.sibling === null) return null;
  return order.sibling.orderId < order.orderId ? order.sibling : order;
}

/** An exact int64: a bigint beyond 2^53, although the schema's static type is number. */
function exactInteger(value: bigint): number {
  return value <= MAX_EXACT ? Number(value) : (value as unknown as number);
}

export function encodeStats(view: ExchangeView, subaccountId: OrderView['subaccount']) {
  const subaccount = view.subaccount(subaccountId);
  const margin = view.margin(subaccountId);
  const equity = margin.crossEquityQuanta;
  const atRisk = margin.crossNotionalQuanta > 0n || margin.crossInitialQuanta > 0n;
  const overEquity = (amount: bigint): string => {
    if (equity > 0n) return ratioText(amount, equity);
    return atRisk && amount > 0n ? INFINITE_RATIO : '0';
  };
  return {
    account: view.addressOf(subaccount.account),
    accountValue: money(margin.accountValueQuanta),
    crossEquity: money(equity),
    crossLeverage: overEquity(margin.crossNotionalQuanta),
    crossMarginRatio:
      margin.crossNotionalQuanta > 0n && equity > 0n
        ? ratioText(equity, margin.crossNotionalQuanta)
        : '0',
    crossMarginUsage: overEquity(margin.crossInitialQuanta),
    cumulativePnl: money(margin.accountValueQuanta - margin.netDepositsQuanta),
    freeCollateral: money(margin.freeCollateralQuanta),
    freeCollateralCross: money(margin.freeCollateralCrossQuanta),
    initialMarginRequirement: money(margin.initialRequirementQuanta),
    maintMargin: money(margin.maintenanceRequirementQuanta),
    netDeposits: money(margin.netDepositsQuanta),
    subaccountIndex: subaccount.index,
    upnl: money(margin.upnlQuanta),
  };
}

/** Stats of a wallet that never deposited. */
export function emptyStats(account: Address, subaccountIndex: number) {
  return {
    account,
    accountValue: '0',
    crossEquity: '0',
    crossLeverage: '0',
    crossMarginRatio: '0',
    crossMarginUsage: '0',
    cumulativePnl: '0',
    freeCollateral: '0',
    freeCollateralCross: '0',
    initialMarginRequirement: '0',
    maintMargin: '0',
    netDeposits: '0',
    subaccountIndex,
    upnl: '0',
  };
}

/** A client that reads in a loop does not sort all holders of a large market each time. */
const RANKINGS_OF_READS: RankingAges = { smallUs: 0, largeUs: 1_000_000 };

/** `ages` of the ranking behind `adlQuantile`. */
export function encodePosition(
  view: ExchangeView,
  position: PositionView,
  ages: RankingAges = RANKINGS_OF_READS,
) {
  const market = view.market(position.market);
  const subaccount = view.subaccount(position.subaccount);
  return {
    account: view.addressOf(subaccount.account),
    adlQuantile: view.adlQuantile(position.subaccount, position.market, ages),
    basis: money(position.costQuanta),
    entryPrice: entryPrice(market, position),
    fees: money(position.feesQuanta),
    funding: money(position.fundingQuanta),
    isolated: position.isolated,
    liquidationPrice:
      position.liquidationTicks === null ? null : priceText(market, position.liquidationTicks),
    margin: money(position.isolatedMarginQuanta),
    markPrice: priceText(market, market.markTicks ?? 0),
    quantity: sizeText(market, position.lots),
    subaccountIndex: subaccount.index,
    symbol: market.spec.symbol,
    updatedAt: millis(position.updatedAtUs),
    upnl: money(position.upnlQuanta),
  };
}

/** Record of a closed position: all quantities zero. */
export function encodeClosedPosition(
  view: ExchangeView,
  id: OrderView['subaccount'],
  market: MarketView,
  atUs: TimeUs,
) {
  const subaccount = view.subaccount(id);
  return {
    account: view.addressOf(subaccount.account),
    adlQuantile: null,
    basis: '0',
    entryPrice: '0',
    fees: '0',
    funding: '0',
    isolated: false,
    liquidationPrice: null,
    margin: '0',
    markPrice: priceText(market, market.markTicks ?? 0),
    quantity: '0',
    subaccountIndex: subaccount.index,
    symbol: market.spec.symbol,
    updatedAt: millis(atUs),
    upnl: '0',
  };
}

/** |cost ÷ size| with 8 decimals, rounded down; exact figures are `basis` and `quantity`. */
function entryPrice(market: MarketView, position: PositionView): string {
  const lot = stepOf(market.spec.lotSize);
  const size = absBig(BigInt(position.lots)) * lot.digits;
  const scale = 10n ** BigInt(lot.scale + ENTRY_DECIMALS);
  const cost = absBig(position.costQuanta) * scale;
  return formatDecimal(cost / (size * 10n ** BigInt(COLLATERAL_DECIMALS)), ENTRY_DECIMALS);
}

export function encodeTransfer(view: ExchangeView, transfer: TransferView) {
  const subaccount = view.subaccount(transfer.subaccount);
  const other = transfer.counterparty === null ? null : view.subaccount(transfer.counterparty);
  return {
    account: view.addressOf(subaccount.account),
    amount: money(transfer.amountQuanta),
    counterpartyAccount: other === null ? null : view.addressOf(other.account),
    counterpartySubaccountIndex: other?.index ?? null,
    subaccountIndex: subaccount.index,
    symbol: transfer.market === null ? null : view.market(transfer.market).spec.symbol,
    timestampMillis: millis(transfer.timeUs),
    transferType: transfer.reason,
  };
}
