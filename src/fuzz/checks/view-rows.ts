/**
 * Everything that a reader of an exchange can see, as rows of text: two exchanges in one state have
 * equal rows. Lists are read to a limit, newest first.
 */
import type { ExchangeView } from '../../engine/read/views.ts';
import { accountId, subaccountId, timeUs, type AccountId } from '../../num/units.ts';

const ALL_TIME = timeUs(Number.MAX_SAFE_INTEGER);
const START = timeUs(0);
const LIMIT = 200;
const MINUTE_US = 60_000_000;
const EVERY_ORDER = {
  types: null,
  statuses: null,
  market: null,
  createdFromUs: 0,
  createdToUs: Infinity,
  updatedFromUs: 0,
  updatedToUs: Infinity,
} as const;

interface ViewRow {
  readonly subject: string;
  readonly value: string;
}

function* viewRows(view: ExchangeView): Generator<ViewRow> {
  const row = (subject: string, value: unknown): ViewRow => ({ subject, value: textOf(value) });
  yield row('time', view.nowUs);
  yield row('last order', view.lastOrderId);
  yield row('operator log', view.operatorLog());
  const markets = view.markets();
  const isPriced = markets.every(({ markTicks }) => markTicks !== null);
  if (isPriced) yield row('funds', view.funds());
  for (const market of markets) {
    const { id } = market;
    const of = (what: string): string => `${what} of market ${String(id)}`;
    yield row(of('record'), market);
    yield row(of('summary'), view.summary(id));
    yield row(of('mark'), view.markComposition(id));
    yield row(of('funding'), view.fundingOutlook(id));
    for (const side of ['bid', 'ask'] as const) {
      yield row(of(`${side}s`), view.depth(id, side, LIMIT));
    }
    yield row(of('trades'), view.trades(id, START, ALL_TIME, LIMIT));
    for (const minutes of [1, 60]) {
      const candles = view.candles(id, minutes * MINUTE_US, START, ALL_TIME, LIMIT);
      yield row(of(`candles of ${String(minutes)} min`), candles);
    }
    yield row(of('holders'), [...view.holdersOf(id)]);
  }
  for (let i = 0; i < view.subaccountCount; i += 1) yield* subaccountRows(view, i, isPriced);
}

function* subaccountRows(view: ExchangeView, i: number, isPriced: boolean): Generator<ViewRow> {
  const id = subaccountId(i);
  const row = (what: string, value: unknown): ViewRow => ({
    subject: `${what} of subaccount ${String(i)}`,
    value: textOf(value),
  });
  const subaccount = view.subaccount(id);
  yield row('record', subaccount);
  yield row('rights', rightsOf(view, subaccount.account));
  // Without a mark, account figures are undefined.
  if (isPriced) {
    yield row('margin', view.margin(id));
    yield row('positions', view.positions(id));
  }
  yield row('settings', view.marginSettings(id));
  const live = view.openOrders(id);
  yield row('live orders', live);
  yield row(
    'queue',
    live.map(({ orderId }) => view.queueAhead(orderId)),
  );
  yield row('orders', view.findOrders(id, EVERY_ORDER, LIMIT));
  yield row('transfers', view.transfers(id, START, ALL_TIME, LIMIT));
  yield row('vault shares', view.vaultSnapshots(id, START, ALL_TIME, LIMIT));
}

function rightsOf(view: ExchangeView, id: AccountId): unknown {
  const address = view.addressOf(accountId(id));
  return [view.selfTradeModeOf(id), view.signersOf(address), view.delegatesOf(address)];
}

/** JSON, independent of the order in which fields were added. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, field: unknown) => {
    if (typeof field === 'bigint') return String(field);
    if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
    return Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

/** The first row in which two exchanges differ, with both values; null if there is none. */
export function firstDifference(
  a: ExchangeView,
  b: ExchangeView,
): { readonly subject: string; readonly one: string; readonly other: string } | null {
  const others = viewRows(b);
  for (const { subject, value } of viewRows(a)) {
    const next = others.next();
    const other = next.done === true ? { subject: 'nothing', value: '' } : next.value;
    if (other.subject === subject && other.value === value) continue;
    return { subject, ...around(value, other.value) };
  }
  return null;
}

const SHOWN = 120;

/** The parts of two texts around their first difference. */
function around(one: string, other: string): { readonly one: string; readonly other: string } {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - SHOWN / 2);
  const part = (text: string): string => text.slice(from, from + SHOWN);
  return { one: part(one), other: part(other) };
}
