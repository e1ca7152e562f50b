import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import { MatcherError } from '../../src/gateway/matcher-client.ts';
import { FaultModel } from '../../src/virtual-time/faults.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { readLatencyRows } from '../../src/run-plan/latency-rows.ts';
import {
  parseFees,
  parseImpact,
  parseLatency,
  parseQueue,
  type LatencyPorts,
} from '../../src/run-plan/models.ts';
import { entryOf, inputOf, START_US } from '../backtest/made-up.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-models-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const ports = (minRecordedUs = 0): LatencyPorts => ({
  random: new RandomStreams('m').stream('latency'),
  rows: readLatencyRows,
  minRecordedUs,
});

test('measured latency is interpolated between rows, and constant beyond them', () => {
  const path = join(folder, 'rows.csv');
  writeFileSync(path, 'sentUs,exchangeUs,answeredUs\n1000,1100,1300\n2000,2300,2400\n');
  const model = parseLatency(`measured:file=${path},feed=3ms,compute=0s`, ports());
  expect([0, 1000, 1500, 2000, 9000].map((at) => model.entryUs(at))).toEqual([
    100, 100, 200, 300, 300,
  ]);
  // Responses by their time of arrival, so that measured orders are answered as they were.
  expect([0, 1100, 1700, 2300, 9000].map((at) => model.responseUs(at))).toEqual([
    200, 200, 150, 100, 100,
  ]);
  expect(model.feedUs(0, null)).toBe(3000);
});

test('an order that leaves at the time of a measured one arrives and is answered as it was', async () => {
  const path = join(folder, 'measured.csv');
  const rows = [
    [1_000_000, 1_010_000, 1_050_000],
    [1_200_000, 1_300_000, 1_310_000],
    [1_500_000, 1_520_000, 1_620_000],
  ].map((row) => row.map((us) => us + START_US));
  writeFileSync(path, ['sentUs,exchangeUs,answeredUs', ...rows.map(String)].join('\n'));
  const latency = parseLatency(`measured:file=${path},compute=500us`, ports());
  const answeredUs: number[] = [];
  const output = await runBacktest(
    inputOf([
      entryOf(
        {
          async onStart(context) {
            for (const [sentUs = 0] of rows) {
              await context.sleep(sentUs - 500 - context.now());
              await context.submit({ side: 'buy', size: '0.001' });
              answeredUs.push(context.now());
            }
          },
        },
        { latency },
      ),
    ]),
  );
  const arrivedUs = output.strategies[0]!.orders.map((order) => order.arrivedUs);
  expect(arrivedUs.map((atUs, i) => [rows[i]?.[0], atUs, answeredUs[i]])).toEqual(rows);
});

test.each([
  ['a,b\n1,2', 'no column sentUs'],
  ['sentUs,exchangeUs,answeredUs\n', 'no rows'],
  ['sentUs,exchangeUs,answeredUs\n5,4,6', ':2: must be whole µs'],
  ['sentUs,exchangeUs,answeredUs\n5,6,7\n5,6,7', ':3: must be whole µs'],
  ['sentUs,exchangeUs,answeredUs\n\n5,6,7\n\n5,6,7', ':5: must be whole µs'],
  ['sentUs,exchangeUs,answeredUs\n5,6.5,7', ':2: must be whole µs'],
  ['sentUs,exchangeUs,answeredUs\n5,6,Infinity', ':2: must be whole µs'],
])('a file of rows %j is rejected with its place', (text, words) => {
  const path = join(folder, 'bad.csv');
  writeFileSync(path, text);
  expect(() => readLatencyRows(path)).toThrow(words);
});

test('a multiple of fees is of what is paid: a rebate stays', () => {
  expect(parseFees('-0.0001,0.0004', 3)).toEqual({ makerFee: '-0.0001', takerFee: '0.0012' });
});

test('recorded latency corrects a recorder’s slow clock; orders take as long as the last update', () => {
  // The recorder's clock was 1.27 s behind: the smallest difference becomes the min latency.
  const model = parseLatency('recorded:entry=2,response=0.5,least=1ms', ports(-1_270_000));
  expect(model.feedUs(0, -1_270_000)).toBe(1000);
  expect(model.feedUs(0, -1_260_000)).toBe(11_000);
  expect(model.entryUs(0)).toBe(22_000);
  expect(model.responseUs(0)).toBe(5500);
  // Without a recorded time the last latency applies.
  expect(model.feedUs(0, null)).toBe(11_000);
});

test('jitter has the given median, a long tail, and a bound', () => {
  const model = parseLatency('jitter:feed=1ms,jitter=2ms', ports());
  const draws = Array.from({ length: 4001 }, () => model.feedUs(0, null)).sort((a, b) => a - b);
  expect(draws[0]).toBeGreaterThanOrEqual(1000);
  expect(draws[2000]! / 3000).toBeCloseTo(1, 0);
  expect(draws.at(-1)!).toBeLessThanOrEqual(1000 + 20 * 2000);
  expect(draws.filter((us) => us > 1000 + 10 * 2000).length).toBeGreaterThan(200);
  expect(model.words).toContain('jittered by 2 ms (median of a draw, long tail; a message waits');
});

