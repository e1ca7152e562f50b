/**
 * Values of another kind than the types say, as a program in JavaScript passes them: each is an
 * error for the user that names the option and what it must be.
 */
import { expect, test } from 'vitest';
import { checkJournal } from '../../src/fuzz/index.ts';
import { HttpMatcherClient } from '../../src/http-client/index.ts';
import { exportJournal, openJournal, replayJournal } from '../../src/journal-files/index.ts';
import {
  backtest,
  defineStrategy,
  openDataset,
  sweep,
  UserError,
  walkForward,
  writeCandles,
  writeReport,
} from '../../src/library/backtest/index.ts';
import { parseScenario, readScenario, runScenario } from '../../src/library/scenario/index.ts';
import {
  bootstrap,
  cut,
  drawdowns,
  furtherMetrics,
  METRICS_DEFAULTS,
  metricsOf,
  overfitting,
  RandomStreams,
  relativeMetrics,
  underwater,
} from '../../src/metrics/index.ts';
import { DATASET } from '../run-plan/plans.ts';

const strategy = defineStrategy({ name: 'still', parameters: {}, create: () => ({}) });
const creating = (create: () => unknown): unknown => ({ ...strategy, create });
const rows = Array.from({ length: 20 }, (_, h) => [Date.UTC(2024, 0, 1, h), 9, 10, 8, 9, 12]);
const market = { symbol: 'BTCUSDT', candles: rows, tickSize: '0.1', lotSize: '0.001' };
const base = { strategy, data: DATASET };
const inCandles = (fields: object): object => ({
  strategy,
  candles: [{ ...market, ...fields }],
});
const curve = { timesUs: [1e15, 2e15, 3e15], equity: [100, 110, 105] };
const random = new RandomStreams('wrong').stream('values');
const bands = { samples: 5, meanBlock: null, confidence: 0.9, periodsPerYear: 365 };

const client = new HttpMatcherClient({ url: 'http://127.0.0.1:1', signer: null, retries: 0 });
const toClosedPort = (endpoint: 'getBalance', request: { account: string }): unknown =>
  client.call(endpoint, request);

/** A call of a function with arguments that its types forbid. */
const call = (run: (...given: never[]) => unknown, ...given: unknown[]) => {
  return (): unknown => (run as (...args: unknown[]) => unknown)(...given);
};

