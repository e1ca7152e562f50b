/**
 * The scenario language as data: every key, what it may hold, and one line on what it means. `docs/SCENARIOS.md` tells the
 * same in prose.
 */
import { ENDPOINT_IDS } from '../contract/endpoints.ts';
import { REFUSALS } from '../engine/refusals.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../engine/tape/hash-tape.ts';
import type { Fields, Shape } from './shape.ts';
import { DURATION_PATTERN, TIME_PATTERN } from '../num/time-text.ts';

/** Names of money's places that are not users. */
export const SYSTEM_NAMES = ['vault', 'insurance', 'treasury', 'shortfall'] as const;

/** Most runs of a `repeat`. */
export const MAX_REPEATS = 10_000;

/** Widest synthetic book of a bar, as the engine has it. */
const MAX_SPREAD_TICKS = 1 << 24;

/** Most accounts of a crowd. */
export const MAX_CROWD = 1000;

const NAME = /^[a-z][A-Za-z0-9_-]{0,31}$/;
const text = (what: string, pattern?: RegExp): Shape =>
  pattern === undefined ? { kind: 'text', what } : { kind: 'text', what, pattern };
const decimal = (what: string): Shape => ({ kind: 'decimal', what });
const record = (fields: Fields): Shape => ({ kind: 'record', fields });
const bySymbol = (of: Shape): Shape => ({
  kind: 'map',
  of,
  keys: { what: 'market symbol', pattern: /^\S{1,64}$/ },
});
const byName = (what: string, of: Shape): Shape => ({
  kind: 'map',
  of,
  keys: { what, pattern: NAME },
});

const ANYTHING: Shape = { kind: 'anything' };
const ANY_MAP: Shape = { kind: 'map', of: ANYTHING, keys: { what: 'key', pattern: /^/ } };
const SUBACCOUNT: Shape = {
  kind: 'whole',
  what: 'a subaccount index',
  min: 0,
  max: 2 ** 31 - 1,
};
const LEVELS: Shape = {
  kind: 'list',
  of: { kind: 'list', of: decimal('a price or a quantity'), min: 2, max: 2 },
};
const PRICES = bySymbol(decimal('a price'));
const SYMBOL = {
  shape: text('a market symbol'),
  doc: 'The market; may be left out where the scenario has one market.',
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
  from: { shape: decimal('a number'), doc: 'Least value, a multiple of `step`.' },
  to: { shape: decimal('a number'), doc: 'Greatest value, a multiple of `step`.' },
  step: { shape: decimal('a number'), doc: 'Values are multiples of it.' },
  of: {
    shape: { kind: 'list', of: text('a value'), min: 1 },
    doc: 'Values of a `choice`, equally likely.',
  },
  salt: {
    shape: { kind: 'whole', what: 'a number', min: 0, max: Number.MAX_SAFE_INTEGER },
    doc: 'Distinguishes draws that would be equal; 0 unless given.',
  },
});
const DRAW: Shape = { kind: 'named', name: 'draw', shape: () => DRAW_SHAPE };

