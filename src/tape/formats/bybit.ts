/**
 * Decodes Bybit v5 streams as lines of JSON: `orderbook.N`, `publicTrade`, and mark and index of
 * `tickers`. Lines are bare, as in the historical order books (`…_ob500.data.zip`), or start with
 * the time of receipt. A book's time is the matching engine's (`cts`) if present.
 *
 * Update ids are consecutive. A snapshot may reset them (`u` 1 after a restart); emitted ids only
 * grow.
 */
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { shown } from './numbers.ts';
import { isObject, milliseconds, parseObject, rawLine, textOf, type Json } from './raw-line.ts';
import type { DecoderContext } from './row-decoder.ts';

interface State {
  /** Offset added to the venue's update ids. */
  readonly shift: number;
  readonly lastId: number;
  readonly trades: number;
}

export class BybitDecoder {
  /** Number of messages of other markets and topics. */
  ignored = 0;
  private readonly context: DecoderContext;
  private shift: number;
  private lastId: number;
  private trades: number;
  private topic: string | null = null;

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    const { shift = 0, lastId = 0, trades = 0 } = (state ?? {}) as Partial<State>;
    this.shift = shift;
    this.lastId = lastId;
    this.trades = trades;
  }

  state(): State {
    const { shift, lastId, trades } = this;
    return { shift, lastId, trades };
  }

  line(text: string, line: number): void {
    const raw = rawLine(text);
    if (raw === null) return;
    const message = parseObject(raw.json);
    const { topic, data } = message;
    if (typeof topic !== 'string') {
      if (!('op' in message)) throw new TapeError('`topic` is missing');
      return;
    }
    if (!this.context.selects(topic.slice(topic.lastIndexOf('.') + 1))) this.ignored += 1;
    else if (topic.startsWith('orderbook.')) this.book(topic, message, raw.localUs, line);
    else if (topic.startsWith('publicTrade.') && Array.isArray(data)) {
      const trades: readonly unknown[] = data;
      trades.forEach((trade, i) => {
        this.trade(trade, message, raw.localUs, line, `data[${String(i)}]`);
      });
    } else if (topic.startsWith('tickers.')) this.prices(message, raw.localUs, line);
    else this.ignored += 1;
  }

  private book(topic: string, message: Json, receivedUs: TimeUs | null, line: number): void {
    // Topics of different depth are different books; the first one is read.
    this.topic ??= topic;
    if (topic !== this.topic) {
      this.ignored += 1;
      return;
    }
    const { type, data } = message;
    if (!isObject(data)) throw new TapeError('`data` is not an object');
    const sentUs = milliseconds(message, 'ts');
    const at = 'cts' in message ? milliseconds(message, 'cts') : sentUs;
    const id = data['u'];
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) {
      throw new TapeError(`\`data.u\` is ${shown(textOf(id))}, not an integer from 0 to 2^53 − 1`);
    }
    const levels = [...this.levels(data['b'], 'bid'), ...this.levels(data['a'], 'ask')];
    const base = { timeUs: at, localUs: receivedUs ?? sentUs, line, levels };
    if (type === 'snapshot') {
      if (id + this.shift <= this.lastId) this.shift = this.lastId + 1 - id;
      this.lastId = id + this.shift;
      this.context.emit({ kind: 'snapshot', ...base, lastId: this.lastId });
    } else if (type === 'delta') {
      const lastId = id + this.shift;
      this.lastId = Math.max(this.lastId, lastId);
      this.context.emit({ kind: 'depth', ...base, firstId: lastId, lastId, prevId: lastId - 1 });
    } else throw new TapeError(`\`type\` is ${shown(textOf(type))}, not snapshot or delta`);
  }

  private levels(rows: unknown, side: TapeLevel['side']): TapeLevel[] {
    const { numbers } = this.context;
    if (!Array.isArray(rows))
      throw new TapeError(`\`data.${side[0] ?? ''}\` is not a list of levels`);
    const list: readonly unknown[] = rows;
    return list.map((row, i) => {
      const pair: readonly unknown[] = Array.isArray(row) ? row : [];
      const name = `data.${side[0] ?? ''}[${String(i)}]`;
      return {
        side,
        priceTicks: numbers.price(textOf(pair[0]), name),
        lots: numbers.size(textOf(pair[1]), name),
      };
    });
  }

  private trade(
    trade: unknown,
    message: Json,
    receivedUs: TimeUs | null,
    line: number,
    name: string,
  ): void {
    if (!isObject(trade)) throw new TapeError(`\`${name}\` is not an object`);
    // A block trade is agreed outside the book.
    if (trade['BT'] === true) {
      this.ignored += 1;
      return;
    }
    const { numbers, emit } = this.context;
    const side = trade['S'];
    if (side !== 'Buy' && side !== 'Sell') {
      throw new TapeError(`\`${name}.S\` is ${shown(textOf(side))}, not Buy or Sell`);
    }
    const at = milliseconds(trade, 'T');
    const priceTicks = numbers.price(textOf(trade['p']), `${name}.p`);
    const size = numbers.size(textOf(trade['v']), `${name}.v`);
    if (size === 0) throw new TapeError(`\`${name}.v\` of a trade is 0`);
    this.trades += 1;
    emit({
      kind: 'trade',
      timeUs: at,
      localUs: receivedUs ?? ('ts' in message ? milliseconds(message, 'ts') : at),
      line,
      tradeId: this.trades,
      priceTicks,
      lots: lots(side === 'Sell' ? -size : size),
    });
  }

  /** A delta has only the changed fields. */
  private prices(message: Json, receivedUs: TimeUs | null, line: number): void {
    const { data } = message;
    if (!isObject(data)) throw new TapeError('`data` is not an object');
    const at = milliseconds(message, 'ts');
    for (const [kind, field] of [
      ['index', 'indexPrice'],
      ['mark', 'markPrice'],
    ] as const) {
      if (data[field] === undefined) continue;
      const priceTicks = this.context.numbers.rounded(textOf(data[field]), `data.${field}`);
      this.context.emit({ kind, timeUs: at, localUs: receivedUs ?? at, line, priceTicks });
    }
  }
}
