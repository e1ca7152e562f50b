/**
 * Routes beside the contract, as data: simulation control, the operator, health
 * and documents. The OpenAPI document has them; a test compares them with the routes of a server.
 */
import type { Schema } from './schema-types.ts';
import {
  Address,
  closed,
  Decimal,
  Int64,
  nullable,
  OrderRecord,
  SubaccountIndex,
  Symbol,
  Type,
} from './schemas.ts';
import { MARKET_STATUS_WORDS } from './words.ts';

import { ENDPOINTS, type Pages } from './endpoints.ts';
import { HISTORY_LISTS, HISTORY_TOTALS } from './history-lists.ts';

/** Schemes of OpenAPI that these routes use; `none` needs no token. */
export type ControlScheme = 'bearer' | 'simulation' | 'operator' | 'none';

export interface ControlRoute {
  readonly id: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly scheme: ControlScheme;
  /** Body of a POST, or query of a GET; null: none. */
  readonly request: Schema | null;
  /** The JSON of status 200; a media type for other content. */
  readonly response: Schema | string;
  /** Of a list. */
  readonly pages?: Pages;
}

const text = Type.String();
/** By which a repeated request is known. */
const reference = Type.Optional(Type.String({ pattern: '^[ -~]{1,64}$' }));
const money = Type.Object(
  { account: Address, subaccountIndex: Type.Optional(SubaccountIndex), amount: Decimal, reference },
  closed,
);
const price = Type.Object({ symbol: Symbol, price: Decimal }, closed);
/** Fields of a market in a configuration file (docs/SCENARIOS.md). */
const terms = Type.Record(Type.String(), Type.Unknown());
const nothing = Type.Null();
/** Where a replay is. Times are µs. */
const replayState = Type.Object({
  dataset: text,
  firstUs: Int64,
  lastUs: Int64,
  sampleUs: Int64,
  minRecordedUs: Type.Integer(),
  barsEmitted: Type.Unsafe<string>(Type.String({ enum: ['over', 'nextOpen'] })),
  terms: Type.Record(Type.String(), text),
  timeUs: Int64,
  /** Null: the virtual clock moves it. */
  speed: nullable(Type.Number()),
  /** Of the system clock, or of the client that drives the virtual one; null: unlimited. */
  pace: nullable(Type.Number()),
  /** A client drives the virtual clock. */
  driven: Type.Boolean(),
  paused: Type.Boolean(),
  ended: Type.Boolean(),
});
/** The strategy of the server; `stats` is null before its first deposit. */
const strategyState = Type.Object({
  name: text,
  account: Address,
  state: Type.Unsafe<string>(Type.String({ enum: ['starting', 'running', 'ended', 'failed'] })),
  message: text,
  log: Type.Array(text),
  stats: nullable(ENDPOINTS.getStats.response),
  positions: ENDPOINTS.getPositions.response,
  orders: Type.Array(OrderRecord),
  fills: HISTORY_LISTS.fills.response,
});

const effects = {
  ordersEnded: Type.Integer(),
  positionsClosed: Type.Integer(),
  liquidations: Type.Array(
    Type.Object({
      account: Address,
      subaccountIndex: SubaccountIndex,
      symbol: nullable(Symbol),
      step: text,
    }),
  ),
  liquidatedAccounts: Type.Integer(),
  shortfall: Decimal,
};
/** Effects of a command on accounts, now and at the end of a notice. */
const CommandPreview = Type.Object({
  now: Type.Object(effects),
  afterNotice: nullable(Type.Object({ effectiveAt: Int64, ...effects })),
  sequenceNumber: Int64,
});

const risk = Type.Object({
  stats: ENDPOINTS.getStats.response,
  positions: ENDPOINTS.getPositions.response,
});
/** Effects of a request to place orders. */
const OrderPreview = Type.Object({
  refusal: nullable(Type.Object({ status: Type.Integer(), message: text })),
  orders: ENDPOINTS.submitOrder.response,
  fills: Type.Array(
    Type.Object({
      symbol: Symbol,
      role: text,
      price: Decimal,
      quantity: Decimal,
      fee: Decimal,
    }),
  ),
  fee: Decimal,
  before: nullable(risk),
  after: nullable(risk),
  sequenceNumber: Int64,
});
const preview = (
  id: string,
  path: string,
  summary: string,
  of: 'submitOrder' | 'submitOrders',
): ControlRoute => ({
  id,
  summary,
  method: 'POST',
  path,
  scheme: 'bearer',
  request: ENDPOINTS[of].request,
  response: OrderPreview,
});

