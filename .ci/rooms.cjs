/**
 * The rooms of `src`: what each holds, which rooms it may import, which npm packages it may use,
 * and whether it is deterministic (no clock, no random source, no `node:*`).
 * `.dependency-cruiser.cjs`, `eslint.config.mjs` and the table in docs/ARCHITECTURE.md are made
 * from this list, lowest room first.
 */
const room = (name, holds, imports, packages = [], pure = false) => ({
  name,
  holds,
  imports,
  packages,
  pure,
});
const pure = (name, holds, imports, packages = []) => room(name, holds, imports, packages, true);

const ROOMS = [
  pure('num', 'units, exact arithmetic, decimal text', ['base']),
  pure('base', 'assertions, errors of users, hashes, archive, timer heap, slot index', []),
  pure(
    'contract',
    'the API as data: endpoints, schemas, messages, feeds, exact JSON',
    [],
    ['lossless-json'],
  ),
  room('platform', 'atomic file writes, folders, file errors, V8 settings', ['base']),
  pure('engine', 'the state machine', ['num', 'base']),
  pure('oracle', 'a second implementation of the rules', ['num', 'engine'], ['decimal.js']),
  pure('gateway', 'requests of the contract as commands, views as replies', [
    ...['num', 'base', 'contract', 'engine'],
  ]),
  room(
    'wallet',
    'EIP-712 digests, signature recovery and its threads',
    ['num', 'base', 'engine', 'gateway'],
    ['hash-wasm', 'secp256k1', 'workerpool'],
  ),
  pure('virtual-time', 'scheduler, random streams, latency, faults', ['num', 'base']),
  pure('journal', 'journal format, replay, difference of two journals', [
    ...['num', 'base', 'engine', 'gateway'],
  ]),
  pure('replication', 'one journal for several servers: leader, followers, leases, take-over', [
    ...['num', 'base', 'engine', 'journal'],
  ]),
  room('journal-files', 'journals on disk: group commit, segments, snapshots, recovery', [
    ...['num', 'base', 'platform', 'engine', 'journal'],
  ]),
  pure(
    'tape',
    'recorded market data: formats, reading order, verification',
    ['num', 'base', 'engine', 'gateway'],
    ['hyparquet', 'papaparse'],
  ),
  room(
    'tape-files',
    'datasets and recordings on disk',
    ['num', 'base', 'platform', 'engine', 'journal-files', 'tape'],
    [
      ...['apache-arrow', 'fzstd', 'hash-wasm'],
      ...['hyparquet', 'hyparquet-compressors', 'hyparquet-writer'],
    ],
  ),
  room(
    'postgres',
    'the shared journal in PostgreSQL',
    ['num', 'base', 'platform', 'engine', 'journal', 'replication', 'journal-files'],
    ['pg'],
  ),
  pure('strategy', 'the API of strategies', [
    ...['num', 'base', 'contract', 'gateway', 'virtual-time'],
  ]),
  pure('agents', 'background traders', ['num', 'gateway', 'virtual-time', 'strategy']),
  pure('backtest', 'runs strategies on a tape and records them', [
    ...['num', 'base', 'contract', 'engine', 'gateway', 'virtual-time', 'journal', 'strategy'],
  ]),
  room(
    'strategy-loader',
    'bundles and isolates strategy files',
    ['base', 'platform', 'contract', 'gateway', 'strategy', 'backtest'],
    ['acorn', 'esbuild', 'typescript'],
  ),
  room(
    'run-plan',
    'a run as data: strategy, tape, models, agents; run folders',
    [
      ...['num', 'base', 'platform', 'engine', 'gateway', 'wallet', 'virtual-time', 'tape'],
      ...['tape-files', 'strategy', 'agents', 'backtest', 'strategy-loader'],
    ],
    ['yaml'],
  ),
  pure('design', 'colours, typefaces and number formats of pages', ['base']),
  pure('metrics', 'figures of an equity curve and of trades', ['num', 'base', 'virtual-time']),
  room(
    'report',
    'report pages and tables of a run',
    ['base', 'platform', 'journal', 'strategy', 'backtest', 'metrics', 'design'],
    ['apache-arrow', 'fflate', 'hyparquet-writer'],
  ),
  room(
    'search',
    'samplers, sweeps, walk-forward, worker processes',
    [
      ...['num', 'base', 'platform', 'virtual-time', 'strategy', 'strategy-loader'],
      ...['journal', 'backtest', 'run-plan', 'metrics', 'report'],
    ],
    ['workerpool'],
  ),
  pure(
    'fuzz',
    'random commands, checkers, shrinking, economic search',
    ['num', 'base', 'contract', 'engine', 'oracle', 'gateway', 'virtual-time', 'journal'],
    ['decimal.js', 'fast-check'],
  ),
  room('campaigns', 'searches and fuzzing on the workers of a database', [
    ...['base', 'platform', 'journal', 'tape', 'postgres', 'strategy-loader', 'run-plan'],
    ...['search', 'fuzz'],
  ]),
  pure(
    'scenario',
    'scenario files: language, checks, runner',
    ['num', 'base', 'contract', 'engine', 'gateway', 'virtual-time', 'journal', 'fuzz'],
    ['yaml', 'decimal.js'],
  ),
  pure(
    'time-machine',
    'a journal as a timeline: states, views, breakpoints, what-if',
    [
      'num',
      'base',
      'contract',
      'engine',
      'gateway',
      'virtual-time',
      'journal',
      'backtest',
      'fuzz',
      'scenario',
    ],
    ['acorn'],
  ),
  room(
    'http-client',
    'typed client over HTTP and WebSocket',
    ['base', 'contract', 'gateway', 'wallet'],
    ['ws'],
  ),
  room(
    'http',
    'the API over HTTP and WebSocket',
    [
      'num',
      'base',
      'platform',
      'contract',
      'engine',
      'gateway',
      'wallet',
      'journal',
      'journal-files',
      'design',
    ],
    ['@fastify/[^/]+', 'fastify', 'jose', 'prom-client', 'ws'],
  ),
  room('library', 'calls of the package: backtest, sweep, scenario, server', [
    ...['num', 'base', 'platform', 'engine', 'gateway', 'wallet', 'journal-files', 'tape'],
    ...['tape-files', 'strategy', 'backtest', 'strategy-loader', 'run-plan', 'metrics'],
    ...['report', 'search', 'scenario', 'http-client', 'http'],
  ]),
  room('live', 'strategies against a served exchange', [
    ...['num', 'base', 'platform', 'contract', 'gateway', 'virtual-time', 'strategy'],
    ...['backtest', 'run-plan', 'http-client'],
  ]),
];

/** The `orrery` command may import every room and these packages. */
const CLI_PACKAGES = ['cli-table3', 'papaparse', 'workerpool', 'yaml', 'yargs'];

ROOMS.push(
  room(
    'cli',
    'the `orrery` command',
    ROOMS.map(({ name }) => name),
    CLI_PACKAGES,
  ),
);

/** Bundled into `dist/assets` for the browser: an installation needs none of its packages. */
ROOMS.push(
  room(
    'web',
    'pages in the browser: the time machine, and the screen of a server',
    ['num', 'base', 'contract', 'engine', 'gateway', 'journal', 'design', 'time-machine'],
    ['preact', '@preact/signals', 'lightweight-charts', 'uplot', 'ethers'],
  ),
);

module.exports = { ROOMS };
