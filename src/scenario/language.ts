/**
 * The scenario language as data: each key with its shape and a one-line description.
 * `docs/SCENARIOS.md` describes it in prose.
 */
import { ENDPOINT_IDS } from '../contract/endpoints.ts';
import { REFUSALS } from '../engine/refusals.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../engine/tape/hash-tape.ts';
import type { Fields, Shape } from './shape.ts';
import { CHECK_NAMES } from '../fuzz/checks/checks.ts';
import { DURATION_PATTERN, TIME_PATTERN } from '../num/time-text.ts';

/** Names of system accounts that hold money. */
export const SYSTEM_NAMES = ['vault', 'insurance', 'treasury', 'shortfall'] as const;

/** Max number of runs of a `repeat`. */
export const MAX_REPEATS = 10_000;

/** Max spread of a bar's synthetic book, as in the engine. */
const MAX_SPREAD_TICKS = 1 << 24;

/** Max number of accounts of a crowd. */
export const MAX_CROWD = 1000;

const NAME = /^[a-z][A-Za-z0-9_-]{0,31}$/;
const text = (what: string, pattern?: RegExp): Shape =>
  pattern === undefined ? { kind: 'text', what } : { kind: 'text', what, pattern };
const decimal = (what: string): Shape => ({ kind: 'decimal', what });
const record = (fields: Fields): Shape => ({ kind: 'record', fields });
const bySymbol = (of: Shape, min = 0): Shape => ({
  kind: 'map',
  of,
  keys: { what: 'market symbol', pattern: /^\S{1,64}$/ },
  ...(min === 0 ? {} : { min }),
});
const byName = (what: string, of: Shape): Shape => ({
  kind: 'map',
  of,
  keys: { what, pattern: NAME },
});

const ANYTHING: Shape = { kind: 'anything' };
const ANY_MAP: Shape = { kind: 'map', of: ANYTHING, keys: { what: 'key', pattern: /^/ } };
export const MAX_SUBACCOUNT = 2 ** 31 - 1;
const SUBACCOUNT: Shape = {
  kind: 'whole',
  what: 'a subaccount index',
  min: 0,
  max: MAX_SUBACCOUNT,
};
const LEVELS: Shape = {
  kind: 'list',
  of: { kind: 'list', of: decimal('a price or a quantity'), min: 2, max: 2 },
};
const PRICES = bySymbol(decimal('a price'), 1);
const SYMBOL = {
  shape: text('a market symbol'),
  doc: 'The market; optional if the scenario has one market.',
} as const;
const DOLLARS = decimal('an amount of money');

/** Distributions of a draw. */
const DISTRIBUTIONS = ['uniform', 'logUniform', 'choice'] as const;

/** A random value for each member of a crowd. */
export const DRAW_SHAPE: Shape = record({
  draw: {
    shape: { kind: 'word', what: 'a distribution', words: DISTRIBUTIONS },
    doc: 'Distribution of the values: `uniform`, `logUniform`, or a `choice` from a list.',
    required: true,
  },
  from: { shape: decimal('a number'), doc: 'Min value, a multiple of `step`.' },
  to: { shape: decimal('a number'), doc: 'Max value, a multiple of `step`.' },
  step: { shape: decimal('a number'), doc: 'Values are multiples of this.' },
  of: {
    shape: { kind: 'list', of: text('a value'), min: 1 },
    doc: 'Values of a `choice`, equally likely.',
  },
  salt: {
    shape: { kind: 'whole', what: 'a number', min: 0, max: Number.MAX_SAFE_INTEGER },
    doc: 'Distinguishes otherwise equal draws; default 0.',
  },
});
const DRAW: Shape = { kind: 'named', name: 'draw', shape: () => DRAW_SHAPE };

