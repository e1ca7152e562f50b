/**
 * Public market reads (contract, "Markets"; R-10.*). Without a trade or price the value is null.
 */
import { CANDLE_INTERVALS } from '../contract/words.ts';
import { MESSAGES, marketNotFound, invalidField, type ErrorReply } from '../contract/messages.ts';
import { MAX_DELEGATES, MAX_SIGNERS } from '../engine/accounts/authority.ts';
import type { CandleView, ExchangeView, LevelView, MarketView } from '../engine/read/views.ts';
import { formatDecimal, stepsExact } from '../num/decimal.ts';
import { COLLATERAL_DECIMALS, timeUs } from '../num/units.ts';
import { clampUs } from './account.ts';
import type { Context } from './context.ts';
import { encodeMarket, encodeMarketState } from './market-record.ts';
import {
  encodeLevel,
  fraction,
  marketTime,
  millis,
  money,
  priceText,
  sizeText,
  stepOf,
} from './encode.ts';
import { Fields } from './fields.ts';
import { retentionStart, Page, pageOfAll, Paging } from './paging.ts';
import { RequestError } from './request-error.ts';
import { EIP712_TYPES, eip712Domain } from './eip712.ts';

const MAX_LEVELS = 5000;
const DEFAULT_LEVELS = 500;
/** Decimals of funding rates: parts per billion. */
const PPB_DECIMALS = 9;
const MINUTE_US = 60_000_000;
const GROUPINGS = [1n, 2n, 5n, 10n, 100n, 1000n];

const INTERVAL_MINUTES: Readonly<Record<(typeof CANDLE_INTERVALS)[number], number>> = {
  '1m': 1,
  '3m': 3,
  '5m': 5,
  '15m': 15,
  '30m': 30,
  '1h': 60,
  '2h': 120,
  '4h': 240,
  '8h': 480,
  '12h': 720,
  '1d': 1440,
};

/** Length of the interval of candles that `interval` names. */
export function readIntervalUs(fields: Fields, fallback: keyof typeof INTERVAL_MINUTES): number {
  const text = fields.has('interval') ? fields.text('interval') : fallback;
  const interval =
    CANDLE_INTERVALS.find((known) => known === text) ??
    fields.fail('interval', `must be one of ${CANDLE_INTERVALS.join(', ')}`);
  return INTERVAL_MINUTES[interval] * MINUTE_US;
}

function mustMarket(
  context: Context,
  symbol: string,
  refusal: ErrorReply = MESSAGES.symbolNotFound,
): MarketView {
  const id = context.engine.marketIdOf(symbol);
  if (id === undefined) throw new RequestError(refusal);
  return context.engine.market(id);
}

export function getSummary(context: Context, input: unknown): unknown {
  const market = mustMarket(context, new Fields(input, ['symbol'], true).symbol('symbol'));
  return encodeSummary(context.engine, market);
}

export function encodeSummary(engine: ExchangeView, market: MarketView): unknown {
  const summary = engine.summary(market.id);
  return {
    bestBid: encodeLevel(market, market.bestBid),
    bestOffer: encodeLevel(market, market.bestAsk),
    fundingRate: formatDecimal(BigInt(market.fundingRatePpb), PPB_DECIMALS),
    notionalVolume: money(summary.notionalQuanta),
    openInterest: sizeText(market, market.openInterestLots),
    price24hAgo:
      summary.price24hAgoTicks === null ? null : priceText(market, summary.price24hAgoTicks),
    symbol: market.spec.symbol,
    time: millis(engine.nowUs),
    volume: sizeText(market, summary.volumeLots),
    ...encodeMarketState(engine, market),
  };
}

