/**
 * Synthetic bars of one minute and funding rates for `orrery data sample`.
 *
 * The log price of a market is a factor that all markets share plus a spread of its own,
 *
 * ln p = ln p₀ + F + s,   s ← (1 − θ) s + η N,
 *
 * so that the ratio of two markets returns to its mean (half-life: two days). F is a random walk
 * with stochastic volatility: a log-normal Ornstein–Uhlenbeck process with a half-life of twelve
 * hours, times a factor of the hour of the day, plus two jumps a day. Apart from the spread a price
 * is a martingale: a strategy that gains on one market alone was lucky. Between its steps a price
 * is a Brownian bridge, whose highest and lowest values are drawn. So a price is reached before it
 * is passed, and a fill of a resting order costs nothing on average. Funding rates are
 * autoregressive around 0.01 % and rise with the price.
 *
 * Draws are Irwin–Hall and `exp` is portable, so a seed gives the same bytes on every machine.
 */
import { lots, ppb, priceTicks, timeUs, type TimeUs } from '../../num/units.ts';
import { exp } from '../../num/special/exp.ts';
import { ln } from '../../num/special/ln.ts';
import type { BarRecord, FundingRecord, TapeUnits } from '../record.ts';

/** A market of the sample: terms, first price and typical volume. */
export interface SampleMarket extends TapeUnits {
  readonly price: number;
  /** Median volume of a minute, lots. */
  readonly volumeLots: number;
}

const market = (
  symbol: string,
  tickSize: string,
  lotSize: string,
  price: number,
  volumeLots: number,
): SampleMarket => ({ symbol, tickSize, lotSize, inverse: false, price, volumeLots });

/** No venue uses these names, so the data cannot be mistaken for a recording. */
export const SAMPLE_MARKETS: readonly SampleMarket[] = [
  market('BTC-SAMPLE', '0.1', '0.001', 60_000, 40_000),
  market('ETH-SAMPLE', '0.01', '0.001', 3_000, 600_000),
  market('SOL-SAMPLE', '0.01', '0.01', 150, 900_000),
  market('BNB-SAMPLE', '0.01', '0.001', 550, 300_000),
  market('XRP-SAMPLE', '0.0001', '0.1', 0.6, 20_000_000),
];

/** Uniform draws in [0, 1). `factor` must be the same stream for all markets of one dataset. */
export interface SampleDraws {
  readonly factor: () => number;
  readonly own: () => number;
  /** Decides how a price moves within a minute, not where the minute ends. */
  readonly path: () => number;
}

export interface SampleOptions {
  readonly market: SampleMarket;
  /** First minute. */
  readonly startUs: number;
  readonly minutes: number;
  readonly draws: SampleDraws;
}

const MINUTE_US = 60_000_000;
const FUNDING_MINUTES = 480;
/** Steps of a minute. */
const STEPS = 6;
/** 60 % a year. */
const MINUTE_DEVIATION = 0.6 / Math.sqrt(525_600);
const STEP_DEVIATION = MINUTE_DEVIATION / Math.sqrt(STEPS);
const LN_2 = 0.6931471805599453;
const VOLATILITY = reverting(LN_2 / 720, 0.5);
const SPREAD = reverting(LN_2 / 2_880, 0.02);
const SPREAD_STEP_DEVIATION = SPREAD.deviation / Math.sqrt(STEPS);
const JUMPS_A_MINUTE = 2 / 1_440;
const JUMP = 6 * MINUTE_DEVIATION;
/** Relative volatility of each hour, UTC: quiet in Asia's night, highest as New York opens. */
const HOURS: readonly number[] = [
  ...[0.95, 0.95, 0.9, 0.85, 0.8, 0.75, 0.75, 0.85, 0.95, 1, 1, 1],
  ...[1.1, 1.3, 1.45, 1.4, 1.25, 1.15, 1.1, 1.05, 1.05, 1, 1, 0.95],
];
const FUNDING_MEAN = 0.0001;
const FUNDING_DEVIATION = 0.00012;
const FUNDING_LIMIT = 0.0075;

interface Reverting {
  readonly reversion: number;
  readonly deviation: number;
}

/** Ornstein–Uhlenbeck steps with a given stationary standard deviation. */
function reverting(reversion: number, stationary: number): Reverting {
  return { reversion, deviation: stationary * Math.sqrt(2 * reversion) };
}

