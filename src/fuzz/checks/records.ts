/**
 * Records of the contract as docs/API.md defines them, written a second time from the exchange's
 * views: for comparison with the replies of the gateway. Money and sizes are decimal text.
 */
import type {
  BalanceChanged,
  LiquidationStep,
  OrderFilled,
  PositionTransferred,
} from '../../engine/events.ts';
import type {
  CandleView,
  ExchangeView,
  LevelView,
  MarginSettingView,
  MarketView,
  OrderView,
  PositionView,
  TradeView,
  TransferView,
  VaultSnapshotView,
} from '../../engine/read/views.ts';
import type { AccountId, SubaccountId } from '../../num/units.ts';

export type Fields = Readonly<Record<string, unknown>>;

const MONEY = 6;
const ENTRY = 8;
const ENDLESS = '999999';
const NO_ADDRESS = `0x${'0'.repeat(40)}`;

/** `value × 10^−scale` without trailing zeros. */
function decimal(value: bigint, scale: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString();
  const padded = '0'.repeat(Math.max(0, scale + 1 - digits.length)) + digits;
  const whole = padded.slice(0, padded.length - scale);
  const rest = padded.slice(padded.length - scale).replace(/0+$/, '');
  return rest === '' ? `${sign}${whole}` : `${sign}${whole}.${rest}`;
}

export const moneyText = (amount: bigint): string => decimal(amount, MONEY);
const money = moneyText;

/** A share in 1e-6. */
const ppm = (value: number): string => decimal(BigInt(value), 6);

/** A rate in 1e-9. */
export const ratePpbText = (ratePpb: number): string => decimal(BigInt(ratePpb), 9);

/** A count of steps, each of this decimal size. */
export function steps(count: bigint, step: string): string {
  const [whole = '', rest = ''] = step.split('.');
  return decimal(count * BigInt(whole + rest), rest.length);
}

/** The middle between a number of steps and the next. */
export function middleOf(count: bigint, step: string): string {
  const [whole = '', rest = ''] = step.split('.');
  return decimal((2n * count + 1n) * BigInt(whole + rest) * 5n, rest.length + 1);
}

const priceOf = ({ spec }: MarketView, ticks: number): string =>
  steps(BigInt(ticks), spec.tickSize);
export const sizeOf = ({ spec }: MarketView, lots: number | bigint): string =>
  steps(BigInt(lots), spec.lotSize);

const msOf = (us: number): number => (us - (us % 1000)) / 1000;
const optional = <T, R>(value: T | null, text: (value: T) => R): R | null =>
  value === null ? null : text(value);

/** A time in the unit of market data. */
export const dataTime = ({ config }: ExchangeView, us: number): number =>
  config.marketDataTimeUnit === 's' ? (us - (us % 1_000_000)) / 1_000_000 : msOf(us);

function ownerOf(
  view: ExchangeView,
  id: SubaccountId,
): { account: string; subaccountIndex: number } {
  const { account, index } = view.subaccount(id);
  return { account: view.addressOf(account), subaccountIndex: index };
}

export function orderRecord(view: ExchangeView, order: OrderView): Fields {
  const market = view.market(order.market);
  const { account }: { account: AccountId } = view.subaccount(order.subaccount);
  const { orderType } = order;
  const pascal = view.config.orderTypeCase === 'pascal';
  return {
    ...ownerOf(view, order.subaccount),
    clientId: order.clientId,
    createdAt: msOf(order.createdAtUs),
    expiresAt: order.expiresAtMs,
    flags: {
      ioc: order.ioc,
      postOnly: order.postOnly,
      reduceOnly: order.reduceOnly,
      selfTradeExpire: view.selfTradeModeOf(account),
    },
    nonce: order.nonce,
    orderType: pascal ? orderType.slice(0, 1).toUpperCase() + orderType.slice(1) : orderType,
    originator: order.originator ?? NO_ADDRESS,
    originatorFee: order.originatorFeePpm,
    period: order.periodMs,
    price: priceOf(market, order.priceTicks),
    quantity: sizeOf(market, order.lots),
    reason: order.reason,
    remaining: sizeOf(market, order.remainingLots),
    settled: sizeOf(market, order.settledLots),
    status: order.status,
    symbol: market.spec.symbol,
    trailingPercent: optional(order.trailingPpm, (ppm) => decimal(BigInt(ppm), 4)),
    triggerPrice: optional(order.triggerTicks, (ticks) => priceOf(market, ticks)),
    updatedAt: msOf(order.updatedAtUs),
    lastUpdateSequenceNumber: order.lastUpdateSeq,
  };
}