export function getCandles(context: Context, input: unknown): Page {
  const names = ['symbol', 'interval', 'from', 'to', 'limit', 'cursor'];
  const fields = new Fields(input, names, true);
  const symbol = fields.symbol('symbol');
  const intervalUs = readIntervalUs(fields, '1m');
  const fromUs = fields.has('from') ? clampUs(fields.int64('from')) : timeUs(0);
  const toUs = fields.has('to') ? clampUs(fields.int64('to')) : timeUs(Number.MAX_SAFE_INTEGER);
  const paging = new Paging('getCandles', fields, 1);
  const market = mustMarket(context, symbol, marketNotFound(symbol));
  // Later pages are older, but each page is ascending: a cursor names the first candle of its page.
  const { engine } = context;
  const { items, keptSinceUs } = engine.candles(
    market.id,
    intervalUs,
    fromUs,
    timeUs(Math.min(toUs, paging.after?.[0] ?? Infinity)),
    paging.limit + 1,
  );
  const shown = items.length > paging.limit ? items.slice(1) : items;
  const first = shown[0];
  return new Page(
    shown.map((candle) => encodeCandle(engine, market, candle)),
    first !== undefined && items.length > shown.length ? paging.cursorAt([first.timeUs]) : null,
    retentionStart(fromUs, keptSinceUs),
  );
}

export function encodeCandle(engine: ExchangeView, market: MarketView, candle: CandleView) {
  return {
    open: priceText(market, candle.openTicks),
    high: priceText(market, candle.highTicks),
    low: priceText(market, candle.lowTicks),
    close: priceText(market, candle.closeTicks),
    volume: sizeText(market, candle.volumeLots),
    funding_rate: formatDecimal(BigInt(candle.fundingRatePpb), PPB_DECIMALS),
    time: marketTime(engine, candle.timeUs),
  };
}

export function getTrades(context: Context, input: unknown): Page {
  const fields = new Fields(input, ['symbol', 'from', 'to', 'limit', 'cursor'], true);
  const symbol = fields.symbol('symbol');
  const fromUs = fields.has('from') ? clampUs(fields.int64('from')) : timeUs(0);
  const toUs = fields.has('to') ? clampUs(fields.int64('to')) : timeUs(Infinity);
  const paging = new Paging('getTrades', fields, 1);
  const market = mustMarket(context, symbol);
  const { engine } = context;
  const before = paging.after?.[0];
  const { items, keptSinceUs } = engine.trades(market.id, fromUs, toUs, paging.limit + 1, before);
  const shown = items.slice(0, paging.limit);
  const last = shown.at(-1);
  return new Page(
    shown.map((trade) => ({
      price: priceText(market, trade.priceTicks),
      quantity: sizeText(market, trade.lots),
      symbol,
      time: marketTime(engine, trade.timeUs),
    })),
    last !== undefined && items.length > shown.length ? paging.cursorAt([last.tradeId]) : null,
    retentionStart(fromUs, keptSinceUs),
  );
}

export function getPrice(context: Context, input: unknown): unknown {
  const symbol = new Fields(input, ['symbol'], true).symbol('symbol');
  return encodePrice(context.engine, mustMarket(context, symbol));
}

export function getPrices(context: Context, input: unknown): Page {
  const fields = new Fields(input, ['symbols', 'limit', 'cursor'], true);
  const symbols = fields.has('symbols') ? fields.words('symbols') : null;
  const paging = new Paging('getPrices', fields, 1);
  const { engine } = context;
  const markets = symbols?.map((symbol) => mustMarket(context, symbol)) ?? engine.markets();
  return pageOfAll(
    paging,
    markets.map((market, i) => ({ market, i })),
    ({ i }) => [i],
    ({ market }) => encodePrice(engine, market),
  );
}

export function encodePrice(engine: ExchangeView, market: MarketView): unknown {
  const { bestBid, bestAsk } = market;
  const tick = stepOf(market.spec.tickSize);
  return {
    bestBid: encodeLevel(market, bestBid),
    bestOffer: encodeLevel(market, bestAsk),
    index:
      market.indexText ??
      (market.indexTicks === null ? null : priceText(market, market.indexTicks)),
    mark: market.markTicks === null ? null : priceText(market, market.markTicks),
    midpoint:
      bestBid === null || bestAsk === null
        ? null
        : formatDecimal(
            BigInt(bestBid.priceTicks + bestAsk.priceTicks) * tick.digits * 5n,
            tick.scale + 1,
          ),
    symbol: market.spec.symbol,
    time: marketTime(engine, engine.nowUs),
    ...encodeMarketState(engine, market),
  };
}