/** Mean 0, variance 1, within ±6 (Irwin–Hall). */
function normal(draw: () => number): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += draw();
  return sum;
}

const next = (value: number, { reversion, deviation }: Reverting, draw: () => number): number =>
  value - reversion * value + deviation * normal(draw);

/** The next of `left` steps of a Brownian bridge from `at` to `end`. */
function towards(at: number, end: number, left: number, draw: () => number): number {
  if (left === 1) return end;
  const deviation = SPREAD_STEP_DEVIATION * Math.sqrt((left - 1) / left);
  return at + (end - at) / left + deviation * normal(draw);
}

/** How far a Brownian bridge goes beyond the higher one of its ends; by symmetry, the lower one. */
function beyond(move: number, variance: number, draw: () => number): number {
  const size = Math.abs(move);
  return (Math.sqrt(size * size - 2 * variance * ln(1 - draw())) - size) / 2;
}

/** Records in the order of their times: a bar a minute, a funding rate every eight hours. */
export function* sampleRecords(options: SampleOptions): Generator<BarRecord | FundingRecord> {
  const { market, startUs, minutes, draws } = options;
  const { factor, own, path } = draws;
  const tick = Number(market.tickSize);
  const ticksOf = (log: number): number =>
    Math.max(1, Math.round((market.price * exp(log)) / tick));
  let volatility = 0;
  let shared = 0;
  let spread = 0;
  let fundedAt = 0;
  let premium = 0;
  let last = 0;
  let open = ticksOf(last);
  for (let minute = 0; minute < minutes; minute++) {
    const startsUs = startUs + minute * MINUTE_US;
    const hour = Math.floor(startsUs / 3_600_000_000) % 24;
    volatility = next(volatility, VOLATILITY, factor);
    const activity = exp(volatility) * (HOURS[hour] ?? 1);
    const jump = factor() < JUMPS_A_MINUTE ? JUMP * normal(factor) : 0;
    const jumpsAt = Math.floor(factor() * STEPS);
    const deviation = activity * STEP_DEVIATION;
    const variance = deviation * deviation + SPREAD_STEP_DEVIATION * SPREAD_STEP_DEVIATION;
    let highest = last;
    let lowest = last;
    let ownAt = spread;
    spread = next(spread, SPREAD, own);
    for (let step = 0; step < STEPS; step++) {
      // A jump is at the start of its step.
      const from = step === jumpsAt ? last + jump : last;
      // Half the variance is the drift of the logarithm of a martingale.
      shared += deviation * normal(factor) - (deviation * deviation) / 2;
      if (step === jumpsAt) shared += jump;
      ownAt = towards(ownAt, spread, STEPS - step, path);
      last = shared + ownAt;
      const move = last - from;
      highest = Math.max(highest, Math.max(from, last) + beyond(move, variance, path));
      lowest = Math.min(lowest, Math.min(from, last) - beyond(move, variance, path));
    }
    const [high, low, close] = [ticksOf(highest), ticksOf(lowest), ticksOf(last)];
    const range = (high - low) / (close * MINUTE_DEVIATION);
    const traded = market.volumeLots * activity * (0.3 + 0.4 * range) * exp(0.35 * normal(own));
    const endUs = timeUs(startsUs + MINUTE_US - 1);
    yield {
      kind: 'bar',
      timeUs: endUs,
      localUs: endUs,
      line: minute + 1,
      startUs: timeUs(startsUs),
      open: priceTicks(open),
      high: priceTicks(high),
      low: priceTicks(low),
      close: priceTicks(close),
      volume: lots(Math.max(1, Math.round(traded))),
    };
    open = close;
    if ((startsUs + MINUTE_US) % (FUNDING_MINUTES * MINUTE_US) !== 0) continue;
    const rise = shared + spread - fundedAt;
    fundedAt = shared + spread;
    premium += 0.4 * (0.01 * rise - premium) + FUNDING_DEVIATION * normal(own);
    yield fundingAt(timeUs(startsUs + MINUTE_US), FUNDING_MEAN + premium, minute + 1);
  }
}

function fundingAt(at: TimeUs, rate: number, line: number): FundingRecord {
  const bounded = Math.min(FUNDING_LIMIT, Math.max(-FUNDING_LIMIT, rate));
  const ratePpb = ppb(Math.round(bounded * 1e9));
  return { kind: 'funding', timeUs: at, localUs: at, line, ratePpb };
}
