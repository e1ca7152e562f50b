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
app.post<{ Body: { readonly flags: object } }>(
  '/order',
  { schema: { body: order, response: { 200: { type: 'array', items: answer } } } },
  ({ body }) => [{ ...body, ...added, flags: { ...body.flags, selfTradeExpire: 0 } }],
);

const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listens on ${address}`);