/** n ÷ d with six decimals, rounded up. */
function ratio(n: bigint, d: bigint): string {
  const scaled = n * 1_000_000n;
  return money(scaled / d + (scaled % d === 0n ? 0n : 1n));
}

export function statsRecord(view: ExchangeView, id: SubaccountId): Fields {
  const figures = view.margin(id);
  const equity: bigint = figures.crossEquityQuanta;
  const over = (amount: bigint): string => {
    if (equity > 0n) return ratio(amount, equity);
    return amount > 0n ? ENDLESS : '0';
  };
  const notional: bigint = figures.crossNotionalQuanta;
  return {
    ...ownerOf(view, id),
    accountValue: money(figures.accountValueQuanta),
    crossEquity: money(equity),
    crossLeverage: over(notional),
    crossMarginRatio: notional > 0n && equity > 0n ? ratio(equity, notional) : '0',
    crossMarginUsage: over(figures.crossInitialQuanta),
    cumulativePnl: money(figures.accountValueQuanta - figures.netDepositsQuanta),
    freeCollateral: money(figures.freeCollateralQuanta),
    freeCollateralCross: money(figures.freeCollateralCrossQuanta),
    initialMarginRequirement: money(figures.initialRequirementQuanta),
    maintMargin: money(figures.maintenanceRequirementQuanta),
    netDeposits: money(figures.netDepositsQuanta),
    upnl: money(figures.upnlQuanta),
  };
}

export function positionRecord(view: ExchangeView, position: PositionView): Fields {
  const market = view.market(position.market);
  const [, lotRest = ''] = market.spec.lotSize.split('.');
  const size = BigInt(Math.abs(position.lots)) * BigInt(market.spec.lotSize.replace('.', ''));
  const cost = position.costQuanta < 0n ? -position.costQuanta : position.costQuanta;
  const entry = (cost * 10n ** BigInt(lotRest.length + ENTRY)) / (size * 10n ** BigInt(MONEY));
  return {
    ...ownerOf(view, position.subaccount),
    basis: money(position.costQuanta),
    entryPrice: decimal(entry, ENTRY),
    fees: money(position.feesQuanta),
    funding: money(position.fundingQuanta),
    isolated: position.isolated,
    liquidationPrice: optional(position.liquidationTicks, (ticks) => priceOf(market, ticks)),
    margin: money(position.isolatedMarginQuanta),
    markPrice: priceOf(market, market.markTicks ?? 0),
    quantity: sizeOf(market, position.lots),
    symbol: market.spec.symbol,
    updatedAt: msOf(position.updatedAtUs),
    upnl: money(position.upnlQuanta),
  };
}

export const levelRecord = (market: MarketView, level: LevelView | null): Fields | null =>
  optional(level, ({ priceTicks, lots }) => ({
    price: priceOf(market, priceTicks),
    quantity: sizeOf(market, lots),
  }));

export function tradeRecord(
  view: ExchangeView,
  trade: Pick<TradeView, 'market' | 'priceTicks' | 'lots' | 'timeUs'>,
): Fields {
  const market = view.market(trade.market);
  return {
    price: priceOf(market, trade.priceTicks),
    quantity: sizeOf(market, trade.lots),
    symbol: market.spec.symbol,
    time: dataTime(view, trade.timeUs),
  };
}

