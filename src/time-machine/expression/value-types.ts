/** Types of expressions: what each name and each field of a breakpoint may be. */
export type ValueType =
  | { readonly kind: 'number' | 'text' | 'boolean' | 'null' }
  | { readonly kind: 'record'; readonly of: RecordName }
  | { readonly kind: 'list'; readonly of: ValueType };

export type RecordName =
  'account' | 'position' | 'market' | 'order' | 'event' | 'command' | 'violation';

export const NUMBER: ValueType = { kind: 'number' };
export const TEXT: ValueType = { kind: 'text' };
export const BOOLEAN: ValueType = { kind: 'boolean' };
export const NULL: ValueType = { kind: 'null' };
const list = (of: ValueType): ValueType => ({ kind: 'list', of });
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
    status: TEXT,
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
    type: TEXT,
    status: TEXT,
    price: NUMBER,
    size: NUMBER,
    filled: NUMBER,
    remaining: NUMBER,
    ahead: NUMBER,
  },
  event: {
    kind: TEXT,
    cause: TEXT,
    account: TEXT,
    symbol: TEXT,
    order: NUMBER,
    price: NUMBER,
    size: NUMBER,
    amount: NUMBER,
    reason: TEXT,
    step: TEXT,
    status: TEXT,
  },
  command: { kind: TEXT, account: TEXT, symbol: TEXT },
  violation: { invariant: TEXT, rule: TEXT, says: TEXT, detail: TEXT },
};

/** Names that stand for a value. */
export const NAMES: Readonly<Record<string, ValueType>> = {
  seq: NUMBER,
  timeUs: NUMBER,
  outcome: TEXT,
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
