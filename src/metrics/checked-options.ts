/** Options of the metrics over their defaults, checked. */
import { MetricsError } from './curve.ts';
import { METRICS_DEFAULTS, type MetricsOptions } from './options.ts';

type Check = (value: unknown) => string | null;

const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value) ? null : `one of ${words.join(', ')}`;
const finite: Check = (value) => (Number.isFinite(value) ? null : 'a finite number');
const above =
  (min: number, max = Infinity): Check =>
  (value) =>
    typeof value === 'number' && value > min && value < max
      ? null
      : max === Infinity
        ? `a finite number above ${min}`
        : `a number between ${min} and ${max}`;
const rate: Check = (value) =>
  typeof value === 'number' && value > -1 && value < Infinity ? null : 'a finite number above -1';

const CHECKS: Readonly<Record<keyof MetricsOptions, Check>> = {
  returns: oneOf('simple', 'log'),
  period: (value) =>
    value === 'rows' || (Number.isFinite(value) && Number(value) >= 1)
      ? null
      : "'rows' or microseconds, at least 1",
  annualisation: above(0),
  periodsPerYear: (value) => (value === null ? null : above(0)(value)),
  denominator: oneOf('sample', 'population'),
  moments: oneOf('sample', 'population'),
  kurtosis: oneOf('excess', 'raw'),
  riskFree: rate,
  ratePerPeriod: oneOf('geometric', 'linear'),
  target: rate,
  downside: oneOf('all', 'below'),
  years: oneOf('elapsed365', 'elapsed365.25', 'periods'),
  valueAtRisk: oneOf('historical', 'normal'),
  level: above(0, 1),
  benchmarkSharpe: finite,
  breakEven: oneOf('count', 'exclude'),
  sqn: oneOf('all', 'cap100'),
};

/** Undefined stands for the default. Throws `MetricsError` that names the option and its limit. */
export function checkedOptions(given: Partial<MetricsOptions>): MetricsOptions {
  const values: unknown = given;
  if (typeof values !== 'object' || values === null) {
    throw new MetricsError('options: must be an object');
  }
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  for (const [name, value] of set) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof MetricsOptions] : null;
    if (check === null) {
      throw new MetricsError(
        `option '${name}' is not known; options are ${Object.keys(CHECKS).join(', ')}`,
      );
    }
    const mustBe = check(value);
    if (mustBe !== null) throw new MetricsError(`${name} '${String(value)}': must be ${mustBe}`);
  }
  return { ...METRICS_DEFAULTS, ...Object.fromEntries(set) };
}