const STATE_FIELDS: Fields = {
  records: {
    shape: byName('saved name', ANY_MAP),
    doc: 'Orders by the name under which they were saved: current fields of their records.',
  },
  balances: {
    shape: {
      kind: 'map',
      of: DOLLARS,
      keys: { what: 'account', pattern: /^[a-z][A-Za-z0-9_-]{0,31}(\/(0|[1-9]\d{0,9}))?$/ },
    },
    doc: 'Cash by account: `alice`, `alice/1` for subaccount 1, or `vault`, `insurance`, `treasury`.',
  },
  positions: {
    shape: byName('account name', bySymbol(ANYTHING)),
    doc: 'Position records by account and market (subaccount 0); null expects no position.',
  },
  book: {
    shape: bySymbol(
      record({
        bids: { shape: LEVELS, doc: 'All bids as [price, quantity], best first.' },
        asks: { shape: LEVELS, doc: 'All asks as [price, quantity], best first.' },
      }),
    ),
    doc: 'Complete sides of the book by market; an omitted side is not compared.',
  },
};

const EXPECT = record({
  exact: {
    shape: { kind: 'boolean' },
    doc: 'Maps must have exactly these keys, and events must be exactly these.',
  },
  status: {
    shape: { kind: 'whole', what: 'an HTTP status', min: 100, max: 599 },
    doc: 'Status of the response; default 200 unless `error` is given.',
  },
  refused: {
    shape: { kind: 'boolean' },
    doc: 'true: the response is an error, whatever its status.',
  },
  body: { shape: ANYTHING, doc: 'The response body: maps match in part, lists item by item.' },
  error: { shape: text('the text of an error'), doc: 'The response is this error text.' },
  more: { shape: { kind: 'boolean' }, doc: 'Whether another page of the list follows.' },
  keptSince: {
    shape: ANYTHING,
    doc: 'Start of retention in milliseconds if the range begins before it, otherwise null.',
  },
  outcome: {
    shape: { kind: 'word', what: 'an outcome of the engine', words: ['ok', ...REFUSALS] },
    doc: 'Engine outcome of a simulation verb; default ok.',
  },
  events: {
    shape: { kind: 'list', of: ANY_MAP },
    doc: 'Events of this step in order, matched in part; others may occur between them.',
  },
  ...STATE_FIELDS,
});

const MONEY_VERB = record({
  account: { shape: text('an account name', NAME), doc: 'Account.', required: true },
  subaccount: { shape: SUBACCOUNT, doc: 'Subaccount; default 0.' },
  amount: { shape: DOLLARS, doc: 'Amount, in units of collateral.', required: true },
});

const TAPE_LEVELS = record({
  symbol: SYMBOL,
  bids: { shape: LEVELS, doc: 'Bid levels as [price, size]; size 0 removes the level.' },
  asks: { shape: LEVELS, doc: 'Ask levels as [price, size]; size 0 removes the level.' },
});

const STEPS: Shape = {
  kind: 'list',
  of: { kind: 'named', name: 'step', shape: () => STEP },
};

