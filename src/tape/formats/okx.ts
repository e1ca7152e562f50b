/**
 * Decodes OKX v5 public websocket messages as lines of JSON: the books `books`, `books-l2-tbt`,
 * `books50-l2-tbt` and `books5`, the best prices `bbo-tbt`, `trades`, `trades-all`, `mark-price`.
 * Sizes of swaps and futures are numbers of contracts. Source: OKX API guide v5, "Order book
 * channel".
 *
 * Each update names the one that it follows (`prevSeqId`). A message without levels and with equal
 * ids is a heartbeat. Ids restart after maintenance. The best prices are those of every 10 ms. The
 * checksum of a message is compared with the book after it; channels without one send 0.
 */
import { TapeError } from '../record.ts';
import { okxChecksum, TextBook, type TextBookState, type TextLevel } from './book-checksum.ts';
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

export class OkxDecoder {
  private readonly context: DecoderContext;
  private readonly chain: UpdateChain;
  /** Channels of different depth are different books; the first one is read. */
  private channel: string | null = null;
  private readonly texts: TextBook;

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    this.chain = new UpdateChain(context, state);
    const { texts = {} } = (state ?? {}) as { readonly texts?: Partial<TextBookState> };
    this.texts = new TextBook(texts);
  }

  state(): unknown {
    return { ...this.chain.state(), texts: this.texts.state() };
  }

  line(text: string, line: number): void {
    const raw = rawLine(text);
    if (raw === null) return;
    const message = parseObject(raw.json);
    const { arg, data, action } = message;
    if (!isObject(arg) || typeof arg['channel'] !== 'string')
      throw new TapeError('`arg.channel` is missing');
    const { channel, instId } = arg;
    // Answers to requests have an event and no data.
    if (!Array.isArray(data) || typeof instId !== 'string') return;
    if (channel === 'index-tickers' || !this.context.selects(instId)) return;
    for (const entry of objectsIn(data, 'data')) {
      const timeUs = timeIn(entry, 'ts');
      const at = { timeUs, localUs: raw.localUs ?? timeUs, line };
      if (channel.startsWith('books')) this.book(channel, action, entry, at);
      else if (channel === 'bbo-tbt') this.touch(entry, at);
      else if (channel === 'trades' || channel === 'trades-all') {
        const { px, sz, side, tradeId } = entry;
        emitTrade(this.context, at, { price: px, size: sz, side, id: tradeId });
      } else if (channel === 'mark-price') {
        const priceTicks = this.context.numbers.rounded(textOf(entry['markPx']), 'markPx');
        this.context.emit({ kind: 'mark', ...at, priceTicks });
      }
    }
  }

  private book(channel: string, action: unknown, entry: Json, at: MessageTime): void {
    this.channel ??= channel;
    if (channel !== this.channel) return;
    const levels = [
      ...levelsOf(this.context, entry['bids'], 'bid'),
      ...levelsOf(this.context, entry['asks'], 'ask'),
    ];
    const id = 'seqId' in entry ? wholeIn(entry, 'seqId') : this.chain.nextId;
    this.check(action !== 'update', entry, at);
    if (action !== 'update') {
      this.chain.snapshot(at, id, levels);
      return;
    }
    const prevId = 'prevSeqId' in entry ? wholeIn(entry, 'prevSeqId') : id - 1;
    if (id === prevId && levels.length === 0) return;
    this.chain.update(at, id, prevId, levels);
  }

  private check(isWhole: boolean, { bids, asks, checksum }: Json, at: MessageTime): void {
    const { texts, context } = this;
    if (isWhole) texts.clear();
    texts.take(textsOf(bids), textsOf(asks));
    if (typeof checksum !== 'number' || checksum === 0) return;
    context.onChecksum(at.line, okxChecksum(texts) === checksum);
  }

  private touch(entry: Json, at: MessageTime): void {
    const [bid] = levelsOf(this.context, entry['bids'], 'bid');
    const [ask] = levelsOf(this.context, entry['asks'], 'ask');
    if (bid === undefined || ask === undefined) return;
    this.context.emit({
      kind: 'touch',
      ...at,
      updateId: 0,
      bidTicks: bid.priceTicks,
      bidLots: bid.lots,
      askTicks: ask.priceTicks,
      askLots: ask.lots,
    });
  }
}

/** Levels of a list that was read before, in its texts. */
function textsOf(rows: unknown): TextLevel[] {
  const list = Array.isArray(rows) ? (rows as readonly (readonly unknown[])[]) : [];
  return list.map(([price, size]) => ({ price: textOf(price) ?? '', size: textOf(size) ?? '' }));
}
