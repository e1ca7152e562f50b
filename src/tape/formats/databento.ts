/**
 * Decodes Databento's CSV files of the schemas `mbo`, `mbp-1`, `mbp-10`, `tbbo`, `trades` and
 * `ohlcv-*`; the header determines the schema. Prices are decimals, or integers of 1e-9. Source:
 * Databento documentation, "Schemas and data formats". Without a symbol column the market is the
 * `instrument_id`.
 *
 * MBO: a fill (F) does not change Databento's book; the cancellation or modification after it does.
 * Here the fill executes the order, and that record only removes what is left to remove. The size
 * of a trade (T) beyond the fills of known orders is emitted as a trade after them. A modification
 * that adds size or moves the price places the order at the back of its level. A book starts with
 * its snapshot records, or empty.
 *
 * MBP: each row has the best levels after its event; the changes from row to row are emitted, with
 * assigned update ids.
 */
import type { Side, TapeLevel } from '../../engine/commands.ts';
import { lots, priceTicks, timeUs, type Lots, type PriceTicks } from '../../num/units.ts';
import { TapeError, type OrderAction } from '../record.ts';
import { mustEnclose } from './binance-csv.ts';
import { UpdateChain, type MessageTime } from './json-records.ts';
import { integerOf, shown } from './numbers.ts';
import { Header, isHeader, type DecoderContext, type Row, type RowDecoder } from './row-decoder.ts';

/** Length of a bar by `rtype`, seconds. */
const BAR_SECONDS: Readonly<Record<string, number>> = {
  32: 1,
  33: 60,
  34: 3600,
  35: 86_400,
  36: 86_400,
};
const UNDEFINED_PRICE = '9223372036854775807';

interface Order {
  readonly side: Side;
  readonly price: PriceTicks;
  left: number;
  /** Size of fills whose cancellation or modification has not arrived yet. */
  filled: number;
}

interface State {
  readonly chain: unknown;
  readonly orders: readonly (readonly [number, Order])[];
}