const STATE_FIELDS: Fields = {
  records: {
    shape: byName('saved name', ANY_MAP),
    doc: 'Orders by the name under which they were saved: fields of their records as they are now.',
  },
  balances: {
    shape: {
      kind: 'map',
      of: DOLLARS,
      keys: { what: 'account', pattern: /^[a-z][A-Za-z0-9_-]{0,31}(\/\d{1,10})?$/ },
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
    doc: 'Whole sides of the book by market; a side that is not named is not compared.',
  },
};

const EXPECT = record({
  exact: {
    shape: { kind: 'boolean' },
    doc: 'Maps hold exactly the keys given, and events are exactly those given.',
  },
  status: {
    shape: { kind: 'whole', what: 'an HTTP status', min: 100, max: 599 },
    doc: 'Status of the answer; 200 unless `status` or `error` is given.',
  },
  body: { shape: ANYTHING, doc: 'The answer: maps match in part, lists item by item in full.' },
  error: { shape: text('the text of an error'), doc: 'The answer is this error text.' },
  outcome: {
    shape: { kind: 'word', what: 'an outcome of the engine', words: ['ok', ...REFUSALS] },
    doc: 'What the engine answered to a simulation verb; ok unless given.',
  },
  events: {
    shape: { kind: 'list', of: ANY_MAP },
    doc: 'Events of this step in this order, each in part; others may lie between them.',
  },
  ...STATE_FIELDS,
});

const MONEY_VERB = record({
  account: { shape: text('an account name', NAME), doc: 'Whose cash.', required: true },
  subaccount: { shape: SUBACCOUNT, doc: 'Which subaccount; 0 unless given.' },
  amount: { shape: DOLLARS, doc: 'How much, in units of collateral.', required: true },
});

const TAPE_LEVELS = record({
  symbol: SYMBOL,
  bids: { shape: LEVELS, doc: 'Bid levels as [price, size of the venue]; size 0 removes.' },
  asks: { shape: LEVELS, doc: 'Ask levels as [price, size of the venue]; size 0 removes.' },
});

const STEPS: Shape = {
  kind: 'list',
  of: { kind: 'named', name: 'step', shape: () => STEP },
};

/** Keys of a step that act; a step has at most one of them. */
export const VERB_FIELDS: Fields = {
  do: {
    shape: { kind: 'word', what: 'an endpoint', words: ENDPOINT_IDS },
    doc: 'Calls this endpoint of the API.',
  },
  oracle: { shape: PRICES, doc: 'Index prices by market.' },
  mark: { shape: PRICES, doc: 'Recorded mark prices, for markets with an external mark.' },
  fundingRate: {
    shape: bySymbol(decimal('a funding rate')),
    doc: 'Recorded funding rates, settled at once, for markets whose funding is external.',
  },
  deposit: { shape: MONEY_VERB, doc: 'Money enters from outside.' },
  withdraw: { shape: MONEY_VERB, doc: 'Money leaves to outside.' },
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
        doc: 'Which orders the market takes.',
        required: true,
      },
    }),
    doc: 'The operator restricts or reopens a market.',
  },
  delistMarket: {
    shape: record({
      symbol: SYMBOL,
      price: { shape: decimal('a price'), doc: 'Of the settlement; the index unless given.' },
    }),
    doc: 'The operator settles every position of a market and closes it for good.',
  },
  tapeDepth: { shape: TAPE_LEVELS, doc: 'One update of the historical book.' },
  tapeTrade: {
    shape: record({
      symbol: SYMBOL,
      price: { shape: decimal('a price'), doc: 'Price of the trade.', required: true },
      quantity: {
        shape: decimal('a signed quantity'),
        doc: 'Size of the trade, positive when a buyer took.',
        required: true,
      },
    }),
    doc: 'One historical trade.',
  },
  tapeSnapshot: { shape: TAPE_LEVELS, doc: 'The whole historical book; ends a gap.' },
  tapeGap: { shape: record({ symbol: SYMBOL }), doc: 'The recording has a hole here.' },
  tapeBar: {
    shape: record({
      symbol: SYMBOL,
      open: { shape: decimal('a price'), doc: 'First price.', required: true },
      high: { shape: decimal('a price'), doc: 'Highest price.', required: true },
      low: { shape: decimal('a price'), doc: 'Lowest price.', required: true },
      close: { shape: decimal('a price'), doc: 'Last price.', required: true },
      volume: { shape: decimal('a quantity'), doc: 'What was traded; 0 unless given.' },
      quote: {
        shape: decimal('a price'),
        doc: 'Around which the synthetic book stands until the next bar; the close unless given.',
      },
      spreadTicks: {
        shape: { kind: 'whole', what: 'a number of ticks', min: 0, max: MAX_SPREAD_TICKS },
        doc: 'Between the synthetic bid and ask; 0 unless given.',
      },
      depth: {
        shape: decimal('a quantity'),
        doc: 'On each side of the synthetic book, and the most that one leg fills; the volume unless given.',
      },
      path: {
        shape: { kind: 'word', what: 'a path', words: BAR_PATHS },
        doc: 'Which extreme comes first; nearest unless given.',
      },
      fill: {
        shape: { kind: 'word', what: 'a fill', words: BAR_FILLS },
        doc: 'Whether a touch fills a resting order; touch unless given.',
      },
    }),
    doc: 'One historical bar, which ends now.',
  },
  tapeL3: {
    shape: record({
      symbol: SYMBOL,
      action: {
        shape: { kind: 'word', what: 'an action', words: TAPE_L3_ACTIONS },
        doc: 'What happens to the order.',
        required: true,
      },
      ref: {
        shape: { kind: 'whole', what: 'a number', min: 1, max: Number.MAX_SAFE_INTEGER },
        doc: 'The number by which the venue knows it.',
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
        doc: 'What is added, taken off or traded.',
        required: true,
      },
    }),
    doc: 'What happens to one historical order.',
  },
  repeat: {
    shape: record({
      times: {
        shape: { kind: 'whole', what: 'a number of times', min: 1, max: MAX_REPEATS },
        doc: 'How often.',
        required: true,
      },
      steps: { shape: STEPS, doc: 'What is repeated.', required: true },
    }),
    doc: 'Steps that are carried out several times.',
  },
};