/** Action keys of a step, of which it has at most one. */
export const VERB_FIELDS: Fields = {
  do: {
    shape: { kind: 'word', what: 'an endpoint', words: ENDPOINT_IDS },
    doc: 'Calls this endpoint of the API.',
  },
  oracle: { shape: PRICES, doc: 'Index prices by market.' },
  mark: { shape: PRICES, doc: 'Recorded mark prices, for markets with an external mark.' },
  fundingRate: {
    shape: bySymbol(decimal('a funding rate'), 1),
    doc: 'Recorded funding rates, settled immediately, for markets with external funding.',
  },
  deposit: { shape: MONEY_VERB, doc: 'Deposits collateral from outside.' },
  withdraw: { shape: MONEY_VERB, doc: 'Withdraws collateral to outside.' },
  listMarket: { shape: ANY_MAP, doc: 'The operator lists a market: fields as under `markets`.' },
  setMarketTerms: {
    shape: ANY_MAP,
    doc: 'The operator changes terms of the market `symbol`: the fields that change, as under `markets`.',
  },
  setMarketStatus: {
    shape: record({
      symbol: SYMBOL,
      status: {
        shape: {
          kind: 'word',
          what: 'a status',
          words: ['open', 'postOnly', 'reduceOnly', 'cancelOnly', 'halted'],
        },
        doc: 'Orders that the market accepts.',
        required: true,
      },
    }),
    doc: 'The operator restricts or reopens a market.',
  },
  delistMarket: {
    shape: record({
      symbol: SYMBOL,
      price: { shape: decimal('a price'), doc: 'Settlement price; default: the index.' },
    }),
    doc: 'The operator settles all positions of a market and delists it.',
  },
  tapeDepth: { shape: TAPE_LEVELS, doc: 'One update of the historical book.' },
  tapeTrade: {
    shape: record({
      symbol: SYMBOL,
      price: { shape: decimal('a price'), doc: 'Price of the trade.', required: true },
      quantity: {
        shape: decimal('a signed quantity'),
        doc: 'Size of the trade, positive if the taker bought.',
        required: true,
      },
    }),
    doc: 'One historical trade.',
  },
  tapeSnapshot: { shape: TAPE_LEVELS, doc: 'The complete historical book; ends a gap.' },
  tapeQuotes: {
    shape: TAPE_LEVELS,
    doc: 'The complete book of a recording of trades; it fills no resting order.',
  },
  tapeGap: { shape: record({ symbol: SYMBOL }), doc: 'The recording has a gap here.' },
  tapeBar: {
    shape: record({
      symbol: SYMBOL,
      open: { shape: decimal('a price'), doc: 'First price.', required: true },
      high: { shape: decimal('a price'), doc: 'Highest price.', required: true },
      low: { shape: decimal('a price'), doc: 'Lowest price.', required: true },
      close: { shape: decimal('a price'), doc: 'Last price.', required: true },
      volume: { shape: decimal('a quantity'), doc: 'Volume; default 0.' },
      quote: {
        shape: decimal('a price'),
        doc: 'Centre of the synthetic book until the next bar; default: the close.',
      },
      spreadTicks: {
        shape: { kind: 'whole', what: 'a number of ticks', min: 0, max: MAX_SPREAD_TICKS },
        doc: 'Spread of the synthetic book; default 0.',
      },
      depth: {
        shape: decimal('a quantity'),
        doc: 'Size on each side of the synthetic book, and max fill per leg of the path; default: the volume.',
      },
      path: {
        shape: { kind: 'word', what: 'a path', words: BAR_PATHS },
        doc: 'Extreme that is reached first; default nearest.',
      },
      fill: {
        shape: { kind: 'word', what: 'a fill', words: BAR_FILLS },
        doc: 'Price that fills a resting order: touched or traded through; default touch.',
      },
    }),
    doc: 'One historical bar, which ends now.',
  },
  tapeL3: {
    shape: record({
      symbol: SYMBOL,
      action: {
        shape: { kind: 'word', what: 'an action', words: TAPE_L3_ACTIONS },
        doc: 'Change of the order.',
        required: true,
      },
      ref: {
        shape: { kind: 'whole', what: 'a number', min: 1, max: Number.MAX_SAFE_INTEGER },
        doc: 'Order number of the venue.',
        required: true,
      },
      side: {
        shape: { kind: 'word', what: 'a side', words: ['bid', 'ask'] },
        doc: 'Its side of the book.',
        required: true,
      },
      price: { shape: decimal('a price'), doc: 'Its price.', required: true },
      quantity: {
        shape: decimal('a quantity'),
        doc: 'Size added, removed or traded.',
        required: true,
      },
    }),
    doc: 'A change of one historical order.',
  },
  command: {
    shape: ANY_MAP,
    doc: 'One command of the engine, in the form that `orrery inspect --json` prints.',
  },
  repeat: {
    shape: record({
      times: {
        shape: { kind: 'whole', what: 'a number of times', min: 1, max: MAX_REPEATS },
        doc: 'Number of repetitions.',
        required: true,
      },
      steps: { shape: STEPS, doc: 'Repeated steps.', required: true },
    }),
    doc: 'Repeats steps.',
  },
};

