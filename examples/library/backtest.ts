/**
 * `orrery/backtest`: a strategy object and a strategy file on the recorded data of the package, a
 * sweep over a parameter, a walk-forward analysis, candles of ccxt, and the dataset itself.
 */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  backtest,
  openDataset,
  StrategyError,
  sweep,
  walkForward,
  type Candle,
} from 'orrery/backtest';
import { quoter } from './strategy.js';

const root = dirname(fileURLToPath(import.meta.resolve('orrery/package.json')));
const data = join(root, 'data/btcusdt-20240808');

const run = await backtest({
  strategy: quoter,
  data,
  parameters: { ticks: 3 },
  fees: { maker: '-0.0001', taker: '0.0004' },
  journal: true,
  signal: AbortSignal.timeout(600_000),
});
const [{ summary, metrics, fills }] = run.strategies;
console.log('PnL', summary.pnl, 'of which fees', summary.pnlFees);
console.log('fills', fills.length, 'max drawdown', metrics?.maxDrawdown);
assert.ok(run.journal.length > 0);

const file = join(root, 'examples/strategies/quotes.ts');
const other = await backtest({ strategy: file, data, latency: 'none' });
console.log(other.strategies[0].name, other.chainHash);

const search = await sweep({
  strategy: quoter,
  data,
  vary: { ticks: { min: 1, max: 3, step: 1 } },
  method: 'grid',
  objective: 'totalReturn',
});
for (const { parameters, score } of search.all) console.log(parameters, score);
assert.equal(search.all.length, 3);

// Trials of a strategy file run in worker processes.
const inWorkers = await sweep({
  strategy: file,
  data,
  to: '2024-08-08T23:56:00Z',
  vary: { size: ['0.01', '0.02'] },
  method: 'grid',
  workers: 2,
});
for (const { error } of inWorkers.all) assert.equal(error, null);

const walk = await walkForward({
  strategy: quoter,
  data,
  vary: { ticks: [1, 3] },
  method: 'grid',
  objective: 'totalReturn',
  train: '45s',
  test: '30s',
  to: '2024-08-08T23:56:05Z',
  signal: AbortSignal.timeout(600_000),
  onWindow: (done, windows) => console.log('window', done, 'of', windows),
});
for (const { parameters, testScore } of walk.windows) console.log(parameters, testScore);
console.log('efficiency', walk.efficiency, 'return', walk.outOfSample?.totalReturn);

// As `await exchange.fetchOHLCV('BTC/USDT', '1h')` of ccxt returns them.
const candles = Array.from({ length: 100 }, (_, hour): Candle => {
  const price = 60_000 + 100 * (hour % 7);
  return [Date.UTC(2024, 0, 1, hour), price, price + 50, price - 50, price + 10, 12];
});
const onCandles = await backtest({
  strategy: quoter,
  // Of round prices and volumes the steps cannot be found.
  candles: [{ symbol: 'BTCUSDT', candles, tickSize: '0.1', lotSize: '0.001' }],
});
assert.equal(onCandles.markets[0]?.symbol, 'BTCUSDT');

await assert.rejects(
  backtest({ strategy: quoter, data, parameters: { ticks: 500 } }),
  (error: unknown) => error instanceof StrategyError && /'ticks'.*1 to 100/.test(error.message),
);

const dataset = await openDataset(data);
let commands = 0;
for await (const batch of dataset.read().commands()) commands += batch.length;
console.log(
  dataset.markets.map(({ symbol }) => symbol),
  commands,
  'commands',
);