const STEP = record({
  note: { shape: text('text'), doc: 'What happens here, in a sentence.' },
  wait: {
    shape: text('a length of time such as 5s or 250ms', DURATION_PATTERN),
    doc: 'Time passes before the step acts.',
  },
  at: {
    shape: text(
      'a time such as 2024-01-01T00:00:00Z, or an offset from the start such as +5s',
      new RegExp(`${TIME_PATTERN.source}|^\\+${DURATION_PATTERN.source.slice(1)}`),
    ),
    doc: 'Time moves to this moment before the step acts.',
  },
  as: {
    shape: text('an account name', NAME),
    doc: 'Who calls, each of a crowd in turn; without it no token is sent.',
  },
  signer: {
    shape: text('an account name', NAME),
    doc: 'Whose wallet logged in for the account; its own unless given.',
  },
  ...VERB_FIELDS,
  with: {
    shape: ANY_MAP,
    doc: 'Fields of the request; what is left out has a default. Those of a crowd may be draws.',
  },
  save: {
    shape: text('a name', NAME),
    doc: 'Keeps the answer: later steps write $name.field for a part of it.',
  },
  expect: { shape: EXPECT, doc: 'What must be true after the step.' },
});

const ACCOUNT = record({
  deposit: {
    shape: { kind: 'textOr', text: DOLLARS, other: DRAW },
    doc: 'Cash at the start; of a crowd also a draw, one value for each member.',
  },
  count: {
    shape: { kind: 'whole', what: 'a number of accounts', min: 1, max: MAX_CROWD },
    doc: 'A crowd: so many accounts alike, named `crowd-1`, `crowd-2` and so on.',
  },
  subaccount: { shape: SUBACCOUNT, doc: 'Where the deposit goes; 0 unless given.' },
  selfTradeExpire: {
    shape: { kind: 'whole', what: 'a self-trade mode', min: 0, max: 2 },
    doc: 'Which order ends when two of its own would trade: 0 incoming, 1 resting, 2 both.',
  },
});

export const SCENARIO_SHAPE: Shape = record({
  orrery: {
    shape: { kind: 'whole', what: 'the version of the language,', min: 1, max: 1 },
    doc: 'Version of the scenario language: 1.',
    required: true,
  },
  title: { shape: text('text'), doc: 'What the scenario shows, in a few words.' },
  rules: {
    shape: { kind: 'list', of: text('a rule such as R-2.5', /^R-\d{1,2}\.\d{1,2}[a-z]?$/) },
    doc: 'Rules of docs/RULES.md that it shows.',
  },
  about: { shape: text('text'), doc: 'What happens and why, in prose.' },
  seed: {
    shape: { kind: 'whole', what: 'a seed', min: 0, max: 2 ** 32 - 1 },
    doc: 'Of random draws; it also picks where proof runs cut the journal. 1 unless given.',
  },
  start: {
    shape: text('a time such as 2024-01-01T00:00:00Z', TIME_PATTERN),
    doc: 'When the exchange opens; 2024-01-01T00:00:00Z unless given.',
  },
  config: { shape: ANY_MAP, doc: 'Parameters of the exchange that differ from the defaults.' },
  markets: {
    shape: {
      kind: 'list',
      of: { kind: 'textOr', text: text('a market symbol'), other: ANY_MAP },
      min: 1,
      max: 100,
    },
    doc: 'Markets listed at the start: symbols out of the box, or maps of terms.',
  },
  accounts: {
    shape: byName('account name', ACCOUNT),
    doc: 'Users by name. A name stands for the address of the private key keccak256(name).',
  },
  steps: { shape: STEPS, doc: 'What happens, in order.', required: true },
  expect: {
    shape: record({
      ...STATE_FIELDS,
      invariants: {
        shape: { kind: 'boolean' },
        doc: 'true says that every invariant of the exchange holds; they are checked after each command anyway.',
      },
      stateHash: {
        shape: text('64 hex digits', /^[0-9a-f]{64}$/),
        doc: 'State hash of the exchange at the end.',
      },
    }),
    doc: 'What must be true at the end.',
  },
});