export function candleRecord(view: ExchangeView, market: MarketView, candle: CandleView): Fields {
  return {
    open: priceOf(market, candle.openTicks),
    high: priceOf(market, candle.highTicks),
    low: priceOf(market, candle.lowTicks),
    close: priceOf(market, candle.closeTicks),
    volume: sizeOf(market, candle.volumeLots),
    funding_rate: ratePpbText(candle.fundingRatePpb),
    time: dataTime(view, candle.timeUs),
  };
}

/** The record of a fill, or of one side of a transferred position: 0 for its giver. */
export function fillRecord(
  view: ExchangeView,
  fill: OrderFilled | PositionTransferred,
  side: number,
): Fields {
  const market = view.market(fill.market);
  const shared = {
    symbol: market.spec.symbol,
    price: priceOf(market, fill.priceTicks),
    time: dataTime(view, fill.timeUs),
  };
  const amounts = (fee: bigint, exposure: bigint, funding: bigint): Fields => ({
    fee: money(fee),
    realized_exposure: money(exposure),
    realized_funding: money(funding),
    realized_pnl: money(exposure - fee + funding),
  });
  if (fill.kind === 'orderFilled') {
    const { feeQuanta, originatorFeeQuanta, realizedPnlQuanta, realizedFundingQuanta } = fill;
    return {
      ...ownerOf(view, fill.subaccount),
      ...shared,
      quantity: sizeOf(market, fill.lots),
      ...amounts(originatorFeeQuanta + feeQuanta, realizedPnlQuanta, realizedFundingQuanta),
    };
  }
  // The payment goes from the giver to the taker of the position.
  const gives = side === 0;
  const paid = gives ? -fill.moneyQuanta : fill.moneyQuanta;
  const realized = gives ? fill.fromRealizedQuanta : fill.toRealizedQuanta;
  return {
    ...ownerOf(view, gives ? fill.from : fill.to),
    ...shared,
    quantity: sizeOf(market, gives ? -fill.lots : fill.lots),
    order_id: null,
    ...amounts(0n, realized + paid, gives ? fill.fromFundingQuanta : fill.toFundingQuanta),
  };
}

/** The record of a position that is closed. */
export function closedRecord(view: ExchangeView, id: SubaccountId, market: MarketView): Fields {
  return {
    ...ownerOf(view, id),
    adlQuantile: null,
    basis: '0',
    entryPrice: '0',
    fees: '0',
    funding: '0',
    isolated: false,
    liquidationPrice: null,
    margin: '0',
    markPrice: priceOf(market, market.markTicks ?? 0),
    quantity: '0',
    symbol: market.spec.symbol,
    updatedAt: msOf(view.nowUs),
    upnl: '0',
  };
}

/** The public record of a step of a liquidation, of a transfer of a position, or of a shortfall. */
export function liquidationRecord(
  view: ExchangeView,
  event: LiquidationStep | PositionTransferred | BalanceChanged,
): Fields {
  const nothing = {
    step: null,
    symbol: null,
    isolated: null,
    quantity: null,
    price: null,
    equity: null,
    maintenanceMargin: null,
    amount: null,
    shortfall: null,
    sequence_number: event.seq,
    time: dataTime(view, event.timeUs),
  };
  if (event.kind === 'balanceChanged') {
    const { deltaQuanta, balanceQuanta } = event;
    return {
      ...nothing,
      event: 'shortfall',
      amount: money(deltaQuanta),
      shortfall: money(balanceQuanta),
    };
  }
  const market = optional(event.market, (id) => view.market(id));
  const symbol = market?.spec.symbol ?? null;
  if (event.kind === 'positionTransferred') {
    return {
      ...nothing,
      event: 'transfer',
      step: event.reason,
      symbol,
      quantity: optional(market, (of) => sizeOf(of, event.lots)),
      price: optional(market, (of) => priceOf(of, event.priceTicks)),
    };
  }
  const sells = event.step === 'order' && market !== null;
  return {
    ...nothing,
    event: 'step',
    step: event.step,
    symbol,
    isolated: event.isolated,
    equity: money(event.equityQuanta),
    maintenanceMargin: money(event.maintenanceQuanta),
    ...(sells
      ? {
          quantity: sizeOf(market, event.lots),
          price: optional(event.limitTicks, (ticks) => priceOf(market, ticks)),
        }
      : { amount: money(event.amountQuanta) }),
  };
}