test('updates and responses keep their order for all latencies', async () => {
  let last = 0;
  let received = 0;
  const latency = parseLatency('jitter:feed=1ms,entry=1ms,response=1ms,jitter=50ms', ports());
  await runBacktest(
    inputOf(
      [
        entryOf(
          {
            onBook(update) {
              expect(update.timeUs).toBeGreaterThanOrEqual(last);
              last = update.timeUs;
              received += 1;
            },
          },
          { latency },
        ),
      ],
      10,
    ),
  );
  expect(received).toBeGreaterThan(50);
});

test('faults drop requests and interrupt the feed; private updates arrive after the reconnect', async () => {
  const statuses = new Map<number, number>();
  const silent: number[] = [];
  let last = START_US as number;
  const random = new RandomStreams('faults').stream('f');
  const faults = new FaultModel(
    { reject: 0.1, limit: 0.1, disconnect: { everyUs: 3_000_000, forUs: 700_000 } },
    random,
    START_US,
  );
  const { strategies } = await runBacktest(
    inputOf(
      [
        entryOf(
          {
            onStart: (context) => context.setTimer('go', 100_000),
            async onTimer(_name, context) {
              context.setTimer('go', 100_000);
              await context.submit({ side: 'buy', size: '0.001' }).catch((error: unknown) => {
                if (!(error instanceof MatcherError)) throw error;
                statuses.set(error.status, (statuses.get(error.status) ?? 0) + 1);
              });
            },
            onBook(_update, context) {
              silent.push(context.now() - last);
              last = context.now();
            },
          },
          { faults },
        ),
      ],
      20,
    ),
  );
  expect(statuses.get(429)).toBeGreaterThan(5);
  expect(statuses.get(503)).toBeGreaterThan(20);
  expect(Math.max(...silent)).toBeGreaterThanOrEqual(600_000);
  expect(strategies[0]!.summary.refusedRequests).toBe(
    [...statuses.values()].reduce((sum, count) => sum + count, 0),
  );
  const { refusals, fills } = strategies[0]!.summary;
  for (const [status, count] of statuses) {
    const own = refusals.filter((row) => row.status === status);
    expect(own.reduce((sum, row) => sum + row.count, 0)).toBe(count);
    expect(own[0]!.message).not.toBe('');
  }
  expect(fills).toBeGreaterThan(50);
});

test('impact by name', () => {
  const market = { symbol: 'T', fidelity: 'l2', hasTrades: true } as const;
  const halving = { impactModel: 'halving', impactHalfLifeMs: 250 };
  expect(parseImpact('halving:250ms', market)).toEqual(halving);
  expect(parseImpact('none', market)).toEqual({ impactModel: 'none' });
  const squareRoot = { impactModel: 'squareRoot', impactHalfLifeMs: 3_600_000 };
  expect(parseImpact('squareRoot', market)).toEqual(squareRoot);
  expect(parseImpact('squareRoot:30m', market)).toEqual({
    ...squareRoot,
    impactHalfLifeMs: 1_800_000,
  });
  for (const text of ['squareRoot:0s', 'squareRoot:1h:2', 'halving:', 'root:1h', 'toString']) {
    expect(() => parseImpact(text, market)).toThrow(`--impact '${text}': must be none, permanent`);
  }
});

test.each([
  ['l3', true, 'T is played as l3'],
  ['trades', true, 'T is played as trades'],
  ['bars', true, 'T is played as bars'],
  [null, false, 'T has agents'],
  ['l2', false, 'T has no recorded trades'],
] as const)(
  'R-14.1 squareRoot impact is refused for %s, trades: %s',
  (fidelity, hasTrades, lack) => {
    expect(() => parseImpact('squareRoot:1h', { symbol: 'T', fidelity, hasTrades })).toThrow(
      `--impact squareRoot:1h: ${lack}; squareRoot needs recorded price levels (l2) with trades`,
    );
    expect(parseImpact('halving', { symbol: 'T', fidelity, hasTrades }).impactModel).toBe(
      'halving',
    );
  },
);

test('fifo requires data with queue positions; all models can be named', () => {
  const market = { symbol: 'T', fidelity: 'l2' } as const;
  expect(() => parseQueue('fifo', market)).toThrow(
    '--queue fifo: T is played as l2, which has no queue positions; fifo needs single orders (l3), else choose riskAverse',
  );
  expect(parseQueue('fifo', { symbol: 'T', fidelity: 'l3' })).toBe('probPower2');
  expect(parseQueue('fifo', { symbol: 'T', fidelity: null })).toBe('probPower2');
  expect(() => parseQueue('best', market)).toThrow('must be one of fifo, riskAverse, probPower1');
  for (const model of ['riskAverse', 'probPower1', 'probPower2', 'probPower3', 'probLog']) {
    expect(parseQueue(model, market)).toBe(model);
  }
});