const STEP = record({
  note: { shape: text('text'), doc: 'Description of the step.' },
  wait: {
    shape: text('a length of time such as 5s or 250ms', DURATION_PATTERN),
    doc: 'Advances time before the step acts.',
  },
  at: {
    shape: text(
      'a time such as 2024-01-01T00:00:00Z, or an offset from the start such as +5s',
      new RegExp(`${TIME_PATTERN.source}|^\\+${DURATION_PATTERN.source.slice(1)}`),
    ),
    doc: 'Advances time to this point before the step acts.',
  },
  as: {
    shape: text('an account name', NAME),
    doc: 'Account that sends the request, or each of a crowd in turn; without it no token is sent.',
  },
  signer: {
    shape: text('an account name', NAME),
    doc: 'Account whose wallet logged in; default: that of the caller.',
  },
  ...VERB_FIELDS,
  with: {
    shape: ANY_MAP,
    doc: 'Fields of the request; omitted fields have defaults. Those of a crowd may be draws.',
  },
  page: {
    shape: { kind: 'whole', what: 'a page', min: 1, max: 1000 },
    doc: 'Page of a list, reached by the cursors of the pages before it; default 1.',
  },
  save: {
    shape: text('a name', NAME),
    doc: 'Saves the response; later steps refer to its fields by $name.field.',
  },
  expect: { shape: EXPECT, doc: 'Expectations after the step.' },
});

const ACCOUNT = record({
  address: {
    shape: text('an address, 0x and 40 lower-case hex digits', /^0x[0-9a-f]{40}$/),
    doc: 'Address; default: that of the private key keccak256(name).',
  },
  deposit: {
    shape: { kind: 'textOr', text: DOLLARS, other: DRAW },
    doc: 'Cash at the start; for a crowd also a draw with one value per member.',
  },
  count: {
    shape: { kind: 'whole', what: 'a number of accounts', min: 1, max: MAX_CROWD },
    doc: 'Size of a crowd: equal accounts named `crowd-1`, `crowd-2` and so on.',
  },
  subaccount: { shape: SUBACCOUNT, doc: 'Subaccount of the deposit; default 0.' },
  selfTradeExpire: {
    shape: { kind: 'whole', what: 'a self-trade mode', min: 0, max: 2 },
    doc: 'Order cancelled by self-trade prevention: 0 incoming, 1 resting, 2 both.',
  },
});

export const SCENARIO_SHAPE: Shape = record({
  orrery: {
    shape: { kind: 'whole', what: 'the version of the language,', min: 1, max: 1 },
    doc: 'Version of the scenario language: 1.',
    required: true,
  },
  title: { shape: text('text'), doc: 'Title of the scenario.' },
  rules: {
    shape: { kind: 'list', of: text('a rule such as R-2.5', /^R-\d{1,2}\.\d{1,2}[a-z]?$/) },
    doc: 'Rules of docs/RULES.md that it demonstrates.',
  },
  about: { shape: text('text'), doc: 'Description in prose.' },
  seed: {
    shape: { kind: 'whole', what: 'a seed', min: 0, max: 2 ** 32 - 1 },
    doc: 'Seed of random draws and of the place where proof runs cut the journal; default 1.',
  },
  start: {
    shape: text('a time such as 2024-01-01T00:00:00Z', TIME_PATTERN),
    doc: 'Start time of the exchange; default 2024-01-01T00:00:00Z.',
  },
  config: { shape: ANY_MAP, doc: 'Parameters of the exchange that differ from the defaults.' },
  markets: {
    shape: {
      kind: 'list',
      of: { kind: 'textOr', text: text('a market symbol'), other: ANY_MAP },
      max: 100,
    },
    doc: 'Markets listed at the start: symbols of predefined markets, or maps of terms.',
  },
  accounts: {
    shape: byName('account name', ACCOUNT),
    doc: 'Users by name. The address of a name is that of the private key keccak256(name).',
  },
  steps: { shape: STEPS, doc: 'Steps in order.', required: true },
  expect: {
    shape: record({
      ...STATE_FIELDS,
      invariants: {
        shape: { kind: 'boolean' },
        doc: 'true: all invariants of the exchange hold. They are checked after each command in any case.',
      },
      checks: {
        shape: {
          kind: 'list',
          of: { kind: 'word', what: 'a check', words: CHECK_NAMES },
          min: 1,
        },
        doc: 'Checks of the fuzzer that all commands of the run must pass, such as `oracle`.',
      },
      stateHash: {
        shape: text('64 hex digits', /^[0-9a-f]{64}$/),
        doc: 'State hash of the exchange at the end.',
      },
    }),
    doc: 'Expectations at the end.',
  },
});
