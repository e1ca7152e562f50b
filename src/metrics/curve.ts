/** An equity curve, cut into periods, and their returns. */
import { UserError } from '../base/user-error.ts';
import { ln } from '../num/special/ln.ts';
import { pow } from '../num/special/pow.ts';
import type { MetricsOptions } from './options.ts';
import { quantile } from './sample.ts';

/** Invalid data of a curve or of trades, with a message for the user. */
export class MetricsError extends UserError {
  override readonly name = 'MetricsError';
  readonly code = 'metrics';
}

/** Rows in time order. */
export interface EquityCurve {
  /** Microseconds since the Unix epoch, strictly ascending. */
  readonly timesUs: readonly number[];
  /** In units of the collateral. */
  readonly equity: readonly number[];
}

/** A curve divided into periods. */
export interface Periods {
  readonly timesUs: readonly number[];
  readonly equity: readonly number[];
  /**
   * One element fewer than there are points. Returns stop at the first period with equity at or
   * below 0.
   */
  readonly returns: readonly number[];
  readonly perYear: number;
}

const DAY_US = 86_400_000_000;
/** Of a curve that is cut; each is a row in memory. */
const MAX_PERIODS = 10_000_000;

/** Lists of numbers may be typed arrays. */
export function mustBeList(name: string, value: unknown): void {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return;
  throw new MetricsError(`${name}: must be a list of numbers`);
}

/** Returns are numbers: others would give figures that look like results. */
export function mustBeReturns(name: string, returns: readonly number[]): void {
  mustBeList(name, returns);
  const row = returns.findIndex((value) => !Number.isFinite(value));
  if (row >= 0) {
    throw new MetricsError(`${name}: return ${row + 1} is not a finite number`);
  }
}

export function mustBeCurve(curve: EquityCurve): void {
  const { timesUs, equity } = Object(curve) as Partial<EquityCurve>;
  mustBeList('timesUs', timesUs);
  mustBeList('equity', equity);
}

/** Throws on fewer than two rows, unordered times and non-finite numbers. */
export function checkCurve(curve: EquityCurve): void {
  mustBeCurve(curve);
  const { timesUs, equity } = curve;
  if (timesUs.length !== equity.length) throw new MetricsError('as many times as equities');
  if (timesUs.length < 2) {
    throw new MetricsError(
      `equity has ${timesUs.length === 1 ? '1 row' : `${timesUs.length} rows`}; a return needs at least 2`,
    );
  }
  timesUs.forEach((time, row) => {
    const place = `row ${row + 1}`;
    if (!Number.isFinite(time)) throw new MetricsError(`${place}: time is not a finite number`);
    if (!Number.isFinite(equity[row])) {
      throw new MetricsError(`${place}: equity is not a finite number`);
    }
    if (row > 0 && time <= (timesUs[row - 1] ?? 0)) {
      throw new MetricsError(`${place}: time is not after the previous row`);
    }
  });
  if ((equity[0] ?? 0) <= 0) throw new MetricsError('row 1: equity starts at or below 0');
}

/**
 * The first row and the last row of each later period; a period without rows repeats the previous
 * one. The last period ends with the curve.
 */
export function cut(
  curve: EquityCurve,
  options: Pick<MetricsOptions, 'period' | 'returns' | 'annualisation' | 'periodsPerYear'>,
): Periods {
  mustBeCurve(curve);
  const { timesUs, equity } = options.period === 'rows' ? curve : resampled(curve, options.period);
  return {
    timesUs,
    equity,
    returns: returnsOf(equity, options.returns),
    perYear:
      options.periodsPerYear ??
      (options.annualisation * DAY_US) /
        (options.period === 'rows' ? medianSpacing(timesUs) : options.period),
  };
}

function resampled({ timesUs, equity }: EquityCurve, periodUs: number): EquityCurve {
  const first = timesUs[0] ?? 0;
  const last = timesUs.at(-1) ?? first;
  if (!(periodUs >= 1 && (last - first) / periodUs <= MAX_PERIODS)) {
    throw new MetricsError(
      `period '${periodUs}': must be at least 1 µs, and give at most ${MAX_PERIODS} periods`,
    );
  }
  const times = [first];
  const values = [equity[0] ?? 0];
  let row = 0;
  for (
    let end = (Math.floor(first / periodUs) + 1) * periodUs;
    end - periodUs < last;
    end += periodUs
  ) {
    while (row + 1 < timesUs.length && (timesUs[row + 1] ?? 0) <= end) row += 1;
    times.push(Math.min(end, last));
    values.push(equity[row] ?? 0);
  }
  return { timesUs: times, equity: values };
}

/** Returns until equity is at or below 0: the fall to that point is the last return. */
function returnsOf(equity: readonly number[], kind: MetricsOptions['returns']): number[] {
  const returns: number[] = [];
  for (let i = 1; i < equity.length; i++) {
    const before = equity[i - 1] ?? 0;
    const after = equity[i] ?? 0;
    if (before <= 0) break;
    if (kind === 'log' && after <= 0) {
      throw new MetricsError(
        `row ${i + 1}: equity is not above 0, so a logarithmic return does not exist`,
      );
    }
    returns.push(kind === 'log' ? ln(after / before) : after / before - 1);
  }
  return returns;
}

/** Growth of 1 by simple returns; a total loss stays, whatever follows it. */
export function compounded(returns: readonly number[]): number[] {
  const growth = [1];
  for (const value of returns) growth.push(Math.max(0, (growth.at(-1) ?? 0) * (1 + value)));
  return growth;
}

/** The median is robust to weekends and missing rows. */
function medianSpacing(timesUs: readonly number[]): number {
  const spacings = timesUs.slice(1).map((time, i) => time - (timesUs[i] ?? 0));
  return quantile(spacings, 0.5) ?? DAY_US;
}

/** Converts a yearly rate to one per period. */
export function ratePerPeriod(
  yearly: number,
  perYear: number,
  kind: MetricsOptions['ratePerPeriod'],
): number {
  return kind === 'linear' ? yearly / perYear : pow(1 + yearly, 1 / perYear) - 1;
}

export function yearsOf(periods: Periods, kind: MetricsOptions['years']): number {
  if (kind === 'periods') return (periods.timesUs.length - 1) / periods.perYear;
  const elapsed = (periods.timesUs.at(-1) ?? 0) - (periods.timesUs[0] ?? 0);
  return elapsed / (DAY_US * (kind === 'elapsed365' ? 365 : 365.25));
}