export function getBook(context: Context, input: unknown): unknown {
  const fields = new Fields(input, ['symbol', 'depth', 'tickSize'], true);
  const symbol = fields.symbol('symbol');
  const depth = fields.has('depth') ? fields.integer('depth') : BigInt(DEFAULT_LEVELS);
  if (depth < 1n || depth > BigInt(MAX_LEVELS)) throw new RequestError(MESSAGES.depthRange);
  const market = mustMarket(context, symbol);
  const group = fields.has('tickSize') ? grouping(fields, market) : 1;
  const side = (name: 'bid' | 'ask'): LevelView[] =>
    context.engine.groupedDepth(market.id, name, group, Number(depth));
  const encode = (level: LevelView): unknown => encodeLevel(market, level);
  return {
    bids: side('bid').map(encode),
    asks: side('ask').map(encode),
    sequence_number: market.bookSeq,
    time: marketTime(context.engine, context.engine.nowUs),
  };
}

function grouping(fields: Fields, market: MarketView): number {
  const step = fields.decimal('tickSize');
  const multiple = step.digits > 0n ? stepsExact(step, stepOf(market.spec.tickSize)) : null;
  if (multiple === null || !GROUPINGS.includes(multiple)) {
    const steps = GROUPINGS.map((times) => priceText(market, times)).join(', ');
    throw new RequestError(invalidField('tickSize', `must be one of ${steps}`));
  }
  return Number(multiple);
}

export function getConfig(context: Context, input: unknown): unknown {
  new Fields(input, [], true);
  const { config } = context.engine;
  const funds = context.engine.funds();
  return {
    name: config.name,
    chainId: config.chainId,
    verifyingContract: config.verifyingContract,
    cashFeedId: config.cashFeedId,
    clsAccount: config.clsAccount,
    collateralDecimals: COLLATERAL_DECIMALS,
    indexStaleMs: config.indexStaleUs / 1000,
    marketDataTimeUnit: config.marketDataTimeUnit,
    maxOriginatorFeePpm: config.maxOriginatorFeePpm,
    maxDelegateOriginatorFeePpm: config.maxDelegateOriginatorFeePpm,
    maxBatchOrders: 100,
    requestsPerSecond: context.requestsPerSecond ?? null,
    selfTradeExpire: config.selfTradeExpire,
    triggerSource: config.triggerSource,
    vaultFeeShare: fraction(config.vaultFeeSharePpm),
    insuranceFeeShare: fraction(config.insuranceFeeSharePpm),
    liquidationFee: fraction(config.liquidationFeePpm),
    partialLiquidationNotional: money(config.partialLiquidationNotional),
    liquidationSlice: fraction(config.liquidationSlicePpm),
    liquidationPauseMs: config.liquidationPauseUs / 1000,
    minVaultDeposit: money(config.minVaultDeposit),
    vaultLockupMs: config.vaultLockupUs / 1000,
    maxDelegates: MAX_DELEGATES,
    maxSigners: MAX_SIGNERS,
    frozenHaircut: fraction(config.frozenHaircutPpm),
    insuranceHourly: fraction(config.insuranceHourlyPpm),
    vaultLeaveShare: fraction(config.vaultLeavePpm),
    termsNoticeMs: config.termsNoticeUs / 1000,
    insuranceAccount: config.insuranceAccount,
    treasuryAccount: config.treasuryAccount,
    shortfallAccount: config.shortfallAccount,
    shortfall: money(funds.shortfallQuanta),
    shortfallSince: funds.shortfallSinceUs === null ? null : millis(funds.shortfallSinceUs),
    insuranceBalance: money(funds.insuranceQuanta),
    insuranceAllowance: money(funds.insuranceAllowanceQuanta),
    vaultNav: money(funds.vaultValueQuanta),
    vaultShares: formatDecimal(funds.vaultShares, COLLATERAL_DECIMALS),
    domain: eip712Domain(config),
    types: EIP712_TYPES,
  };
}

export function getMarkets(context: Context, input: unknown): Page {
  const paging = new Paging('getMarkets', new Fields(input, ['limit', 'cursor'], true), 1);
  return pageOfAll(paging, context.engine.markets(), ({ id }) => [id], encodeMarket);
}

export function getTime(context: Context, input: unknown): unknown {
  new Fields(input, [], true);
  return { time: millis(context.nowUs()) };
}