export class DatabentoDecoder implements RowDecoder {
  private readonly context: DecoderContext;
  private readonly chain: UpdateChain;
  private header: Header | null = null;
  private schema: 'mbo' | 'mbp' | 'trades' | 'ohlcv' = 'trades';
  private depth = 0;
  private readonly orders: Map<number, Order>;
  /** Levels of the last row by side and price. */
  private levels: Map<string, TapeLevel> | null = null;
  /** A trade whose fills may follow; `left` is the size of which they have not. */
  private trade: {
    /** Of its last fill so far: visible orders have priority. */
    at: MessageTime;
    readonly price: PriceTicks;
    readonly sign: 1 | -1;
    left: number;
  } | null = null;

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    const { chain, orders = [] } = (state ?? {}) as Partial<State>;
    this.chain = new UpdateChain(context, chain);
    this.orders = new Map(orders);
  }

  state(): State {
    return { chain: this.chain.state(), orders: [...this.orders] };
  }

  row(row: Row): void {
    if (row.lineInFile === 1) {
      this.open(row.fields);
      return;
    }
    const symbol = this.text(row, 'symbol') ?? '';
    const name = symbol === '' ? this.text(row, 'instrument_id') : symbol;
    if (name === undefined || name === '')
      throw new TapeError('neither `symbol` nor `instrument_id`');
    if (!this.context.selects(name)) return;
    const timeText = this.text(row, 'ts_event');
    const { times } = this.context;
    const eventUs = times.read(row, timeText, 'ts_event');
    const received = this.text(row, 'ts_recv');
    const at = {
      timeUs: eventUs,
      localUs: received === undefined ? eventUs : times.read(row, received, 'ts_recv'),
      line: row.line,
    };
    switch (this.schema) {
      case 'ohlcv':
        this.bar(row, at);
        return;
      case 'trades':
        this.print(row, at);
        return;
      case 'mbp':
        if (this.text(row, 'action') === 'T') this.print(row, at);
        else this.book(row, at);
        return;
      case 'mbo':
        this.order(row, at);
    }
  }

  endFile(): void {
    this.flushTrade();
    this.header = null;
  }

  private open(fields: readonly string[]): void {
    const header = new Header(fields);
    if (!isHeader(fields) || !header.has('ts_event', 'rtype')) {
      throw new TapeError('the header has no `ts_event` and `rtype` of a Databento file');
    }
    this.header = header;
    if (header.has('order_id', 'action', 'side')) this.schema = 'mbo';
    else if (header.has('open', 'high', 'low', 'close')) this.schema = 'ohlcv';
    else if (header.has('bid_px_00', 'ask_px_00')) this.schema = 'mbp';
    else if (header.has('action', 'side', 'price', 'size')) this.schema = 'trades';
    else throw new TapeError(`the columns ${header.names.join(', ')} match no known schema`);
    this.depth = header.names.filter((name) => /^bid_px_[0-9]+$/.test(name)).length;
  }

  private text({ fields }: Row, name: string): string | undefined {
    return fields[this.header?.place(name) ?? -1];
  }

  private price(row: Row, field: string): PriceTicks {
    return this.context.numbers.price(decimal(this.text(row, field)), field);
  }

  private size(row: Row): Lots {
    return this.context.numbers.size(this.text(row, 'size'), 'size');
  }

  private bar(row: Row, at: MessageTime): void {
    const seconds = BAR_SECONDS[this.text(row, 'rtype') ?? ''];
    if (seconds === undefined) {
      throw new TapeError(
        `\`rtype\` ${shown(this.text(row, 'rtype'))} is not that of a bar, 32 to 36`,
      );
    }
    const [open, high, low, close] = ['open', 'high', 'low', 'close'].map((name) =>
      this.price(row, name),
    );
    if (open === undefined || high === undefined || low === undefined || close === undefined)
      return;
    mustEnclose(open, high, low, close);
    const volume = this.context.numbers.volume(this.text(row, 'volume'), 'volume');
    const startUs = at.timeUs;
    const endUs = timeUs(startUs + seconds * 1_000_000 - 1);
    const { line } = at;
    this.context.emit({
      kind: 'bar',
      timeUs: endUs,
      localUs: endUs,
      line,
      startUs,
      open,
      high,
      low,
      close,
      volume,
    });
  }

  private print(row: Row, at: MessageTime): void {
    const size = this.size(row);
    if (size === 0) throw new TapeError('`size` of a trade is 0');
    const sign = this.text(row, 'side') === 'A' ? -1 : 1;
    const price = this.price(row, 'price');
    this.emitTrade(at, price, lots(sign * size));
  }

  private emitTrade(at: MessageTime, price: PriceTicks, size: Lots): void {
    this.context.emit({ kind: 'trade', ...at, tradeId: at.line, priceTicks: price, lots: size });
  }

  private book(row: Row, at: MessageTime): void {
    const { numbers } = this.context;
    const levels = new Map<string, TapeLevel>();
    for (let i = 0; i < this.depth; i++) {
      const place = String(i).padStart(2, '0');
      for (const side of ['bid', 'ask'] as const) {
        const text = this.text(row, `${side}_px_${place}`) ?? '';
        // An empty level has no price.
        if (text === '' || text === UNDEFINED_PRICE || text.toLowerCase() === 'nan') continue;
        const field = `${side}_sz_${place}`;
        const price = numbers.price(decimal(text), `${side}_px_${place}`);
        const level = { side, priceTicks: price, lots: numbers.size(this.text(row, field), field) };
        if (level.lots > 0) levels.set(`${side} ${String(price)}`, level);
      }
    }
    const { chain, levels: before } = this;
    this.levels = levels;
    if (before === null) {
      chain.snapshot(at, chain.nextId, [...levels.values()]);
      return;
    }
    const removed = [...before].flatMap(([key, level]) =>
      levels.has(key) ? [] : [{ ...level, lots: lots(0) }],
    );
    const changed = [...levels].flatMap(([key, level]) =>
      before.get(key)?.lots === level.lots ? [] : [level],
    );
    if (removed.length + changed.length === 0) return;
    chain.update(at, chain.nextId, chain.nextId - 1, [...removed, ...changed]);
  }

  private order(row: Row, at: MessageTime): void {
    const action = this.text(row, 'action');
    if (action === 'R') {
      this.flushTrade();
      this.orders.clear();
      this.chain.snapshot(at, this.chain.nextId, []);
      return;
    }
    if (action === 'N') return;
    if (action === 'T') {
      this.flushTrade();
      const sign = this.text(row, 'side') === 'A' ? -1 : 1;
      this.trade = { at, price: this.price(row, 'price'), sign, left: this.size(row) };
      return;
    }
    const ref = integerOf(this.text(row, 'order_id'), 'order_id');
    const order = this.orders.get(ref);
    if (action === 'F') {
      // An order that is not known has no place in the book: its fill stays in the trade.
      if (order === undefined) return;
      const size = Math.min(this.size(row), order.left);
      if (this.trade !== null) {
        this.trade.at = at;
        this.trade.left -= size;
      }
      order.left -= size;
      order.filled += size;
      if (size > 0) this.emitOrder('execute', ref, order, size, at);
      return;
    }
    this.flushTrade();
    if (action === 'C') this.cancel(row, ref, order, at);
    else if (action === 'A' || action === 'M') this.place(row, ref, order, at);
    else throw new TapeError(`\`action\` is ${shown(action)}, not one of A, C, M, R, T, F, N`);
  }

  private cancel(row: Row, ref: number, order: Order | undefined, at: MessageTime): void {
    if (order === undefined) return;
    const size = Math.min(order.left, Math.max(0, this.size(row) - order.filled));
    order.filled = Math.max(0, order.filled - this.size(row));
    order.left -= size;
    if (size > 0) this.emitOrder(order.left > 0 ? 'reduce' : 'remove', ref, order, size, at);
    if (order.left === 0) this.orders.delete(ref);
  }

  private place(row: Row, ref: number, order: Order | undefined, at: MessageTime): void {
    const sideText = this.text(row, 'side');
    if (sideText !== 'A' && sideText !== 'B') {
      throw new TapeError(`\`side\` is ${shown(sideText)}, not A or B`);
    }
    const side = sideText === 'B' ? ('bid' as const) : ('ask' as const);
    const price = this.price(row, 'price');
    const size = this.size(row);
    if (order !== undefined && order.price === price && order.side === side && size <= order.left) {
      if (size < order.left) this.emitOrder('reduce', ref, order, order.left - size, at);
      order.left = size;
      order.filled = 0;
      if (size === 0) this.orders.delete(ref);
      return;
    }
    if (order !== undefined && order.left > 0) this.emitOrder('remove', ref, order, order.left, at);
    if (size === 0) {
      this.orders.delete(ref);
      return;
    }
    const placed: Order = { side, price, left: size, filled: 0 };
    this.orders.set(ref, placed);
    this.emitOrder('add', ref, placed, size, at);
  }

  private emitOrder(
    action: OrderAction,
    ref: number,
    order: Order,
    size: number,
    at: MessageTime,
  ): void {
    const { side, price } = order;
    this.context.emit({
      kind: 'order',
      ...at,
      action,
      ref,
      side,
      priceTicks: priceTicks(price),
      lots: lots(size),
    });
  }

  private flushTrade(): void {
    const { trade } = this;
    this.trade = null;
    if (trade === null || trade.left <= 0) return;
    this.emitTrade(trade.at, trade.price, lots(trade.sign * trade.left));
  }
}

/** A price as a decimal; integers are of 1e-9. */
function decimal(text: string | undefined): string | undefined {
  if (text === undefined || !/^[0-9]{1,19}$/.test(text)) return text;
  const digits = text.padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '');
}
