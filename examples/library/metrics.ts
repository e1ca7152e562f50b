/** `orrery/metrics`: figures of an equity curve of your own, and bootstrap bands around it. */
import assert from 'node:assert/strict';
import {
  bootstrap,
  cut,
  METRICS_DEFAULTS,
  metricsOf,
  MetricsError,
  RandomStreams,
} from 'orrery/metrics';

const DAY_US = 86_400_000_000;
const equity = [10_000, 10_150, 10_080, 10_260, 10_200, 10_420, 10_390, 10_610];
const curve = { timesUs: equity.map((_, day) => day * DAY_US), equity };

const { sharpe, maxDrawdown, totalReturn } = metricsOf(curve, null, { annualisation: 365 });
console.log({ sharpe, maxDrawdown, totalReturn });
assert.ok(Math.abs(totalReturn - 0.061) < 1e-12);

const { returns, perYear } = cut(curve, METRICS_DEFAULTS);
const bands = bootstrap(
  returns,
  { samples: 500, meanBlock: null, confidence: 0.9, periodsPerYear: perYear },
  new RandomStreams('1').stream('bootstrap'),
);
console.log(bands.totalReturn, bands.lossProbability);

assert.throws(() => metricsOf({ timesUs: [0], equity: [1] }), MetricsError);
