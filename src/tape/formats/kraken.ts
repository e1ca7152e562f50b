/**
 * Decodes Kraken's websocket messages as lines of JSON: `book` and `trade` of the spot API v2, and
 * `book`, `trade` and the mark and index of `ticker` of Kraken Futures. Sources: Kraken API Center,
 * "Book (Level 2)" of Spot WebSockets v2, and "Book" of the Futures WebSockets.
 *
 * A spot book has the subscribed number of levels a side: levels that fall out of it are removed
 * without a message. It has no update ids, they are assigned; its checksum is compared with the
 * book after each message. Updates of Futures are numbered.
 * Trades that a subscription starts with are older than it and are skipped.
 */
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, priceTicks } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import {
  krakenChecksum,
  krakenPrecision,
  levelTexts,
  TextBook,
  type KrakenPrecision,
  type TextBookState,
} from './book-checksum.ts';
import {
  emitTrade,
  levelsOf,
  objectsIn,
  timeIn,
  UpdateChain,
  wholeIn,
  type MessageTime,
} from './json-records.ts';
import { shown } from './numbers.ts';
import { parseObject, rawLine, textOf, type Json, type RawLine } from './raw-line.ts';
import type { DecoderContext } from './row-decoder.ts';

const DEPTHS = [10, 25, 100, 500, 1000];
/** Messages in which the decimals of a pair are searched. */
const MAX_SEARCHES = 20;

interface State {
  readonly chain: unknown;
  readonly depth: number;
  readonly bids: readonly number[];
  readonly asks: readonly number[];
  readonly texts: TextBookState;
  readonly precision: KrakenPrecision | null;
}