export function transferRecord(view: ExchangeView, movement: TransferView): Fields {
  const other = optional(movement.counterparty, (id) => ownerOf(view, id));
  return {
    ...ownerOf(view, movement.subaccount),
    amount: money(movement.amountQuanta),
    counterpartyAccount: other?.account ?? null,
    counterpartySubaccountIndex: other?.subaccountIndex ?? null,
    symbol: optional(movement.market, (id) => view.market(id).spec.symbol),
    timestampMillis: msOf(movement.timeUs),
    transferType: movement.reason,
  };
}

export function sharesRecord(view: ExchangeView, held: VaultSnapshotView): Fields {
  return {
    ...ownerOf(view, held.subaccount),
    lockupEndsAt: msOf(held.lockupEndsAtUs),
    netDeposits: money(held.netDepositsQuanta),
    shares: decimal(held.shares, MONEY),
    timestamp: msOf(held.timeUs),
    usdValue: money(held.valueQuanta),
  };
}

export function priceRecord(view: ExchangeView, market: MarketView): Fields {
  const { bestBid, bestAsk, spec } = market;
  const [whole = '', rest = ''] = spec.tickSize.split('.');
  return {
    bestBid: levelRecord(market, bestBid),
    bestOffer: levelRecord(market, bestAsk),
    index: market.indexText ?? optional(market.indexTicks, (ticks) => priceOf(market, ticks)),
    mark: optional(market.markTicks, (ticks) => priceOf(market, ticks)),
    midpoint:
      bestBid === null || bestAsk === null
        ? null
        : decimal(
            BigInt(bestBid.priceTicks + bestAsk.priceTicks) * BigInt(whole + rest) * 5n,
            rest.length + 1,
          ),
    symbol: spec.symbol,
    time: dataTime(view, view.nowUs),
    ...stateRecord(view, market),
  };
}

export function summaryRecord(view: ExchangeView, market: MarketView): Fields {
  const day = view.summary(market.id);
  return {
    bestBid: levelRecord(market, market.bestBid),
    bestOffer: levelRecord(market, market.bestAsk),
    fundingRate: ratePpbText(market.fundingRatePpb),
    notionalVolume: money(day.notionalQuanta),
    openInterest: sizeOf(market, market.openInterestLots),
    price24hAgo: optional(day.price24hAgoTicks, (ticks) => priceOf(market, ticks)),
    symbol: market.spec.symbol,
    time: msOf(view.nowUs),
    volume: sizeOf(market, day.volumeLots),
    ...stateRecord(view, market),
  };
}

function stateRecord(view: ExchangeView, market: MarketView): Fields {
  const { nextUs, indicativePpb, samples } = view.fundingOutlook(market.id);
  return {
    status: market.status,
    frozen: market.frozenSinceUs !== null,
    frozenSince: optional(market.frozenSinceUs, msOf),
    indexTime: optional(market.indexAtUs, msOf),
    indexStale:
      market.indexAtUs !== null &&
      market.spec.indexSource !== 'mid' &&
      view.nowUs - market.indexAtUs > view.config.indexStaleUs,
    nextFundingTime: optional(nextUs, msOf),
    indicativeFundingRate: optional(indicativePpb, (rate) => decimal(BigInt(rate), 9)),
    fundingSamples: samples,
  };
}

