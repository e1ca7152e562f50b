/**
 * The API as data, one row per endpoint (contract, "Endpoints"; ). Routes, validators,
 * documentation and the typed client are derived from this table.
 */
import type { Fields, Schema, Static } from './schema-types.ts';
import * as S from './schemas.ts';

/**
 * Required access: anyone, any valid token, the account's owner or a delegate of the subaccount, or
 * the owner alone. An owner is a wallet that logged in as a current signer (R-9.5a).
 */
export type Access = 'public' | 'token' | 'delegate' | 'owner';

/** Error reply for a caller without that access (contract, "Errors"). */
export type RefusalWords =
  | 'notDelegated'
  | 'delegationNotAllowed'
  | 'unauthorized'
  | 'unauthorizedQuery'
  | 'signersNotAuthorized'
  | 'marginUnauthorized';

/** Pagination by `limit` and `cursor`; headers have the next cursor and retention. */
export interface Pages {
  /** Default page size; null: unlimited. */
  readonly limit: number | null;
  readonly max: number;
}

/** Response headers of a list. */
export const PAGE_HEADERS = {
  /** Cursor of the next page; absent on the last. */
  next: 'x-next-cursor',
  /** Start of retention in ms; present if the requested range begins before it. */
  keptSince: 'x-kept-since',
} as const;

export interface Endpoint {
  /** One-line description for the API documentation. */
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path with parameters in braces; they are request fields like any other. */
  readonly path: string;
  readonly access: Access;
  /** Required signatures: none, the owner's signers with their quorum, or also one delegate. */
  readonly signedBy: 'none' | 'owner' | 'delegate';
  readonly refusal: RefusalWords;
  /** Query and path parameters, or the body of a POST. */
  readonly request: Schema;
  readonly response: Schema;
  /** Pagination of a list; absent for a single record. */
  readonly pages?: Pages;
}

const { Type, closed } = S;
const account = { account: S.Address };
const subaccount = { account: S.Address, subaccountIndex: S.SubaccountIndex };
const range = { from: Type.Optional(S.Int64), to: Type.Optional(S.Int64) };

/** Request of a list: its own fields, `limit` and `cursor`. */
function list<Own extends Fields>(fields: Own, pages: Pages) {
  const { limit, max } = pages;
  const page = {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: max, ...(limit === null ? {} : { default: limit }) }),
    ),
    cursor: Type.Optional(S.Cursor),
  };
  return { request: Type.Object({ ...fields, ...page }, closed), pages };
}
/** Lists bounded by markets, subaccounts or delegates: complete unless a limit is set. */
const WHOLE = { limit: null, max: 5000 };

