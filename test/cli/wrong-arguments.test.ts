/** Wrong arguments of a command line: one line that names what was written, the limit and a way out. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import type { InputError } from '../../src/cli/cli-support.ts';
import { main, parserOf } from '../../src/cli/main.ts';

let printed = '';
vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const explainFailure = (error: unknown): number => {
    const { message, hint } = error as InputError;
    printed = hint === undefined ? message : `${message} (${hint})`;
    return real.explainFailure(error);
  };
  return { ...real, explainFailure, print: () => undefined };
});

const folder = mkdtempSync(join(tmpdir(), 'orrery-wrong-arguments-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const DATA = 'data/btcusdt-20240808';
const QUOTES = 'examples/strategies/quotes.ts';

// The first line of a process loads the commands.
beforeAll(async () => {
  for (const name of ['backtest', 'sweep', 'walkforward', 'serve', 'run', 'inspect', 'journal']) {
    await parserOf([name]);
  }
}, 300_000);

async function refused(line: string): Promise<string> {
  printed = '';
  const tokens = line.replaceAll('$DIR', folder).split(' ');
  expect(await main(tokens)).toBe(2);
  return printed.replaceAll(folder, '$DIR');
}

test.each([
  ['nothing', 'unknown command "nothing" (see orrery --help)'],
  ['replya x', 'unknown command "replya"; did you mean "replay"? (see orrery --help)'],
  [
    'journal verfy x',
    'unknown command "verfy"; did you mean "verify"? (see orrery journal --help)',
  ],
  ['nothing x.ts --data x', 'unknown command "nothing" (see orrery --help)'],
  ['RUN scenarios', 'unknown command "RUN"; did you mean "run"? (see orrery --help)'],
  ['version', 'unknown command "version"; did you mean "--version"? (see orrery --help)'],
  ['help backtest', 'unknown command "help"; did you mean "--help"? (see orrery --help)'],
  ['--versoin', 'unknown option --versoin; did you mean "--version"? (see orrery --help)'],
  ['--versoin run', 'unknown option --versoin; did you mean "--version"? (see orrery --help)'],
  ['-v', 'unknown option -v (see orrery --help)'],
  [
    '--json=true run scenarios',
    'unknown option --json (options follow the command: orrery run [options])',
  ],
  ['run --hepl', 'unknown option --hepl; did you mean "--help"? (see orrery run --help)'],
  [
    'data sample --oot x',
    'unknown option --oot; did you mean "--out"? (see orrery data sample --help)',
  ],
  [
    `backtest ${QUOTES} -data x`,
    'unknown option -data; did you mean "--data"? (see orrery backtest --help)',
  ],
  ['completion zsh', 'unexpected argument "zsh" (the script is for the shell of $SHELL'],
  [
    `backtest ${QUOTES} --sede 3`,
    'unknown option --sede; did you mean "--seed"? (see orrery backtest --help)',
  ],
  [`backtest ${QUOTES} --no-jornal`, 'unknown option --no-jornal; did you mean "--no-journal"?'],
  // An option that yargs takes is not the fault.
  [
    `backtest ${QUOTES} --warmUp 1h --fidelity l4`,
    '--fidelity must be one of l3, l2, trades, bars, got "l4"',
  ],
  [`sweep ${QUOTES} --warmUp 1h --sede 3`, 'unknown option --sede; did you mean "--seed"? (see'],
  ['metrics --riskFree 0.03', 'missing <equity>: CSV file'],
  [
    'metrics x.csv --valueAtRisk none',
    '--valueAtRisk must be one of historical, normal, got "none"',
  ],
  ['fuzz extra', 'unexpected argument "extra" (see orrery fuzz --help)'],
  ['completion --shell', 'unknown option --shell'],
  [
    'data info x --jsn',
    'unknown option --jsn; did you mean "--json"? (see orrery data info --help)',
  ],
  ['data sample', '--out is required: folder of the dataset (see orrery data sample --help)'],
  ['new strateg x', '<what> must be one of strategy, scenario, got "strateg"'],
  [`backtest ${QUOTES} --fidelity l4`, '--fidelity must be one of l3, l2, trades, bars, got "l4"'],
  [`backtest ${QUOTES} --json=maybe`, '--json takes no value, or true or false; got "maybe"'],
  ['run -', '- names no file; standard input is /dev/stdin'],
  ['replay -', '- names no file; standard input is /dev/stdin'],
  [`backtest ${QUOTES} --out - --data x`, '- names no file; standard input is /dev/stdin'],
])('%s', async (line, message) => {
  expect(await refused(line)).toContain(message);
});

test.each([
  ['--fees 2,3', "--fees '2,3': market BTCUSDT: market.takerFee: must be from 0 to 0.1"],
  ['--margin 2,1', "--margin '2,1': market BTCUSDT: market.initialMargin: must be from 0.000001"],
  ['--margin 0.1', "--margin '0.1': must be two ratios, such as 0.02,0.01"],
  ['--margin 0.1,0.1,0.1', "--margin '0.1,0.1,0.1': must be two ratios, such as 0.02,0.01"],
  ['--sample 0s', "--sample '0s': must be a duration of at least 1ms, such as 1h30m"],
  ['--bars path=up', "--bars: path 'up' is not one of nearest, worstCase, stopFirst"],
])('a backtest with %s', async (options, message) => {
  const line = `backtest ${QUOTES} --data ${DATA} --no-check --out $DIR/run ${options}`;
  expect(await refused(line)).toContain(message);
});

test.each([
  [`walkforward ${QUOTES} --data ${DATA} --train 1m`, '--test is required: a duration such as 30d'],
  [`data verify ${DATA} --symbol ETH`, `${DATA}: no market ETH; markets are BTCUSDT`],
  [`backtest src --data ${DATA}`, 'src: is a folder; expected a file'],
  ['serve --trust-proxy proxy.local', "--trust-proxy 'proxy.local': must be an address, a subnet"],
  ['serve --trust-proxy 10.0.0.0/33', "--trust-proxy '10.0.0.0/33': must be an address"],
  ['serve --cors-origin example.com', "--cors-origin 'example.com': must be an origin such as"],
  ['serve --cors-origin https://a.example/', "--cors-origin 'https://a.example/': must be an"],
  ['serve --port 0 --config data/LICENSE.md', 'data/LICENSE.md: '],
])('%s', async (line, message) => {
  const words = await refused(line);
  expect(words).toContain(message);
  expect(words).not.toContain('\n');
});

test.each([
  ['fuzz --runs 1 --priority 5', '--priority needs --pg'],
  ['fuzz --runs 1 --priority 0', '--priority needs --pg'],
  [
    `sweep ${QUOTES} --pg postgres://127.0.0.1:1/x --priority 1e12`,
    '--priority must be a whole number from -1000000 to 1000000, got 1000000000000',
  ],
  ['fuzz --journal $DIR/x --attach 5f0c1b', '--attach needs --pg'],
  ['fuzz --target http://127.0.0.1:1 --sim-token dev --detach', '--detach needs --pg'],
  ['economic --plans 1 --detach', '--detach needs --pg'],
  ['economic --plans 1 --priority 5', '--priority needs --pg'],
  ['exhaust --depth 1 --priority 5', '--priority needs --pg'],
  [`sweep ${QUOTES} --no-upload`, '--no-upload needs --pg'],
  [`walkforward ${QUOTES} --priority 5`, '--priority needs --pg'],
])('%s', async (line, message) => {
  expect(await refused(line.replace('$DIR', folder))).toContain(message);
});

test('a blank is no number', async () => {
  for (const tokens of [['--risk-free', ' '], ['--risk-free= ']]) {
    printed = '';
    expect(await main(['metrics', 'x.csv', ...tokens])).toBe(2);
    expect(printed).toBe('--risk-free must be a number, got " "');
  }
});

test('a folder that is no dataset is not replaced', async () => {
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'manifest.json'), '{"name":"an app","icons":[]}');
  writeFileSync(join(app, 'notes.txt'), 'notes');
  writeFileSync(
    join(folder, 'bars.csv'),
    'time,open,high,low,close\n2024-01-01T00:00:00Z,1,2,1,2\n',
  );
  const message = '$DIR/app: exists and is not a dataset';
  expect(await refused('data sample --out $DIR/app --days 1 --replace')).toBe(message);
  const line = 'data import csv $DIR/bars.csv --symbol X --out $DIR/app --replace';
  expect(await refused(line)).toContain(message);
  expect(readFileSync(join(app, 'notes.txt'), 'utf8')).toBe('notes');
  // Faults of a folder are named without its temporary one.
  const beside = 'data import csv $DIR/bars.csv --symbol X --out $DIR/bars.csv/data';
  expect(await refused(beside)).toBe('$DIR/bars.csv: exists and is not a folder');
  expect(await refused('data sample --out /proc/x --days 1')).toBe(
    '/proc/x: cannot create a folder here',
  );
});

test('files after -- are read, with names that begin with a dash', async () => {
  const line = 'data import csv --symbol X --out $DIR/operands -- nothing.csv -nothing.csv';
  expect(await refused(line)).toBe('nothing.csv: no such file or folder');
  expect(await refused('data info -- -nothing')).toContain('./-nothing');
  expect(await refused('data info --json --')).toContain('missing <dataset>');
  expect(await refused('data import csv --out $DIR/o --symbol -- x.csv')).toContain(
    '--symbol needs a value',
  );
});

test('an output never replaces an input', async () => {
  const scenario = join(folder, 'fees.yaml');
  const journal = join(folder, 'run', 'journal.orrery');
  mkdirSync(join(folder, 'run'), { recursive: true });
  copyFileSync('scenarios/fees.yaml', scenario);
  expect(await main(['run', scenario, '--journal', journal])).toBe(0);
  const [text, bytes] = [readFileSync(scenario), readFileSync(journal)];
  for (const [line, message] of [
    ['run $DIR/fees.yaml --journal $DIR/./fees.yaml', '--journal $DIR/./fees.yaml: is an input'],
    ['inspect $DIR/run/journal.orrery --html $DIR/run/journal.orrery', '--html'],
    ['inspect $DIR/run --html $DIR/run/journal.orrery', '--html $DIR/run/journal.orrery: is an'],
    [
      'journal export $DIR/run/journal.orrery --json --out $DIR/run/../run/journal.orrery',
      '$DIR/run/../run/journal.orrery: is the journal itself',
    ],
    ['fuzz --journal $DIR/run/journal.orrery --junit $DIR/run/journal.orrery', '--junit'],
  ] as const) {
    expect(await refused(line)).toContain(message);
  }
  expect(readFileSync(scenario)).toEqual(text);
  expect(readFileSync(journal)).toEqual(bytes);
  // A page of the run itself may be written again.
  writeFileSync(join(folder, 'run', 'page.html'), 'old');
  expect(
    await main(['inspect', join(folder, 'run'), '--html', join(folder, 'run', 'page.html')]),
  ).toBe(0);
});
