/**
 * The API as data: one row an endpoint (contract, "Endpoints"; for those it only names). Routes, validators,
 * documentation and the typed client all come from this table.
 */
import type { Static, TProperties, TSchema } from 'typebox';
import * as S from './schemas.ts';

/**
 * Who may call: anyone; whoever has a token; the account's owner or a delegate of the subaccount; its owner alone. An owner is
 * whoever logged in as a current signer (R-9.5a).
 */
export type Access = 'public' | 'token' | 'delegate' | 'owner';

/** The words that refuse a caller without that access (contract, "Errors"). */
export type RefusalWords =
  | 'notDelegated'
  | 'delegationNotAllowed'
  | 'unauthorized'
  | 'unauthorizedQuery'
  | 'signersNotAuthorized'
  | 'marginUnauthorized';

/**
 * How a list is read page by page: by `limit` and `cursor`; the answer's headers say where it goes on and since when
 * anything is kept at all.
 */
export interface Pages {
  /** Items of a page unless `limit` says otherwise; null: all there are. */
  readonly limit: number | null;
  readonly most: number;
}

/** Headers of a list's answer. */
export const PAGE_HEADERS = {
  /** The cursor of the next page; absent on the last. */
  next: 'x-next-cursor',
  /** Since when entries are kept, in ms; there when the request reaches further back, so that what it asked for is cut. */
  keptSince: 'x-kept-since',
} as const;

export interface Endpoint {
  /** What it does, in a few words. */
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path parameters in braces; they are fields of the request like any other. */
  readonly path: string;
  readonly access: Access;
  /** Whose signatures the body carries: the owner's signers with their quorum, or also one delegate's. */
  readonly signedBy: 'nobody' | 'owner' | 'delegate';
  readonly refusal: RefusalWords;
  /** Query and path parameters, or the body of a POST. */
  readonly request: TSchema;
  readonly response: TSchema;
  /** Of a list; a single record has none. */
  readonly pages?: Pages;
}

const { Type, closed } = S;
const account = { account: S.Address };
const subaccount = { account: S.Address, subaccountIndex: S.SubaccountIndex };
const range = { from: Type.Optional(S.Int64), to: Type.Optional(S.Int64) };

/** A list's request: its own fields, and the page. */
function list<Fields extends TProperties>(fields: Fields, pages: Pages) {
  const { limit, most } = pages;
  const page = {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: most, ...(limit === null ? {} : { default: limit }) }),
    ),
    cursor: Type.Optional(S.Cursor),
  };
  return { request: Type.Object({ ...fields, ...page }, closed), pages };
}
/** Lists that are as long as there are markets, subaccounts or delegates: whole unless a limit is given. */
const WHOLE = { limit: null, most: 5000 };