const sim = (
  method: 'GET' | 'POST',
  path: string,
  summary: string,
  request: Schema | null,
  response: Schema | string,
): ControlRoute => ({
  id: `${method === 'POST' && path === 'replay' ? 'simSet' : 'sim'}${path.charAt(0).toUpperCase()}${path.slice(1)}`,
  summary,
  method,
  path: `/sim/${path}`,
  scheme: 'simulation',
  request,
  response,
});
/** A command of the operator, and its preview. */
const operator = (
  id: string,
  path: string,
  summary: string,
  request: Schema | null,
): ControlRoute[] => {
  const common = { method: 'POST', scheme: 'operator', request } as const;
  return [
    { ...common, id: `operator${id}`, summary, path: `/operator/${path}`, response: nothing },
    {
      ...common,
      id: `operatorPreview${id}`,
      summary: `${summary}: effects only, nothing is applied`,
      path: `/operator/preview/${path}`,
      response: CommandPreview,
    },
  ];
};
const open = (
  id: string,
  path: string,
  summary: string,
  response: Schema | string,
): ControlRoute => ({ id, summary, method: 'GET', path, scheme: 'none', request: null, response });

export const AuditRecord = Type.Object({
  sequenceNumber: Int64,
  time: Int64,
  command: text,
  symbol: nullable(Symbol),
  account: nullable(Address),
  subaccountIndex: nullable(SubaccountIndex),
  amount: nullable(Decimal),
  status: nullable(text),
  price: nullable(Decimal),
  reference: nullable(text),
});

