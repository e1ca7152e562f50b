/**
 * Decodes Coinbase's websocket messages as lines of JSON: `l2_data` and `market_trades` of Advanced
 * Trade, and `snapshot`, `l2update` and `match` of Coinbase Exchange. Source: Coinbase Developer
 * Platform, "WebSocket channels" of both APIs.
 *
 * The side of a trade is the maker's. Books have no update ids: they are assigned. A hole in the
 * `sequence_num` of an Advanced Trade connection is a gap of the book. Trades that a subscription
 * starts with are older than it and are skipped.
 */
import type { TapeLevel } from '../../engine/commands.ts';
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
import { shown, timeOf } from './numbers.ts';
import { parseObject, rawLine, textOf, type Json, type RawLine } from './raw-line.ts';
import type { DecoderContext } from './row-decoder.ts';

export class CoinbaseDecoder {
  private readonly context: DecoderContext;
  private readonly chain: UpdateChain;
  private sequence: number | null = null;
  /** Whether messages are missing since the last update of the book. */
  private isBroken = false;

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
    const { channel, type } = message;
    if (typeof channel === 'string') this.advanced(channel, message, raw, line);
    else if (typeof type === 'string') this.exchange(type, message, raw, line);
    else throw new TapeError('neither `channel` nor `type` is present');
  }

  private advanced(channel: string, message: Json, raw: RawLine, line: number): void {
    if ('sequence_num' in message) {
      const sequence = wholeIn(message, 'sequence_num');
      // A new connection starts at 0, with a new snapshot.
      if (this.sequence !== null && sequence !== this.sequence + 1 && sequence !== 0)
        this.isBroken = true;
      this.sequence = sequence;
    }
    if (channel !== 'l2_data' && channel !== 'market_trades') return;
    for (const event of objectsIn(message['events'], 'events')) {
      if (channel === 'l2_data') this.book(event, message, raw, line);
      else if (event['type'] !== 'snapshot') {
        for (const trade of objectsIn(event['trades'], 'trades')) this.trade(trade, raw, line);
      }
    }
  }

  private book(event: Json, message: Json, raw: RawLine, line: number): void {
    if (!this.isOurs(event)) return;
    const updates = objectsIn(event['updates'], 'updates');
    const { numbers } = this.context;
    const levels = updates.map(({ side, price_level: price, new_quantity: size }) => ({
      side: sideOf(side),
      priceTicks: numbers.price(textOf(price), 'price_level'),
      lots: numbers.size(textOf(size), 'new_quantity'),
    }));
    const timeUs = timeIn(message, 'timestamp');
    const at = { timeUs, localUs: raw.localUs ?? timeUs, line };
    this.emitBook(at, event['type'] === 'snapshot', levels);
  }

  private exchange(type: string, message: Json, raw: RawLine, line: number): void {
    if (type === 'match') {
      this.trade(message, raw, line);
      return;
    }
    if (type !== 'snapshot' && type !== 'l2update') return;
    if (!this.isOurs(message)) return;
    const isWhole = type === 'snapshot';
    const time = textOf(message['time']);
    const timeUs = time === undefined ? raw.localUs : timeOf(time, 'time');
    if (timeUs === null)
      throw new TapeError('`time` is missing, and the line has no time of receipt');
    const at = { timeUs, localUs: raw.localUs ?? timeUs, line };
    if (isWhole) {
      const bids = levelsOf(this.context, message['bids'], 'bid');
      this.emitBook(at, true, [...bids, ...levelsOf(this.context, message['asks'], 'ask')]);
      return;
    }
    const changes: readonly unknown[] = Array.isArray(message['changes']) ? message['changes'] : [];
    const levels = changes.flatMap((change) => {
      const row: readonly unknown[] = Array.isArray(change) ? change : [];
      return levelsOf(this.context, [row.slice(1)], sideOf(row[0]));
    });
    this.emitBook(at, false, levels);
  }

  private emitBook(at: MessageTime, isWhole: boolean, levels: readonly TapeLevel[]): void {
    const { chain } = this;
    if (isWhole) chain.snapshot(at, chain.nextId, levels);
    // An update that follows an id that was never emitted is a gap.
    else if (this.isBroken) chain.update(at, chain.nextId + 1, chain.nextId, levels);
    else chain.update(at, chain.nextId, chain.nextId - 1, levels);
    this.isBroken = false;
  }

  private trade(trade: Json, raw: RawLine, line: number): void {
    if (!this.isOurs(trade)) return;
    const timeUs = timeIn(trade, 'time');
    const at = { timeUs, localUs: raw.localUs ?? timeUs, line };
    const { price, size, side, trade_id: id } = trade;
    const taker = sideOf(side) === 'bid' ? 'sell' : 'buy';
    emitTrade(this.context, at, { price, size, side: taker, id });
  }

  private isOurs({ product_id: product }: Json): boolean {
    if (typeof product !== 'string') throw new TapeError('`product_id` is missing');
    return this.context.selects(product);
  }
}

function sideOf(side: unknown): TapeLevel['side'] {
  const word = typeof side === 'string' ? side.toLowerCase() : '';
  if (word === 'bid' || word === 'buy') return 'bid';
  if (word === 'offer' || word === 'ask' || word === 'sell') return 'ask';
  throw new TapeError(`\`side\` is ${shown(textOf(side))}, not bid or offer`);
}