export const ENDPOINTS = {
  getAuth: {
    summary: 'A challenge for a wallet to sign',
    method: 'GET',
    path: '/auth',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    request: Type.Object(account, closed),
    response: S.AuthChallenge,
  },
  postAuth: {
    summary: 'A token for a signed challenge',
    method: 'POST',
    path: '/auth',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    request: Type.Object(
      { message: S.AuthMessage, signature: Type.String(), server_signature: Type.String() },
      closed,
    ),
    response: S.TokenRecord,
  },
  getClaims: {
    summary: 'What the token says',
    method: 'GET',
    path: '/auth/claims',
    access: 'token',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    request: Type.Object({}, closed),
    response: S.Claims,
  },
  submitOrder: {
    summary: 'Places an order, with what is attached to it',
    method: 'POST',
    path: '/account/order',
    access: 'delegate',
    signedBy: 'delegate',
    refusal: 'notDelegated',
    request: S.OrderRequest,
    response: Type.Array(S.OrderRecord),
  },
  submitOrders: {
    summary: 'Places a batch: all are admitted, or none',
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
    signedBy: 'nobody',
    refusal: 'notDelegated',
    request: S.OrderQuery,
    response: S.OrderRecord,
  },
  cancelOrder: {
    summary: 'Cancels one order',
    method: 'DELETE',
    path: '/account/order',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'notDelegated',
    request: S.OrderQuery,
    response: S.OrderRecord,
  },
  cancelOrders: {
    summary: 'Cancels many orders, each by itself',
    method: 'POST',
    path: '/account/orders/cancel',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'notDelegated',
    request: S.BatchCancelRequest,
    response: S.BatchCancelResponse,
  },
  cancelAllOrders: {
    summary: 'Cancels all orders of a subaccount, or those in one market',
    method: 'DELETE',
    path: '/account/orders',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'notDelegated',
    request: Type.Object({ ...subaccount, symbol: Type.Optional(S.Symbol) }, closed),
    response: S.MessageRecord,
  },
  listOrders: {
    summary: 'Orders that match a filter, newest first',
    method: 'GET',
    path: '/account/orders',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'notDelegated',
    ...list(S.FILTER_FIELDS, { limit: 100, most: 500 }),
    response: S.FilterResponse,
  },
  getBalance: {
    summary: 'Cash by subaccount',
    method: 'GET',
    path: '/account/balance',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    ...list({ ...account, subaccountIndex: Type.Optional(S.SubaccountIndex) }, WHOLE),
    response: Type.Array(S.BalanceRecord),
  },
  getStats: {
    summary: 'Equity, margin and leverage of a subaccount',
    method: 'GET',
    path: '/account/stats',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'delegationNotAllowed',
    request: Type.Object(subaccount, closed),
    response: S.StatsRecord,
  },
  getDelegates: {
    summary: 'Who may act for the account',
    method: 'GET',
    path: '/account/delegates',
    access: 'delegate',
    signedBy: 'nobody',
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
    summary: 'What a transfer may take now',
    method: 'GET',
    path: '/account/transfer/max',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'delegationNotAllowed',
    request: Type.Object({ ...subaccount, feedId: Type.Optional(S.FeedId) }, closed),
    response: S.MaxTransferRecord,
  },
  getTransfers: {
    summary: 'Movements of money, newest first',
    method: 'GET',
    path: '/account/transfers',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'delegationNotAllowed',
    ...list({ ...subaccount, ...range }, { limit: 50, most: 5000 }),
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
    signedBy: 'nobody',
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
    signedBy: 'nobody',
    refusal: 'unauthorizedQuery',
    ...list({ ...subaccount, symbol: Type.Optional(S.Symbol) }, WHOLE),
    response: Type.Array(S.MarginRecord),
  },
  getPositions: {
    summary: 'Open positions',
    method: 'GET',
    path: '/account/positions',
    access: 'delegate',
    signedBy: 'nobody',
    refusal: 'delegationNotAllowed',
    ...list({ ...subaccount, symbol: Type.Optional(S.Symbol) }, WHOLE),
    response: Type.Array(S.PositionRecord),
  },
  getClsHistory: {
    summary: 'Vault shares over time, newest first',
    method: 'GET',
    path: '/account/cls/shares/history',
    access: 'token',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    ...list(range, { limit: 500, most: 10_000 }),
    response: Type.Array(S.ClsSnapshot),
  },
  getSummary: {
    summary: '24-hour figures of a market',
    method: 'GET',
    path: '/summary/{symbol}',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    request: Type.Object({ symbol: S.Symbol }, closed),
    response: S.SummaryRecord,
  },
  getCandles: {
    summary: 'Candles, oldest first',
    method: 'GET',
    path: '/candles/{symbol}',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    ...list(
      { symbol: S.Symbol, interval: Type.Optional(S.CandleInterval), ...range },
      { limit: 500, most: 5000 },
    ),
    response: Type.Array(S.CandleRecord),
  },
  getTrades: {
    summary: 'Trades, newest first',
    method: 'GET',
    path: '/trades/{symbol}',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    ...list({ symbol: S.Symbol, ...range }, { limit: 500, most: 5000 }),
    response: Type.Array(S.TradeRecord),
  },
  getConfig: {
    summary: 'Parameters of the exchange, and what is signed',
    method: 'GET',
    path: '/config',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    request: Type.Object({}, closed),
    response: S.ConfigRecord,
  },
  getMarkets: {
    summary: 'Every market and its terms',
    method: 'GET',
    path: '/markets',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    ...list({}, WHOLE),
    response: Type.Array(S.MarketRecord),
  },
  getPrice: {
    summary: 'Prices of a market',
    method: 'GET',
    path: '/price/{symbol}',
    access: 'public',
    signedBy: 'nobody',
    refusal: 'unauthorized',
    request: Type.Object({ symbol: S.Symbol }, closed),
    response: S.PriceRecord,
  },
  getPrices: {
    summary: 'Prices of several markets',
    method: 'GET',
    path: '/price',
    access: 'public',
    signedBy: 'nobody',
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
    signedBy: 'nobody',
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
    signedBy: 'nobody',
    refusal: 'unauthorized',
    request: Type.Object({}, closed),
    response: S.TimeRecord,
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointId = keyof typeof ENDPOINTS;
/** int64 fields may be given as bigint in process; JSON carries them as integers. */
export type RequestOf<E extends EndpointId> = Wide<Static<(typeof ENDPOINTS)[E]['request']>>;
export type ResponseOf<E extends EndpointId> = Static<(typeof ENDPOINTS)[E]['response']>;

/** Endpoints that answer lists. */
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

/** The endpoint of this name, or undefined: `constructor` is none. */
export function findEndpoint(name: string): EndpointId | undefined {
  return ENDPOINT_IDS.find((id) => id === name);
}
