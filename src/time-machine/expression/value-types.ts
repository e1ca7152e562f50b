/** Types of expressions: what each name and each field of a breakpoint may be. */
import { suggest } from '../../base/suggest.ts';
import { MARKET_STATUSES } from '../../engine/config.ts';
import { ORDER_STATUSES } from '../../engine/book/order-rows.ts';
import { STATE_INVARIANTS } from '../../engine/invariants/invariants.ts';
import { ORDER_TYPES } from '../../engine/orders/order-types.ts';
import { END_REASONS, REFUSALS } from '../../engine/refusals.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import {
  CAUSES,
  EVENTS,
  LEDGER_REASONS,
  LIQUIDATION_STEPS,
} from '../../engine/schema/event-schema.ts';

export type ValueType =
  | { readonly kind: 'number' | 'boolean' | 'null' }
  /** `words`: all values that this text can have, if they are few. */
  | { readonly kind: 'text'; readonly words?: readonly string[] }
  | { readonly kind: 'record'; readonly of: RecordName }
  | { readonly kind: 'list'; readonly of: ValueType };

export type RecordName =
  'account' | 'position' | 'market' | 'order' | 'event' | 'command' | 'violation';

export const NUMBER: ValueType = { kind: 'number' };
export const TEXT: ValueType = { kind: 'text' };
export const BOOLEAN: ValueType = { kind: 'boolean' };
export const NULL: ValueType = { kind: 'null' };
const list = (of: ValueType): ValueType => ({ kind: 'list', of });
const oneOf = (words: readonly string[]): ValueType => ({ kind: 'text', words });
const record = (of: RecordName): ValueType => ({ kind: 'record', of });

/** Fields of each record. Money, prices and sizes are exact decimals; any of them may be null. */
export const FIELDS: Readonly<Record<RecordName, Readonly<Record<string, ValueType>>>> = {
  account: {
    id: NUMBER,
    name: TEXT,
    address: TEXT,
    balance: NUMBER,
    equity: NUMBER,
    maintenance: NUMBER,
    initial: NUMBER,
    free: NUMBER,
    upnl: NUMBER,
    pnl: NUMBER,
    system: BOOLEAN,
    positions: list(record('position')),
    orders: list(record('order')),
  },
  position: {
    symbol: TEXT,
    size: NUMBER,
    cost: NUMBER,
    upnl: NUMBER,
    notional: NUMBER,
    isolated: BOOLEAN,
    margin: NUMBER,
    liquidationPrice: NUMBER,
  },
  market: {
    id: NUMBER,
    symbol: TEXT,
    status: oneOf(MARKET_STATUSES),
    frozen: BOOLEAN,
    mark: NUMBER,
    index: NUMBER,
    last: NUMBER,
    bid: NUMBER,
    ask: NUMBER,
    openInterest: NUMBER,
    fundingRate: NUMBER,
  },
  order: {
    id: NUMBER,
    owner: TEXT,
    symbol: TEXT,
    type: oneOf(ORDER_TYPES),
    status: oneOf(ORDER_STATUSES),
    price: NUMBER,
    size: NUMBER,
    filled: NUMBER,
    remaining: NUMBER,
    ahead: NUMBER,
  },
  event: {
    kind: oneOf(Object.keys(EVENTS)),
    cause: oneOf(CAUSES),
    account: TEXT,
    symbol: TEXT,
    order: NUMBER,
    price: NUMBER,
    size: NUMBER,
    amount: NUMBER,
    reason: oneOf([...END_REASONS, ...LEDGER_REASONS]),
    step: oneOf(LIQUIDATION_STEPS),
    status: oneOf([...ORDER_STATUSES, ...MARKET_STATUSES]),
  },
  command: { kind: oneOf(Object.keys(COMMANDS)), account: TEXT, symbol: TEXT },
  violation: {
    invariant: oneOf(STATE_INVARIANTS.map(({ name }) => name)),
    rule: TEXT,
    says: TEXT,
    detail: TEXT,
  },
};

/** Names that stand for a value. */
export const NAMES: Readonly<Record<string, ValueType>> = {
  seq: NUMBER,
  timeUs: NUMBER,
  outcome: oneOf(['ok', ...REFUSALS]),
  command: record('command'),
  accounts: list(record('account')),
  markets: list(record('market')),
  events: list(record('event')),
  violations: list(record('violation')),
  insurance: NUMBER,
  shortfall: NUMBER,
};

/** Functions with one argument that is a name or a number. */
export const LOOKUPS: Readonly<Record<string, ValueType>> = {
  account: record('account'),
  market: record('market'),
  order: record('order'),
};

export function typeText(type: ValueType): string {
  if (type.kind === 'record') return `a${/^[aeo]/.test(type.of) ? 'n' : ''} ${type.of}`;
  if (type.kind === 'list') return `a list`;
  return type.kind === 'null' ? 'null' : `a ${type.kind}`;
}

/** Texts of any words are of one type. */
export function isSameType(a: ValueType, b: ValueType): boolean {
  if (a.kind === 'record' && b.kind === 'record') return a.of === b.of;
  if (a.kind === 'list' && b.kind === 'list') return isSameType(a.of, b.of);
  return a.kind === b.kind;
}

/** Why a text of this type never equals this word; null if it can. */
export function neverEquals(type: ValueType, word: string): string | null {
  if (type.kind !== 'text' || type.words === undefined || type.words.includes(word)) return null;
  const nearest = suggest(word, type.words);
  const all = `; it is one of ${type.words.join(', ')}`;
  return `this text is never '${word}'${nearest === '' ? all : nearest}`;
}