export function marketRecord(market: MarketView): Fields {
  const { spec } = market;
  return {
    symbol: spec.symbol,
    feedId: spec.feedId,
    tickSize: spec.tickSize,
    lotSize: spec.lotSize,
    maxPrice: priceOf(market, spec.maxPriceTicks),
    markSource: spec.markSource,
    indexSource: spec.indexSource,
    minQuantity: sizeOf(market, spec.minLots),
    maxQuantity: sizeOf(market, spec.maxLots),
    maxOpenOrders: spec.maxOpenOrders,
    maxOpenInterest: sizeOf(market, market.openInterestCapLots),
    priceBand: ppm(spec.priceBandPpm),
    makerFee: ppm(spec.makerFeePpm),
    takerFee: ppm(spec.takerFeePpm),
    marginTiers: spec.tiers.map((tier) => ({
      notionalFloor: money(tier.floorQuanta),
      initialMargin: ppm(tier.initialMarginPpm),
      maintenanceMargin: ppm(tier.maintenanceMarginPpm),
    })),
    maxMarkDeviation: ppm(spec.maxMarkDeviationPpm),
    status: market.status,
    frozen: market.frozenSinceUs !== null,
  };
}

/** Parameters and funds of the exchange. */
export function configRecord(view: ExchangeView): Fields {
  const { config } = view;
  const funds = view.funds();
  return {
    name: config.name,
    chainId: config.chainId,
    cashFeedId: config.cashFeedId,
    clsAccount: config.clsAccount,
    collateralDecimals: MONEY,
    indexStaleMs: config.indexStaleUs / 1000,
    marketDataTimeUnit: config.marketDataTimeUnit,
    maxOriginatorFeePpm: config.maxOriginatorFeePpm,
    maxDelegateOriginatorFeePpm: config.maxDelegateOriginatorFeePpm,
    selfTradeExpire: config.selfTradeExpire,
    triggerSource: config.triggerSource,
    vaultFeeShare: ppm(config.vaultFeeSharePpm),
    insuranceFeeShare: ppm(config.insuranceFeeSharePpm),
    liquidationFee: ppm(config.liquidationFeePpm),
    partialLiquidationNotional: money(config.partialLiquidationNotional),
    liquidationSlice: ppm(config.liquidationSlicePpm),
    liquidationPauseMs: config.liquidationPauseUs / 1000,
    minVaultDeposit: money(config.minVaultDeposit),
    vaultLockupMs: config.vaultLockupUs / 1000,
    frozenHaircut: ppm(config.frozenHaircutPpm),
    insuranceHourly: ppm(config.insuranceHourlyPpm),
    vaultLeaveShare: ppm(config.vaultLeavePpm),
    termsNoticeMs: config.termsNoticeUs / 1000,
    insuranceAccount: config.insuranceAccount,
    treasuryAccount: config.treasuryAccount,
    shortfallAccount: config.shortfallAccount,
    shortfall: money(funds.shortfallQuanta),
    shortfallSince: optional(funds.shortfallSinceUs, msOf),
    insuranceBalance: money(funds.insuranceQuanta),
    insuranceAllowance: money(funds.insuranceAllowanceQuanta),
    vaultNav: money(funds.vaultValueQuanta),
    vaultShares: decimal(funds.vaultShares, MONEY),
  };
}

export const marginRecord = (
  view: ExchangeView,
  id: SubaccountId,
  { market, isolated, marginPpm }: MarginSettingView,
): Fields => ({
  ...ownerOf(view, id),
  isolated,
  margin: decimal(BigInt(marginPpm), MONEY),
  symbol: view.market(market).spec.symbol,
});

export function balanceRecord(view: ExchangeView, id: SubaccountId): Fields {
  const { balanceQuanta, updatedAtUs } = view.subaccount(id);
  return { ...ownerOf(view, id), balance: money(balanceQuanta), updatedAt: msOf(updatedAtUs) };
}
