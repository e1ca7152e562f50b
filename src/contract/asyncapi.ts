/** AsyncAPI document of the feeds, generated from the feed table and the record schemas. */
import type { Schema, Static } from './schema-types.ts';
import { FEEDS, FEED_METHODS, MAX_SUBSCRIPTIONS, type FeedSource } from './feeds.ts';
import * as S from './schemas.ts';

const { Type } = S;
const sequence = { previous_sequence_number: S.nullable(S.Int64), sequence_number: S.Int64 };
const LEVELS = Type.Array(S.LevelRecord);

/** Payload schema of each update (`data`). */
export const UPDATE_DATA = {
  trade: S.TradeRecord,
  book: Type.Object({
    symbol: S.Symbol,
    /** True if the levels replace the book; false if they change it. Quantity 0 removes a level. */
    snapshot: Type.Boolean(),
    bids: LEVELS,
    asks: LEVELS,
    ...sequence,
    time: S.Int64,
  }),
  candle: Type.Object({
    symbol: S.Symbol,
    interval: Type.String(),
    ...S.CandleRecord.properties,
  }),
  price: Type.Union([S.PriceRecord, Type.Array(S.PriceRecord)]),
  summary: Type.Union([S.SummaryRecord, Type.Array(S.SummaryRecord)]),
  liquidation: S.LiquidationRecord,
  market: S.MarketRecord,
  order: S.OrderRecord,
  fill: Type.Object({
    account: S.Address,
    subaccountIndex: S.SubaccountIndex,
    symbol: S.Symbol,
    price: S.Decimal,
    quantity: S.Decimal,
    time: S.Int64,
    order_id: S.nullable(Type.String()),
    fee: S.Decimal,
    realized_exposure: S.Decimal,
    realized_funding: S.Decimal,
    realized_pnl: S.Decimal,
  }),
  position: S.PositionRecord,
  balance: S.BalanceRecord,
  stats: S.StatsRecord,
} as const satisfies Record<FeedSource, Schema>;

/** An update as a client receives it: prices and summaries of several markets arrive one by one. */
export type UpdateOf<Source extends FeedSource> = Source extends 'price'
  ? Static<typeof S.PriceRecord>
  : Source extends 'summary'
    ? Static<typeof S.SummaryRecord>
    : Static<(typeof UPDATE_DATA)[Source]>;

const REQUEST = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Integer()]),
  method: Type.Union(FEED_METHODS.map((method) => Type.Literal(method))),
  params: Type.Object({}),
});
const ANSWER = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: S.nullable(Type.Union([Type.String(), Type.Integer()])),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(
    Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      data: Type.Optional(Type.Object({ status: Type.Integer() })),
    }),
  ),
  usIn: Type.Integer(),
  usOut: Type.Integer(),
  usDiff: Type.Integer(),
});

export function asyncApi(title: string): Record<string, unknown> {
  const sources = Object.keys(FEEDS) as FeedSource[];
  const updates = sources.map((source) => {
    const { access, update } = FEEDS[source];
    const payload = Type.Object({ type: Type.Literal(update), data: UPDATE_DATA[source] });
    const summary = `Updates of \`${source}\` (${access})`;
    return [update, { name: update, summary, payload }] as const;
  });
  const messages = {
    Request: { name: 'Request', summary: 'JSON-RPC 2.0', payload: REQUEST },
    Answer: { name: 'Answer', summary: 'Answer to a request', payload: ANSWER },
    ...Object.fromEntries(updates),
  };
  const reference = (name: string) => ({ $ref: `#/channels/feeds/messages/${name}` });
  return {
    asyncapi: '3.0.0',
    info: {
      title: `${title} feeds`,
      version: '1',
      description: `Subscribe with {source, symbols} or {source, account, subaccountIndices}; at most ${String(MAX_SUBSCRIPTIONS)} per connection.`,
    },
    channels: { feeds: { address: '/ws', messages } },
    operations: {
      request: {
        action: 'receive',
        channel: { $ref: '#/channels/feeds' },
        messages: [reference('Request')],
      },
      updates: {
        action: 'send',
        channel: { $ref: '#/channels/feeds' },
        messages: ['Answer', ...updates.map(([name]) => name)].map(reference),
      },
    },
  };
}