const CALLS: readonly (readonly [message: string, run: () => unknown])[] = [
  ['options: must be an object', call(backtest, undefined)],
  ['failed in create at 2024', call(backtest, { ...base, strategy: creating(() => null) })],
  [
    '`create` must return an object of handlers',
    call(backtest, { ...base, strategy: creating(() => 5) }),
  ],
  [
    '`create` must return its handlers at once, and not a promise of them',
    call(backtest, { ...base, strategy: creating(() => Promise.resolve({})) }),
  ],
  [
    "balance '10000': must be decimal text, such as '0.1'",
    call(backtest, { ...base, balance: 10_000 }),
  ],
  ["latency '5': must be text", call(backtest, { ...base, latency: 5 })],
  ["impact 'a list': must be text", call(backtest, { ...base, impact: [] })],
  ["bars 'null': must be text", call(backtest, { ...base, bars: null })],
  ["markets 'BTCUSDT': must be a list of text", call(backtest, { ...base, markets: 'BTCUSDT' })],
  ['markets: must name at least one', call(backtest, { ...base, markets: [] })],
  ["symbols 'BTCUSDT': must be a list of text", call(backtest, { ...base, symbols: 'BTCUSDT' })],
  ["fees 'null': must be an object", call(backtest, { ...base, fees: null })],
  ["signal 'an object': must be an AbortSignal", call(backtest, { ...base, signal: {} })],
  ["onProgress 'true': must be a function", call(backtest, { ...base, onProgress: true })],
  ["journal '1': must be true, false or a function", call(backtest, { ...base, journal: 1 })],
  [
    "from 'Symbol(now)': must be text or a number",
    call(backtest, { ...base, from: Symbol('now') }),
  ],
  ["feeds 'rows.csv': must be a list of objects", call(backtest, { ...base, feeds: 'rows.csv' })],
  ["feeds[0].file '5': must be text", call(backtest, { ...base, feeds: [{ file: 5 }] })],
  [
    "option 'others[0].paramters' is not known",
    call(backtest, { ...base, others: [{ strategy, paramters: {} }] }),
  ],
  ["candles 'null': must be a list of objects", call(backtest, { strategy, candles: null })],
  ["candles[0].tickSize '0.1': must be decimal text", call(backtest, inCandles({ tickSize: 0.1 }))],
  ["option 'candles[0].tick' is not known", call(backtest, inCandles({ tick: '0.1' }))],
  ["folder 'null': must be text", call(writeCandles, null, [market])],
  ['result: must be that of backtest', call(writeReport, {}, 'folder')],
  ["vary 'fast=1:2': must be an object", call(sweep, { ...base, vary: 'fast=1:2' })],
  ['vary.fast: must be an object', call(sweep, { ...base, vary: { fast: 5 } })],
  [
    'vary.fast: must be a list of numbers, text or flags, not empty',
    call(sweep, { ...base, vary: { fast: [] } }),
  ],
  ["objective '1': must be text", call(sweep, { ...base, objective: 1 })],
  ["onTrial '1': must be a function", call(sweep, { ...base, onTrial: 1 })],
  [
    "train 'true': must be text or a number",
    call(walkForward, { ...base, train: true, test: '1h' }),
  ],
  ['path: must be that of a folder', call(openDataset, 5)],
  ['5: must be the path of a journal', call(openJournal, 5)],
  ['journal: must be a path or the bytes of a journal', call(replayJournal, [])],
  ['untilSeq -1: must be a whole number from 0', call(replayJournal, 'none', { untilSeq: -1 })],
  ['from 0: must be a whole number from 1', call(exportJournal, 'none', 'out', { from: 0 })],
  ['journal: must be the bytes of a journal', call(checkJournal, 'journal.orrery')],
  ['scenario:1:1: must be a parsed scenario, or its text', call(parseScenario, 5)],
  ['scenario:1:1: must be a parsed scenario, or its text', call(runScenario, {})],
  ['path: must be that of a file', call(readScenario, null)],
  ['timesUs: must be a list of numbers', call(metricsOf, undefined)],
  ['equity: must be a list of numbers', call(metricsOf, { timesUs: [1, 2] })],
  ['trades: must be a list, or null', call(metricsOf, curve, {})],
  ['trade 1: pnl is not a finite number', call(metricsOf, curve, [null])],
  [
    'trade 1: entryUs is not a time in microseconds, or null',
    call(metricsOf, curve, [{ pnl: 1, notional: null }]),
  ],
  [
    'trade 1: exitUs is not a time in microseconds, or null',
    call(metricsOf, curve, [{ pnl: 1, notional: 5, entryUs: 1e15, exitUs: '2024-01-01' }]),
  ],
  [
    'trade 1: notional is not a finite number of at least 0, or null',
    call(metricsOf, curve, [{ pnl: 1, notional: Infinity, entryUs: null, exitUs: null }]),
  ],
  [
    'trials.count: must be a whole number from 0',
    call(metricsOf, curve, null, {}, { count: NaN, sharpeVariance: 1 }),
  ],
  ['trials.count: must be a whole number from 0', call(metricsOf, curve, null, {}, 10)],
  [
    'trials.sharpeVariance: must be null or a finite number from 0',
    call(metricsOf, curve, null, {}, { count: 10, sharpeVariance: -1 }),
  ],
  [
    'trial 2: return 3 is not a finite number',
    call(
      overfitting,
      [
        [1, 2, 3, 4],
        [1, 2, NaN, 4],
      ],
      2,
    ),
  ],
  [
    'trial 1: return 1 is not a finite number',
    call(
      overfitting,
      [
        ['0.1', 2, 3, 4],
        [1, 2, 3, 4],
      ],
      2,
    ),
  ],
  ['returns: return 2 is not a finite number', call(bootstrap, [0.1, NaN], bands, random)],
  [
    "period '0': must be 'rows' or microseconds, at least 1",
    call(metricsOf, curve, null, { period: 0 }),
  ],
  [
    "period '1': must be at least 1 µs, and give at most 10000000 periods",
    call(furtherMetrics, curve, { period: 1 }),
  ],
  ["period '-1': must be at least 1 µs", call(cut, curve, { ...METRICS_DEFAULTS, period: -1 })],
  ["returns 'lgo': must be one of simple, log", call(metricsOf, curve, null, { returns: 'lgo' })],
  ["level '95': must be a number between 0 and 1", call(furtherMetrics, curve, { level: 95 })],
  [
    "riskFree '-1': must be a finite number above -1",
    call(relativeMetrics, curve, curve, { riskFree: -1 }),
  ],
  ["option 'anualisation' is not known", call(metricsOf, curve, null, { anualisation: 252 })],
  ['equity: must be a list of numbers', call(underwater, curve)],
  ['timesUs: must be a list of numbers', call(drawdowns, [])],
  ['trial 2: must be a list of numbers', call(overfitting, [[1, 2, 3, 4], 5], 2)],
  ['returns: must have at least one', call(bootstrap, [], bands, random)],
  [
    "samples '1e+21': must be a whole number from 1 to 1000000",
    call(bootstrap, [0.1], { ...bands, samples: 1e21 }, random),
  ],
  ["url 'undefined': must be the URL of an exchange", () => new HttpMatcherClient({} as never)],
  [
    "url 'localhost': must be the URL",
    () => new HttpMatcherClient({ url: 'localhost', signer: null }),
  ],
  [
    "retries 'NaN': must be a whole number from 0",
    () => new HttpMatcherClient({ url: 'http://a', signer: null, retries: NaN }),
  ],
  [
    "retries '-1': must be a whole number from 0",
    () => new HttpMatcherClient({ url: 'http://a', signer: null, retries: -1 }),
  ],
  [
    "timeoutMs '2147483648': must be a whole number from 1 to 2147483647",
    () => new HttpMatcherClient({ url: 'http://a', signer: null, timeoutMs: 2 ** 31 }),
  ],
  [
    'signer: must be null, or have address, signMessage and signTypedData',
    () => new HttpMatcherClient({ url: 'http://a', signer: {} as never }),
  ],
  ['GET http://127.0.0.1:1/time: fetch failed', call(toClosedPort, 'getTime', {})],
  ["endpoint 'getOrdr': must be one of getAuth", call(toClosedPort, 'getOrdr', {})],
  ["endpoint 'constructor': must be one of", call(toClosedPort, 'constructor', {})],
  ['getBalance: the request must be an object', call(toClosedPort, 'getBalance', undefined)],
];

test.each(CALLS)('%s', async (message, run) => {
  const error = await Promise.resolve()
    .then(run)
    .then(
      () => null,
      (thrown: unknown) => thrown,
    );
  expect(error).toBeInstanceOf(UserError);
  expect((error as Error).message).toContain(message);
});

test('an option that is undefined has its default', () => {
  expect(metricsOf(curve, null, { level: undefined } as object)).toEqual(metricsOf(curve));
});
