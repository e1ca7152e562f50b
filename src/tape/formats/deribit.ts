/**
 * Decodes Deribit's JSON-RPC notifications as lines: `book.*` (raw or in intervals), `trades.*`,
 * `quote.*`, and mark and index of `ticker.*`. Amounts are those of the venue: USD for inverse
 * perpetuals and futures, coins for options and linear ones. Source: Deribit API v2,
 * "book.{instrument_name}.{interval}".
 *
 * Each change names the one that it follows (`prev_change_id`). Books with a group and a depth are
 * complete in every message.
 */
import { TapeError } from '../record.ts';
import {
  emitTrade,
  levelsOf,
  objectsIn,
  timeIn,
  UpdateChain,
  wholeIn,
  type MessageTime,
} from './json-records.ts';
import { isObject, parseObject, rawLine, textOf, type Json } from './raw-line.ts';
import type { DecoderContext } from './row-decoder.ts';

export class DeribitDecoder {
  private readonly context: DecoderContext;
  private readonly chain: UpdateChain;
  /** Channels of different intervals are different books; the first one is read. */
  private channel: string | null = null;
  private readonly last = { mark: -1, index: -1 };

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    this.chain = new UpdateChain(context, state);
  }

  state(): unknown {
    return this.chain.state();
  }

  line(text: string, line: number): void {
    const raw = rawLine(text);
    if (raw === null) return;
    const message = parseObject(raw.json);
    const { params } = message;
    if (message['method'] !== 'subscription' || !isObject(params)) {
      if (!('jsonrpc' in message)) throw new TapeError('`jsonrpc` is missing');
      return;
    }
    const { channel, data } = params;
    if (typeof channel !== 'string') throw new TapeError('`params.channel` is missing');
    const kind = channel.slice(0, channel.indexOf('.'));
    for (const entry of Array.isArray(data)
      ? objectsIn(data, 'data')
      : isObject(data)
        ? [data]
        : []) {
      const name = entry['instrument_name'];
      if (typeof name !== 'string' || !this.context.selects(name)) continue;
      const timeUs = timeIn(entry, 'timestamp');
      const at = { timeUs, localUs: raw.localUs ?? timeUs, line };
      if (kind === 'book') this.book(channel, entry, at);
      else if (kind === 'trades') this.trade(entry, at);
      else if (kind === 'quote') this.touch(entry, at);
      else if (kind === 'ticker') this.prices(entry, at);
    }
  }

  private book(channel: string, entry: Json, at: MessageTime): void {
    this.channel ??= channel;
    if (channel !== this.channel) return;
    const { type, bids, asks } = entry;
    const isGrouped = type === undefined;
    const fields = isGrouped ? ([0, 1] as const) : ([1, 2] as const);
    const levels = [
      ...levelsOf(this.context, bids, 'bid', fields),
      ...levelsOf(this.context, asks, 'ask', fields),
    ];
    const id = wholeIn(entry, 'change_id');
    if (isGrouped || type === 'snapshot') this.chain.snapshot(at, id, levels);
    else this.chain.update(at, id, wholeIn(entry, 'prev_change_id'), levels);
  }

  private trade(entry: Json, at: MessageTime): void {
    // A block trade is agreed outside the book.
    if (entry['block_trade_id'] !== undefined) return;
    const { price, amount, direction, trade_seq: id } = entry;
    emitTrade(this.context, at, { price, size: amount, side: direction, id });
  }

  private touch(entry: Json, at: MessageTime): void {
    const { numbers, emit } = this.context;
    // An empty side has price or amount 0.
    if (!entry['best_bid_amount'] || !entry['best_ask_amount']) return;
    const price = (field: string) => numbers.price(textOf(entry[field]), field);
    const size = (field: string) => numbers.size(textOf(entry[field]), field);
    emit({
      kind: 'touch',
      ...at,
      updateId: 0,
      bidTicks: price('best_bid_price'),
      bidLots: size('best_bid_amount'),
      askTicks: price('best_ask_price'),
      askLots: size('best_ask_amount'),
    });
  }

  private prices(entry: Json, at: MessageTime): void {
    for (const kind of ['index', 'mark'] as const) {
      const text = textOf(entry[`${kind}_price`]);
      if (text === undefined) continue;
      const priceTicks = this.context.numbers.rounded(text, `${kind}_price`);
      if (priceTicks === this.last[kind]) continue;
      this.last[kind] = priceTicks;
      this.context.emit({ kind, ...at, priceTicks });
    }
  }
}