export const ENDPOINTS = {
  getAuth: {
    summary: 'Challenge for a wallet to sign',
    method: 'GET',
    path: '/auth',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object(account, closed),
    response: S.AuthChallenge,
  },
  postAuth: {
    summary: 'Token for a signed challenge',
    method: 'POST',
    path: '/auth',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object(
      { message: S.AuthMessage, signature: Type.String(), server_signature: Type.String() },
      closed,
    ),
    response: S.TokenRecord,
  },
  getClaims: {
    summary: 'Claims of the token',
    method: 'GET',
    path: '/auth/claims',
    access: 'token',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object({}, closed),
    response: S.Claims,
  },
  submitOrder: {
    summary: 'Places an order with its attached protective orders',
    method: 'POST',
    path: '/account/order',
    access: 'delegate',
    signedBy: 'delegate',
    refusal: 'notDelegated',
    request: S.OrderRequest,
    response: Type.Array(S.OrderRecord),
  },
  submitOrders: {
    summary: 'Places a batch atomically: all orders or none',
    method: 'POST',
    path: '/account/orders',
    access: 'delegate',
    signedBy: 'delegate',
    refusal: 'notDelegated',
    request: Type.Object(
      { orders: Type.Array(S.OrderRequest, { minItems: 1, maxItems: 100 }) },
      closed,
    ),
    response: Type.Object({ orders: Type.Array(S.OrderRecord) }),
  },
  getOrder: {
    summary: 'One order, by its id or clientId',
    method: 'GET',
    path: '/account/order',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'notDelegated',
    request: S.OrderQuery,
    response: S.OrderRecord,
  },
  cancelOrder: {
    summary: 'Cancels one order',
    method: 'DELETE',
    path: '/account/order',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'notDelegated',
    request: S.OrderQuery,
    response: S.OrderRecord,
  },
  cancelOrders: {
    summary: 'Cancels many orders independently',
    method: 'POST',
    path: '/account/orders/cancel',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'notDelegated',
    request: S.BatchCancelRequest,
    response: S.BatchCancelResponse,
  },
  cancelAllOrders: {
    summary: 'Cancels all orders of a subaccount, or those in one market',
    method: 'DELETE',
    path: '/account/orders',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'notDelegated',
    request: Type.Object({ ...subaccount, symbol: Type.Optional(S.Symbol) }, closed),
    response: S.MessageRecord,
  },
  listOrders: {
    summary: 'Orders that match a filter, newest first',
    method: 'GET',
    path: '/account/orders',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'notDelegated',
    ...list(S.FILTER_FIELDS, { limit: 100, max: 500 }),
    response: S.FilterResponse,
  },
  getBalance: {
    summary: 'Cash by subaccount',
    method: 'GET',
    path: '/account/balance',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'unauthorized',
    ...list({ ...account, subaccountIndex: Type.Optional(S.SubaccountIndex) }, WHOLE),
    response: Type.Array(S.BalanceRecord),
  },
  getStats: {
    summary: 'Equity, margin and leverage of a subaccount',
    method: 'GET',
    path: '/account/stats',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'delegationNotAllowed',
    request: Type.Object(subaccount, closed),
    response: S.StatsRecord,
  },
  getDelegates: {
    summary: 'Delegates of the account',
    method: 'GET',
    path: '/account/delegates',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'unauthorizedQuery',
    ...list({ ...account, subaccountIndex: Type.Optional(S.SubaccountIndex) }, WHOLE),
    response: Type.Array(S.DelegateRecord),
  },
  updateDelegates: {
    summary: 'Grants or revokes a delegate of a subaccount',
    method: 'POST',
    path: '/account/delegates',
    access: 'owner',
    signedBy: 'owner',
    refusal: 'delegationNotAllowed',
    request: S.DelegateRequest,
    response: Type.Null(),
  },
  transfer: {
    summary: 'Moves money between subaccounts, or to and from the vault',
    method: 'POST',
    path: '/account/transfer',
    access: 'owner',
    signedBy: 'owner',
    refusal: 'delegationNotAllowed',
    request: S.TransferRequest,
    response: Type.Null(),
  },
  getTransferMax: {
    summary: 'Largest amount that can be transferred now',
    method: 'GET',
    path: '/account/transfer/max',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'delegationNotAllowed',
    request: Type.Object({ ...subaccount, feedId: Type.Optional(S.FeedId) }, closed),
    response: S.MaxTransferRecord,
  },
  getTransfers: {
    summary: 'Transfers, deposits and withdrawals, newest first',
    method: 'GET',
    path: '/account/transfers',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'delegationNotAllowed',
    ...list({ ...subaccount, ...range }, { limit: 50, max: 5000 }),
    response: Type.Array(S.TransferRecord),
  },
  updateSigners: {
    summary: 'Replaces the signers of the account and their quorum',
    method: 'POST',
    path: '/account/signers',
    access: 'owner',
    signedBy: 'owner',
    refusal: 'signersNotAuthorized',
    request: S.SignersRequest,
    response: Type.Null(),
  },
  getSigners: {
    summary: 'Signers in force and their quorum',
    method: 'GET',
    path: '/account/signers',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'unauthorizedQuery',
    request: Type.Object(account, closed),
    response: S.SignersRecord,
  },
  updateMargin: {
    summary: 'Cross or isolated margin, and its ratio, in a market',
    method: 'POST',
    path: '/account/margin',
    access: 'delegate',
    signedBy: 'delegate',
    refusal: 'marginUnauthorized',
    request: S.MarginRequest,
    response: Type.Null(),
  },
  getMargin: {
    summary: 'Margin settings by market',
    method: 'GET',
    path: '/account/margin',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'unauthorizedQuery',
    ...list({ ...subaccount, symbol: Type.Optional(S.Symbol) }, WHOLE),
    response: Type.Array(S.MarginRecord),
  },
  getPositions: {
    summary: 'Open positions',
    method: 'GET',
    path: '/account/positions',
    access: 'delegate',
    signedBy: 'none',
    refusal: 'delegationNotAllowed',
    ...list({ ...subaccount, symbol: Type.Optional(S.Symbol) }, WHOLE),
    response: Type.Array(S.PositionRecord),
  },
  getClsHistory: {
    summary: 'Vault shares over time, newest first',
    method: 'GET',
    path: '/account/cls/shares/history',
    access: 'token',
    signedBy: 'none',
    refusal: 'unauthorized',
    ...list(range, { limit: 500, max: 10_000 }),
    response: Type.Array(S.ClsSnapshot),
  },
  getSummary: {
    summary: '24-hour figures of a market',
    method: 'GET',
    path: '/summary/{symbol}',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object({ symbol: S.Symbol }, closed),
    response: S.SummaryRecord,
  },
  getCandles: {
    summary: 'Candles, oldest first',
    method: 'GET',
    path: '/candles/{symbol}',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    ...list(
      { symbol: S.Symbol, interval: Type.Optional(S.CandleInterval), ...range },
      { limit: 500, max: 5000 },
    ),
    response: Type.Array(S.CandleRecord),
  },
  getTrades: {
    summary: 'Trades, newest first',
    method: 'GET',
    path: '/trades/{symbol}',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    ...list({ symbol: S.Symbol, ...range }, { limit: 500, max: 5000 }),
    response: Type.Array(S.TradeRecord),
  },
  getConfig: {
    summary: 'Parameters of the exchange and EIP-712 types',
    method: 'GET',
    path: '/config',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object({}, closed),
    response: S.ConfigRecord,
  },
  getMarkets: {
    summary: 'Every market and its terms',
    method: 'GET',
    path: '/markets',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    ...list({}, WHOLE),
    response: Type.Array(S.MarketRecord),
  },
  getPrice: {
    summary: 'Prices of a market',
    method: 'GET',
    path: '/price/{symbol}',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object({ symbol: S.Symbol }, closed),
    response: S.PriceRecord,
  },
  getPrices: {
    summary: 'Prices of several markets',
    method: 'GET',
    path: '/price',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    ...list(
      { symbols: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])) },
      WHOLE,
    ),
    response: Type.Array(S.PriceRecord),
  },
  getBook: {
    summary: 'The order book, best first',
    method: 'GET',
    path: '/book/{symbol}',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object(
      {
        symbol: S.Symbol,
        depth: Type.Optional(Type.Integer()),
        tickSize: Type.Optional(S.Decimal),
      },
      closed,
    ),
    response: S.BookRecord,
  },
  getTime: {
    summary: 'The time of the exchange',
    method: 'GET',
    path: '/time',
    access: 'public',
    signedBy: 'none',
    refusal: 'unauthorized',
    request: Type.Object({}, closed),
    response: S.TimeRecord,
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointId = keyof typeof ENDPOINTS;
/** int64 fields may be bigint in process; JSON carries them as integers. */
export type RequestOf<E extends EndpointId> = Wide<Static<(typeof ENDPOINTS)[E]['request']>>;
export type ResponseOf<E extends EndpointId> = Static<(typeof ENDPOINTS)[E]['response']>;

/** Endpoints that return lists. */
export type ListId = {
  [E in EndpointId]: (typeof ENDPOINTS)[E] extends { readonly pages: Pages } ? E : never;
}[EndpointId];

type Wide<T> = T extends number
  ? number | bigint
  : T extends readonly (infer Item)[]
    ? Wide<Item>[]
    : T extends object
      ? { [Key in keyof T]: Wide<T[Key]> }
      : T;

export const ENDPOINT_IDS = Object.keys(ENDPOINTS) as EndpointId[];

/** Endpoint by name; undefined for an unknown name such as `constructor`. */
export function findEndpoint(name: string): EndpointId | undefined {
  return ENDPOINT_IDS.find((id) => id === name);
}
