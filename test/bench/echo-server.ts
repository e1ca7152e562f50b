/**
 * The baseline of the HTTP bench: Fastify with request and response schemas. `/echo` has a small
 * body. `/order` receives an order and answers a record as large as that of an exchange.
 */
import Fastify from 'fastify';

const app = Fastify();
const record = {
  type: 'object',
  properties: {
    account: { type: 'string' },
    price: { type: 'string' },
    nonce: { type: 'integer' },
  },
  required: ['account', 'price', 'nonce'],
} as const;
app.post(
  '/echo',
  { schema: { body: record, response: { 200: record } } },
  (request) => request.body,
);

const text = { type: 'string' } as const;
const textOrNull = { type: 'string', nullable: true } as const;
const integer = { type: 'integer' } as const;
const flag = { type: 'boolean' } as const;
const flags = { ioc: flag, postOnly: flag, reduceOnly: flag };
const sent = {
  account: text,
  subaccountIndex: integer,
  symbol: text,
  orderType: text,
  price: text,
  quantity: text,
  nonce: integer,
  expiresAt: integer,
  originator: text,
  originatorFee: integer,
};
const order = {
  type: 'object',
  properties: {
    ...sent,
    flags: { type: 'object', properties: flags, required: Object.keys(flags) },
    signatures: { type: 'array', items: text },
  },
  required: [...Object.keys(sent), 'flags', 'signatures'],
} as const;
/** Fields of a record that its order lacks. */
const added = {
  clientId: null,
  createdAt: 1_700_000_000_000,
  groupId: null,
  lastUpdateSequenceNumber: 1,
  ocoGroupId: null,
  orderId: 'f'.repeat(64),
  parentOrderId: null,
  period: null,
  reason: 'iocRemainder',
  remaining: '0.001',
  settled: '0',
  status: 'cancelled',
  trailingPercent: null,
  triggerPrice: null,
  updatedAt: 1_700_000_000_000,
};
const answer = {
  type: 'object',
  properties: {
    ...sent,
    ...Object.fromEntries(
      Object.entries(added).map(([name, value]) => [
        name,
        typeof value === 'number' ? integer : textOrNull,
      ]),
    ),
    flags: { type: 'object', properties: { ...flags, selfTradeExpire: integer } },
  },
} as const;

interface Order {
  readonly account: string;
  readonly subaccountIndex: number;
  readonly symbol: string;
  readonly orderType: string;
  readonly price: string;
  readonly quantity: string;
  readonly nonce: number;
  readonly expiresAt: number;
  readonly originator: string;
  readonly originatorFee: number;
  readonly flags: {
    readonly ioc: boolean;
    readonly postOnly: boolean;
    readonly reduceOnly: boolean;
  };
}

/** Field by field: spreads of two objects cost several times as much. */
function recordOf(body: Order): object {
  const { ioc, postOnly, reduceOnly } = body.flags;
  return {
    account: body.account,
    subaccountIndex: body.subaccountIndex,
    symbol: body.symbol,
    orderType: body.orderType,
    price: body.price,
    quantity: body.quantity,
    nonce: body.nonce,
    expiresAt: body.expiresAt,
    originator: body.originator,
    originatorFee: body.originatorFee,
    clientId: added.clientId,
    createdAt: added.createdAt,
    groupId: added.groupId,
    lastUpdateSequenceNumber: added.lastUpdateSequenceNumber,
    ocoGroupId: added.ocoGroupId,
    orderId: added.orderId,
    parentOrderId: added.parentOrderId,
    period: added.period,
    reason: added.reason,
    remaining: added.remaining,
    settled: added.settled,
    status: added.status,
    trailingPercent: added.trailingPercent,
    triggerPrice: added.triggerPrice,
    updatedAt: added.updatedAt,
    flags: { ioc, postOnly, reduceOnly, selfTradeExpire: 0 },
  };
}

app.post<{ Body: Order }>(
  '/order',
  { schema: { body: order, response: { 200: { type: 'array', items: answer } } } },
  ({ body }) => [recordOf(body)],
);

const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listens on ${address}`);
