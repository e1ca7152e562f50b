/**
 * History of an account beside the contract: lists with the contract's pages. They are read with
 * the token of the account's owner or of a delegate of the subaccount.
 */
import type { Fields, Static } from './schema-types.ts';
import type { Pages } from './endpoints.ts';
import {
  Address,
  CandleInterval,
  closed,
  Cursor,
  Decimal,
  Int64,
  nullable,
  SubaccountIndex,
  Symbol,
  Type,
} from './schemas.ts';

const PAGES: Pages = { limit: 100, max: 1000 };

const text = Type.String();
const subaccount = { account: Address, subaccountIndex: SubaccountIndex };

function list<Own extends Fields, Row extends Fields>(
  name: string,
  summary: string,
  fields: Own,
  record: Row,
) {
  const request = {
    ...subaccount,
    from: Type.Optional(Int64),
    to: Type.Optional(Int64),
    ...fields,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGES.max, default: PAGES.limit })),
    cursor: Type.Optional(Cursor),
  };
  return {
    /** Names the list in its cursors. */
    id: `history${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    path: `/account/history/${name}`,
    summary,
    request: Type.Object(request, closed),
    response: Type.Array(Type.Object(record)),
    pages: PAGES,
  };
}

export const HISTORY_LISTS = {
  equity: list(
    'equity',
    'Equity at the end of each interval, newest first',
    { interval: Type.Optional(CandleInterval) },
    { time: Int64, equity: Decimal },
  ),
  fills: list(
    'fills',
    'Fills of an account, newest first, as in the feed `fill`',
    {},
    {
      ...subaccount,
      symbol: Symbol,
      price: Decimal,
      quantity: Decimal,
      time: Int64,
      order_id: nullable(text),
      fee: Decimal,
      realized_exposure: Decimal,
      realized_funding: Decimal,
      realized_pnl: Decimal,
    },
  ),
  funding: list(
    'funding',
    'Funding that positions received or paid, newest first',
    {},
    {
      symbol: Symbol,
      time: Int64,
      amount: Decimal,
      rate: Decimal,
      quantity: Decimal,
      isolated: Type.Boolean(),
    },
  ),
  liquidations: list(
    'liquidations',
    'Liquidation steps and positions taken over, newest first',
    {},
    {
      event: text,
      step: nullable(text),
      symbol: nullable(Symbol),
      isolated: nullable(Type.Boolean()),
      quantity: nullable(Decimal),
      price: nullable(Decimal),
      equity: nullable(Decimal),
      maintenanceMargin: nullable(Decimal),
      amount: nullable(Decimal),
      shortfall: nullable(Decimal),
      sequence_number: Int64,
      time: Int64,
    },
  ),
} as const;
export type HistoryList = keyof typeof HISTORY_LISTS;
export type HistoryRow<L extends HistoryList> = Static<
  (typeof HISTORY_LISTS)[L]['response']
>[number];

/** Sums of an account since its history begins. */
export const HISTORY_TOTALS = {
  id: 'historyTotals',
  path: '/account/history',
  summary: 'Fees, funding and realised result of an account since its history begins',
  request: Type.Object(subaccount, closed),
  response: Type.Object({
    ...subaccount,
    since: nullable(Int64),
    fills: Type.Integer(),
    fees: Decimal,
    funding: Decimal,
    realizedPnl: Decimal,
  }),
};
export type HistoryTotals = Static<typeof HISTORY_TOTALS.response>;
