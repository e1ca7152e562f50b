/** A `run.json` or `live.json` that is damaged, or was edited by hand, is refused by its field. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from '../../src/cli/commands/report.ts';
import { main } from '../../src/cli/main.ts';
import { readCompared } from '../../src/live/compare-runs.ts';
import { readRun, type RecordedRun } from '../../src/run-plan/run-folder.ts';
import { DATASET, example } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-damaged-record-'));
const file = join(folder, 'run.json');
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let sound = '';
beforeAll(async () => {
  const from = ['--data', DATASET, '--to', '2024-08-08T23:55:00Z', '--out', folder, '--json'];
  expect(await main(['backtest', example('grid'), ...from])).toBe(0);
  sound = readFileSync(file, 'utf8');
}, 60_000);

test('a sound record is read', async () => {
  writeFileSync(file, sound);
  expect((await readRun(folder)).strategies[0]?.fills.length).toBeGreaterThan(0);
});

test.each([
  ['none', [], 'write a run with: orrery backtest'],
  ['sweep', ['index.html', 'trials.jsonl', 'best/run.json'], 'a run is in FOLDER/best'],
  ['other', ['notes.txt'], 'the folder holds no finished run'],
  ['stopped', ['checkpoint.bin', 'best/run.json'], 'orrery backtest --resume FOLDER'],
])('the error of a folder without a run has an advice: %s', async (name, files, advice) => {
  const path = join(folder, 'without', name);
  for (const one of files) {
    mkdirSync(dirname(join(path, one)), { recursive: true });
    writeFileSync(join(path, one), '{}');
  }
  await expect(readRun(path)).rejects.toThrow(advice.replace('FOLDER', path));
});

test('records of version 0.2.0 are read', async () => {
  const run = JSON.parse(sound) as RecordedRun;
  const without = (row: object, ...names: string[]): void => {
    for (const name of names) Reflect.deleteProperty(row, name);
  };
  without(run, 'terms');
  for (const market of run.markets) without(market, 'divergence');
  for (const strategy of run.strategies) {
    without(strategy, 'plots');
    without(strategy.summary, 'refusals');
    for (const order of strategy.orders) without(order, 'tag', 'triggerPrice');
    for (const fill of strategy.fills) without(fill, 'tag', 'seq');
  }
  writeFileSync(file, JSON.stringify(run));
  const { strategies } = await readRun(folder);
  expect(strategies).toMatchObject(run.strategies);
  for (const { plots, orders, fills } of strategies) {
    expect(plots).toEqual([]);
    expect(orders.length * fills.length).toBeGreaterThan(0);
    expect(new Set([...orders, ...fills].map(({ tag }) => tag))).toEqual(new Set([null]));
  }
  const live = { orrery: 'live', version: 1, strategy: 's', parameters: {}, log: [] };
  const record = { ...live, startedUs: 1, endedUs: 2, orders: [], fills: [], ends: [] };
  writeFileSync(join(folder, 'live.json'), JSON.stringify(record));
  expect((await readCompared(folder, null)).orders).toEqual([]);
  rmSync(join(folder, 'live.json'));
});

type Edit = (run: Record<string, unknown>, first: Record<string, Row[]>) => unknown;
type Row = Record<string, unknown>;

const EDITS: readonly (readonly [message: string, edit: Edit])[] = [
  ['version 2 of the format; this release reads 1', (run) => (run['version'] = 2)],
  ['firstUs must be a time in µs', (run) => (run['firstUs'] = '1')],
  ['lastUs must be a time in µs', (run) => (run['lastUs'] = 1e300)],
  [
    'strategies[0].equity[1].timeUs must be a time in µs',
    (_run, { equity }) => Object.assign(equity?.[1] ?? {}, { timeUs: -1e19 }),
  ],
  [
    'strategies[0].summary.equityStart must be the text of a number',
    (_run, first) => Object.assign(first, { summary: {} }),
  ],
  ['strategies must be a list', (run) => (run['strategies'] = {})],
  ['markets must be a list', (run) => delete run['markets']],
  ['strategies[0].equity must be a list', (_run, first) => delete first['equity']],
  ['strategies[0].fills must be a list', (_run, first) => Object.assign(first, { fills: 5 })],
  [
    'strategies[0].fills[0] must be an object',
    (_run, { fills }) => fills?.splice(0, 1, [] as unknown as Row),
  ],
  [
    'strategies[0].fills[1].price must be the text of a number',
    (_run, { fills }) => Object.assign(fills?.[1] ?? {}, { price: 61_805.3 }),
  ],
  [
    'strategies[0].orders[0].ioc must be true or false',
    (_run, { orders }) => delete orders?.[0]?.['ioc'],
  ],
  ['assumptions must be a list', (run) => (run['assumptions'] = 'none')],
];

test.each(EDITS)('%s', async (message, edit) => {
  const run = JSON.parse(sound) as RecordedRun;
  edit(
    run as unknown as Record<string, unknown>,
    run.strategies[0] as unknown as Record<string, Row[]>,
  );
  writeFileSync(file, JSON.stringify(run));
  await expect(readRun(folder)).rejects.toThrow(`${file}: ${message}`);
  expect(await main(['report', folder])).toBe(2);
});

test.each([
  ['{"strategies":', 'damaged, or cut off: '],
  ['{}', 'strategies must be a list'],
  ['{"strategies":[1]}', 'strategies[0] must be an object'],
  ['{"strategies":[{"id":"a","bundle":{}}]}', 'strategies[0].bundle.sha256 must be text'],
])('a plan of %j is named by a report', async (text, message) => {
  writeFileSync(file, sound);
  const plan = join(folder, 'plan.json');
  const before = readFileSync(plan);
  writeFileSync(plan, text);
  const report = Promise.resolve(
    command.handler({
      ...{ run: [folder], pg: undefined, out: undefined, json: true, _: [], $0: '' },
    }),
  );
  await expect(report).rejects.toThrow(`${plan}: ${message}`);
  writeFileSync(plan, before);
});

test.each([
  ['', 'damaged, or cut off: '],
  ['{"orrery":"run","version":1,"firstUs', 'damaged, or cut off: '],
  ['null', 'not a recorded run'],
  ['[]', 'not a recorded run'],
])('a file of %j', async (text, message) => {
  writeFileSync(file, text);
  await expect(readRun(folder)).rejects.toThrow(`${file}: ${message}`);
  for (const line of [
    ['report', folder],
    ['export', folder],
    ['explain', folder, '#1'],
  ]) {
    expect(await main(line)).toBe(2);
  }
});

function live(fields: object): string {
  const empty = { startedUs: 1, endedUs: 2, orders: [], fills: [], ends: [] };
  return JSON.stringify({ orrery: 'live', version: 1, ...empty, ...fields });
}

test.each([
  ['{"orrery":', 'damaged, or cut off: '],
  ['null', 'not the record of a live run'],
  ['{"orrery":"live","version":2}', 'version 2 of the format; this release reads 1'],
  [live({ orders: {} }), 'orders must be a list'],
  [live({ orders: [{}] }), 'orders[0].sentUs must be a time in µs'],
  [live({ orders: [{ sentUs: 1, order: {} }] }), 'orders[0].orderId must be text'],
  [live({ fills: [{}] }), 'fills[0].timeUs must be a time in µs'],
  [live({ ends: [{}] }), 'ends[0].orderId must be text'],
  [live({ equity: [{}] }), 'equity[0].timeUs must be a time in µs'],
])('a live record of %j', async (text, message) => {
  const live = join(folder, 'live.json');
  writeFileSync(live, text);
  await expect(readCompared(folder, null)).rejects.toThrow(`${live}: ${message}`);
});