export const CONTROL_ROUTES: readonly ControlRoute[] = [
  ...[HISTORY_TOTALS, ...Object.values(HISTORY_LISTS)].map((route): ControlRoute => ({
    ...route,
    method: 'GET',
    scheme: 'bearer',
  })),
  preview(
    'previewOrder',
    '/preview/order',
    'Effects of an order, without placing it',
    'submitOrder',
  ),
  preview(
    'previewOrders',
    '/preview/orders',
    'Effects of a batch, without placing it',
    'submitOrders',
  ),
  sim('POST', 'deposit', 'Money from outside', money, nothing),
  sim('POST', 'withdraw', 'Money to outside', money, nothing),
  sim('POST', 'oracle', 'Sets an index price', price, nothing),
  sim(
    'POST',
    'mark',
    'Sets a recorded mark price, for markets with an external mark',
    price,
    nothing,
  ),
  sim(
    'POST',
    'funding',
    'Sets a recorded funding rate, for markets with external funding',
    Type.Object({ symbol: Symbol, rate: Decimal }, closed),
    nothing,
  ),
  sim(
    'POST',
    'clock',
    'Moves the virtual clock, and plays a replay up to it: one of the two fields',
    Type.Object({ advanceMs: Type.Optional(Int64), toMs: Type.Optional(Int64) }, closed),
    Type.Object({ time: Int64 }),
  ),
  sim(
    'POST',
    'command',
    'Applies one command of the engine, at its own time',
    terms,
    Type.Object({ outcome: text }),
  ),
  sim('GET', 'replay', 'The replayed recording and its clock', null, replayState),
  sim(
    'POST',
    'replay',
    'Changes the speed of a replay, pauses or continues it, or plays a step and pauses',
    Type.Object(
      {
        speed: Type.Optional(Type.Number()),
        paused: Type.Optional(Type.Boolean()),
        stepMs: Type.Optional(Int64),
      },
      closed,
    ),
    replayState,
  ),
  sim(
    'GET',
    'strategy',
    'The strategy that trades on the replay, and its account',
    null,
    strategyState,
  ),
  sim(
    'POST',
    'faults',
    'Arms a fault for a number of requests',
    Type.Object(
      {
        fault: text,
        times: Type.Optional(Int64),
        endpoint: Type.Optional(text),
        latencyMs: Type.Optional(Int64),
      },
      closed,
    ),
    Type.Object({ fault: text, times: Int64, endpoint: Type.Optional(text) }),
  ),
  sim(
    'GET',
    'hash',
    'Sequence number and state hash',
    null,
    Type.Object({
      sequenceNumber: Int64,
      hash: text,
      chainHash: text,
    }),
  ),
  sim(
    'POST',
    'snapshot',
    'Writes a snapshot, which shortens the next recovery',
    Type.Object({}),
    Type.Object({ file: text }),
  ),
  sim(
    'GET',
    'journal',
    'Downloads the journal for orrery replay and inspect',
    null,
    'application/octet-stream',
  ),
  ...operator('ListMarket', 'markets', 'Lists a market', terms),
  ...operator('SetTerms', 'markets/{symbol}/terms', 'Changes terms of a market', terms),
  ...operator(
    'SetStatus',
    'markets/{symbol}/status',
    'Restricts or reopens a market',
    Type.Object(
      {
        status: Type.Unsafe<string>(
          Type.String({ enum: MARKET_STATUS_WORDS.filter((word) => word !== 'delisted') }),
        ),
      },
      closed,
    ),
  ),
  ...operator(
    'Delist',
    'markets/{symbol}/delist',
    'Settles every position and closes the market',
    Type.Object({ price: Type.Optional(Decimal) }, closed),
  ),
  ...operator(
    'CreditInsurance',
    'insurance/credit',
    'Deposits to the insurance fund',
    Type.Object({ amount: Decimal, reference }, closed),
  ),
  ...operator('Deposit', 'deposit', 'Deposits from outside', money),
  ...operator('Withdraw', 'withdraw', 'Withdraws to outside', money),
  {
    id: 'operatorAudit',
    summary: 'Accepted commands, newest first',
    method: 'GET',
    path: '/operator/audit',
    scheme: 'operator',
    request: Type.Object(
      { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })) },
      closed,
    ),
    response: Type.Array(AuditRecord),
  },
  {
    id: 'operatorAccounts',
    summary: 'Accounts with positions, the smallest equity ÷ maintenance first',
    method: 'GET',
    path: '/operator/accounts',
    scheme: 'operator',
    request: Type.Object(
      { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })) },
      closed,
    ),
    response: Type.Object({
      accounts: Type.Array(
        Type.Object({
          account: Address,
          subaccountIndex: SubaccountIndex,
          equity: Decimal,
          maintenanceMargin: Decimal,
          ratio: Decimal,
          positions: Type.Array(Symbol),
        }),
      ),
      holders: Type.Integer(),
    }),
  },
  {
    id: 'operatorStatus',
    summary: 'State of the server: disk, connections, slow readers, limits',
    method: 'GET',
    path: '/operator/status',
    scheme: 'operator',
    request: null,
    response: Type.Object({
      sequenceNumber: Int64,
      time: Int64,
      uptimeSeconds: Type.Integer(),
      memoryBytes: Int64,
      writesStopped: Type.Boolean(),
      waitingReplies: Type.Integer(),
      lastSyncSeconds: Type.Number(),
      clockBehindMs: Type.Number(),
      journalBytes: Int64,
      diskFreeBytes: nullable(Int64),
      snapshot: Type.Object({
        sequenceNumber: Int64,
        failures: Type.Integer(),
        mismatch: Type.Boolean(),
      }),
      connections: Type.Integer(),
      feedConnections: Type.Integer(),
      slowReaders: Type.Integer(),
      feedBacklogBytes: Int64,
      requestsPerSecond: nullable(Type.Number()),
      rateRefusals: Int64,
    }),
  },
  open('ui', '/ui', 'The trading and operations screen', 'text/html'),
  open('healthz', '/healthz', 'The process runs', Type.Object({ status: text })),
  open(
    'readyz',
    '/readyz',
    'Writes are accepted',
    Type.Object({ status: text, sequenceNumber: Int64 }),
  ),
  open('metrics', '/metrics', 'Metrics for Prometheus', 'text/plain'),
  open('openapi', '/openapi.json', 'This document', Type.Object({ openapi: text })),
  open('asyncapi', '/asyncapi.json', 'The feeds at /ws', Type.Object({ asyncapi: text })),
];