export class KrakenDecoder {
  private readonly context: DecoderContext;
  private readonly chain: UpdateChain;
  /** Levels a side of the subscription; 0 before the first snapshot. */
  private depth: number;
  private readonly prices: Readonly<Record<TapeLevel['side'], Set<number>>>;
  private readonly texts: TextBook;
  /** Decimals of the pair in checksums; null before one was compared. */
  private precision: KrakenPrecision | null;
  private searches = 0;

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    const before = (state ?? {}) as Partial<State>;
    const { chain, depth = 0, bids = [], asks = [], texts, precision = null } = before;
    this.texts = new TextBook(texts);
    this.precision = precision;
    this.chain = new UpdateChain(context, chain);
    this.depth = depth;
    this.prices = { bid: new Set(bids), ask: new Set(asks) };
  }

  state(): State {
    const { chain, depth, prices, texts, precision } = this;
    const [bids, asks] = [[...prices.bid], [...prices.ask]];
    return { chain: chain.state(), depth, bids, asks, texts: texts.state(), precision };
  }

  line(text: string, line: number): void {
    const raw = rawLine(text);
    if (raw === null) return;
    const message = parseObject(raw.json);
    const { channel, feed, event, method } = message;
    if (typeof channel === 'string') this.spot(channel, message, raw, line);
    else if (typeof feed === 'string') this.futures(feed, message, raw, line);
    else if (event === undefined && method === undefined) {
      throw new TapeError('neither `channel` (spot v2) nor `feed` (futures) is present');
    }
  }

  private spot(channel: string, message: Json, raw: RawLine, line: number): void {
    if (channel !== 'book' && channel !== 'trade') return;
    const isWhole = message['type'] === 'snapshot';
    const entries = objectsIn(message['data'], 'data');
    for (const entry of entries) {
      const { symbol, side, price, qty, trade_id: id } = entry;
      if (typeof symbol !== 'string') throw new TapeError('`symbol` is missing');
      if (!this.context.selects(symbol)) continue;
      // Snapshots of earlier versions have no time.
      const timeUs = entry['timestamp'] === undefined ? raw.localUs : timeIn(entry, 'timestamp');
      if (timeUs === null)
        throw new TapeError('`timestamp` is missing, and the line has no time of receipt');
      const at = { timeUs, localUs: raw.localUs ?? timeUs, line };
      if (channel === 'book') {
        this.book(entry, at, isWhole);
        // The lists of the source are then those of the entry.
        if (entries.length === 1) this.check(entry, raw.json, at, isWhole);
      } else if (!isWhole) emitTrade(this.context, at, { price, size: qty, side, id });
    }
  }

  private book(entry: Json, at: MessageTime, isWhole: boolean): void {
    const fields = ['price', 'qty'] as const;
    const bids = levelsOf(this.context, entry['bids'], 'bid', fields);
    const asks = levelsOf(this.context, entry['asks'], 'ask', fields);
    const levels = [...bids, ...asks];
    const { chain, prices } = this;
    if (isWhole) {
      const longest = Math.max(bids.length, asks.length);
      this.depth = DEPTHS.find((depth) => depth >= longest) ?? longest;
      prices.bid.clear();
      prices.ask.clear();
    }
    for (const { side, priceTicks: price, lots: size } of levels) {
      if (size > 0) prices[side].add(price);
      else prices[side].delete(price);
    }
    if (isWhole) chain.snapshot(at, chain.nextId, levels);
    else {
      const dropped = [...this.beyond('bid'), ...this.beyond('ask')];
      chain.update(at, chain.nextId, chain.nextId - 1, [...levels, ...dropped]);
    }
  }

  private check({ checksum }: Json, source: string, at: MessageTime, isWhole: boolean): void {
    const { texts, context } = this;
    if (isWhole) texts.clear();
    texts.take(levelTexts(source, 'bids'), levelTexts(source, 'asks'));
    if (this.depth > 0) texts.cut(this.depth);
    if (typeof checksum !== 'number') return;
    if (this.precision === null && this.searches < MAX_SEARCHES) {
      this.searches += 1;
      this.precision = krakenPrecision(texts, checksum);
    }
    const { precision } = this;
    const isEqual = precision !== null && krakenChecksum(texts, precision) === checksum;
    context.onChecksum(at.line, isEqual);
  }

  /** Removes the levels that are deeper than the subscription. */
  private beyond(side: TapeLevel['side']): TapeLevel[] {
    const prices = this.prices[side];
    if (this.depth === 0 || prices.size <= this.depth) return [];
    const sorted = [...prices].sort((a, b) => (side === 'bid' ? b - a : a - b));
    return sorted.slice(this.depth).map((price) => {
      prices.delete(price);
      return { side, priceTicks: priceTicks(price), lots: lots(0) };
    });
  }

  private futures(feed: string, message: Json, raw: RawLine, line: number): void {
    const { product_id: product } = message;
    if (
      !['book', 'book_snapshot', 'trade', 'ticker'].includes(feed) ||
      message['event'] !== undefined
    )
      return;
    if (typeof product !== 'string') throw new TapeError('`product_id` is missing');
    if (!this.context.selects(product)) return;
    const timeUs = timeIn(
      message,
      feed === 'book' || feed === 'book_snapshot' ? 'timestamp' : 'time',
    );
    const at = { timeUs, localUs: raw.localUs ?? timeUs, line };
    const { side, price, qty, uid } = message;
    const fields = ['price', 'qty'] as const;
    switch (feed) {
      case 'book_snapshot': {
        const bids = levelsOf(this.context, message['bids'], 'bid', fields);
        const asks = levelsOf(this.context, message['asks'], 'ask', fields);
        this.chain.snapshot(at, wholeIn(message, 'seq'), [...bids, ...asks]);
        return;
      }
      case 'book': {
        if (side !== 'buy' && side !== 'sell') {
          throw new TapeError(`\`side\` is ${shown(textOf(side))}, not buy or sell`);
        }
        const seq = wholeIn(message, 'seq');
        const levels = levelsOf(this.context, [message], side === 'buy' ? 'bid' : 'ask', fields);
        this.chain.update(at, seq, seq - 1, levels);
        return;
      }
      case 'trade':
        emitTrade(this.context, at, { price, size: qty, side, id: uid });
        return;
      default:
        for (const [kind, field] of [
          ['index', 'index'],
          ['mark', 'markPrice'],
        ] as const) {
          if (message[field] === undefined) continue;
          const ticks = this.context.numbers.rounded(textOf(message[field]), field);
          this.context.emit({ kind, ...at, priceTicks: ticks });
        }
    }
  }
}
