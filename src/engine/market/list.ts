/** Listing a market. Refuses specs whose arithmetic could overflow. */
import { MAX_PRICE_TICKS, PPM, marketId } from '../../num/units.ts';
import type { ListMarket } from '../commands.ts';
import type { MarketSpec } from '../config.ts';
import { logOperator } from '../operator-log.ts';
import type { Outcome } from '../refusals.ts';
import { changeMark } from '../pricing/recompute-mark.ts';
import { nextSampleUs } from '../pricing/sampling.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { Market } from './market.ts';
import { hashMarketListed } from '../chain-hash/hash-event.ts';

/** Orders store their market in 16 bits. */
const MAX_MARKET_ID = 65_535;
const MAX_ORDER_NOTIONAL = 2n ** 63n;

export function listMarket(state: State, command: ListMarket): Outcome {
  const { spec } = command;
  if (state.marketBySymbol.has(spec.symbol)) return { code: 'symbol_already_listed' };
  if (!isSpecSound(spec)) return { code: 'market_spec_invalid' };
  if (state.markets.length > MAX_MARKET_ID) return { code: 'too_many_markets' };
  const id = marketId(state.markets.length);
  const market = addMarket(state, spec);
  const { context } = state;
  context.emit(hashMarketListed, {
    kind: 'marketListed',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: id,
    spec,
  });
  if (spec.initialMarkTicks !== null) changeMark(state, market, spec.initialMarkTicks);
  logOperator(state, 'listMarket', { market: id });
  return 'ok';
}

export function addMarket(state: ExchangeState, spec: MarketSpec): Market {
  const id = marketId(state.markets.length);
  const market = new Market(id, spec, state.orders, state.config.retention, state.nowUs);
  market.joinTimers(state.marketTimers);
  market.sampleDueUs = nextSampleUs(state, market, state.nowUs);
  state.markets.push(market);
  state.marketBySymbol.set(spec.symbol, id);
  return market;
}

/** Whether every figure is in the proven range of the engine's arithmetic. */
export function isSpecSound(spec: MarketSpec): boolean {
  const whole = [spec.quantaPerTickLot, spec.minLots, spec.maxLots, spec.maxPriceTicks];
  if (!whole.every((n) => Number.isSafeInteger(n) && n >= 1)) return false;
  if (spec.symbol.length === 0 || spec.symbol.length > 64) return false;
  if (spec.maxPriceTicks > MAX_PRICE_TICKS || spec.minLots > spec.maxLots) return false;
  const largest = BigInt(spec.maxLots) * BigInt(spec.maxPriceTicks) * BigInt(spec.quantaPerTickLot);
  if (largest >= MAX_ORDER_NOTIONAL) return false;
  if (!Number.isSafeInteger(spec.maxOpenOrders) || spec.maxOpenOrders < 1) return false;
  if (!Number.isSafeInteger(spec.maxOpenInterestLots) || spec.maxOpenInterestLots < 1) return false;
  if (!isRate(spec.priceBandPpm) || spec.priceBandPpm === 0) return false;
  if (!isRate(spec.maxMarkDeviationPpm)) return false;
  if (!isRate(spec.takerFeePpm) || !Number.isSafeInteger(spec.makerFeePpm)) return false;
  if (spec.makerFeePpm > PPM || spec.makerFeePpm + spec.takerFeePpm < 0) return false;
  if (!Number.isSafeInteger(spec.impactHalfLifeUs) || spec.impactHalfLifeUs < 1) return false;
  if (!isRate(spec.vaultQuotePpm) || !isRate(spec.insuranceHourlyPpm)) return false;
  if (spec.maxOpenInterestNotional !== null && spec.maxOpenInterestNotional < 1n) return false;
  return (
    isFundingSound(spec) &&
    areTiersSound(spec) &&
    isDeviationSound(spec) &&
    isFirstMarkSound(spec) &&
    areOpenNotionalsSound(spec)
  );
}

/** Whether an account that opened at the index is safe at a mark the full deviation away. */
function isDeviationSound({
  markSource,
  maxMarkDeviationPpm: deviation,
  tiers,
}: MarketSpec): boolean {
  if (markSource === 'index' || markSource === 'external') return true;
  return tiers.every(
    ({ initialMarginPpm: initial, maintenanceMarginPpm: maintenance }) =>
      deviation <= initial - maintenance && 2 * deviation <= maintenance,
  );
}

/** A mark from the market's own trades or quotes needs an initial price or recorded liquidity. */
function isFirstMarkSound(spec: MarketSpec): boolean {
  const { markSource, initialMarkTicks: first, recordedLiquidity, maxPriceTicks } = spec;
  const ownPrices = markSource === 'last' || markSource === 'mid';
  if (first === null) return recordedLiquidity || !ownPrices;
  return ownPrices && Number.isSafeInteger(first) && first >= 1 && first <= maxPriceTicks;
}

function areOpenNotionalsSound(spec: MarketSpec): boolean {
  const { openNotionalLower: lower, openNotionalUpper: upper } = spec;
  if (lower === null || upper === null) return lower === upper;
  return lower >= 0n && lower < upper;
}

function isFundingSound({ funding }: MarketSpec): boolean {
  const { sampleIntervalUs, intervalUs, divisor, impactNotional } = funding;
  const whole = [sampleIntervalUs, intervalUs, divisor];
  if (!whole.every((n) => Number.isSafeInteger(n) && n >= 1)) return false;
  const rates = [
    funding.interestPpb,
    funding.interestClampPpb,
    funding.capPpm,
    funding.marginCapPpm,
  ];
  if (!rates.every((n) => Number.isSafeInteger(n) && Math.abs(n) <= 1e9)) return false;
  if (funding.interestClampPpb < 0 || funding.capPpm < 0 || funding.marginCapPpm < 0) return false;
  return sampleIntervalUs <= intervalUs && impactNotional >= 1n;
}

function areTiersSound(spec: MarketSpec): boolean {
  let floor = -1n;
  for (const tier of spec.tiers) {
    if (tier.floorQuanta <= floor) return false;
    if (floor === -1n && tier.floorQuanta !== 0n) return false;
    if (!isRate(tier.initialMarginPpm) || !isRate(tier.maintenanceMarginPpm)) return false;
    if (tier.maintenanceMarginPpm > tier.initialMarginPpm || tier.initialMarginPpm === 0) {
      return false;
    }
    floor = tier.floorQuanta;
  }
  return floor >= 0n;
}

function isRate(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= PPM;
}
