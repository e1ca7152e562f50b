/**
 * Decodes Hyperliquid's l2Book and trades as lines of JSON. Lines come from the websocket, with or
 * without the time of receipt in nanoseconds first (`{"channel":"l2Book","data":{…}}`), or from the
 * public archive (`{"time":…,"raw":{"channel":…}}`). Each l2Book is a snapshot of 20 levels a side;
 * trades of one message share a line. Side `B` is a buy, `A` a sale.
 */
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { shown, timeOf } from './numbers.ts';
import { isObject, milliseconds, parseObject, rawLine, textOf, type Json } from './raw-line.ts';
import type { DecoderContext } from './row-decoder.ts';

export class HyperliquidDecoder {
  private readonly context: DecoderContext;
  private lastId: number;
  /** Number of messages of other coins and channels. */
  ignored = 0;

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    this.lastId = typeof state === 'number' ? state : 0;
  }

  state(): number {
    return this.lastId;
  }

  line(text: string, line: number): void {
    const raw = rawLine(text);
    if (raw === null) return;
    const outer = parseObject(raw.json);
    const message = isObject(outer['raw']) ? outer['raw'] : outer;
    const receivedUs = raw.localUs ?? archived(outer);
    const { channel, data } = message;
    if (channel === 'l2Book' && isObject(data)) this.book(data, receivedUs, line);
    else if (channel === 'trades' && Array.isArray(data)) {
      const trades: readonly unknown[] = data;
      trades.forEach((trade, i) => {
        if (!isObject(trade)) throw new TapeError(`\`data[${String(i)}]\` is not an object`);
        this.trade(trade, receivedUs, line, `data[${String(i)}]`);
      });
    } else if (typeof channel === 'string') this.ignored += 1;
    else throw new TapeError('`channel` is missing');
  }

  private book(data: Json, receivedUs: TimeUs | null, line: number): void {
    if (!this.isOurs(data)) return;
    const at = milliseconds(data, 'time');
    const sides: readonly unknown[] = Array.isArray(data['levels']) ? data['levels'] : [];
    if (sides.length !== 2) throw new TapeError('`levels` is not a list of bids and asks');
    const levels = [...this.levels(sides[0], 'bid'), ...this.levels(sides[1], 'ask')];
    this.lastId += 1;
    this.context.emit({
      kind: 'snapshot',
      timeUs: at,
      localUs: receivedUs ?? at,
      line,
      lastId: this.lastId,
      levels,
    });
  }

  private levels(rows: unknown, side: TapeLevel['side']): TapeLevel[] {
    const { numbers } = this.context;
    const list: readonly unknown[] = Array.isArray(rows) ? rows : [];
    return list.map((row, i) => {
      const level = isObject(row) ? row : {};
      const name = `${side}s[${String(i)}]`;
      return {
        side,
        priceTicks: numbers.price(textOf(level['px']), `${name}.px`),
        lots: numbers.size(textOf(level['sz']), `${name}.sz`),
      };
    });
  }

  private trade(data: Json, receivedUs: TimeUs | null, line: number, name: string): void {
    if (!this.isOurs(data)) return;
    const { numbers, emit } = this.context;
    const at = milliseconds(data, 'time');
    const side = data['side'];
    if (side !== 'B' && side !== 'A') {
      throw new TapeError(`\`${name}.side\` is ${shown(textOf(side))}, not A or B`);
    }
    const priceTicks = numbers.price(textOf(data['px']), `${name}.px`);
    const size = numbers.size(textOf(data['sz']), `${name}.sz`);
    if (size === 0) throw new TapeError(`\`${name}.sz\` of a trade is 0`);
    const tid = data['tid'];
    const tradeId = typeof tid === 'number' && Number.isSafeInteger(tid) && tid >= 0 ? tid : line;
    emit({
      kind: 'trade',
      timeUs: at,
      localUs: receivedUs ?? at,
      line,
      tradeId,
      priceTicks,
      lots: lots(side === 'A' ? -size : size),
    });
  }

  private isOurs(data: Json): boolean {
    const coin = data['coin'];
    if (typeof coin !== 'string') throw new TapeError('`coin` is missing');
    if (this.context.selects(coin)) return true;
    this.ignored += 1;
    return false;
  }
}

/** Time at which the archive's collector received the message. */
function archived(outer: Json): TimeUs | null {
  const time = outer['time'];
  return typeof time === 'string' ? timeOf(time, 'time') : null;
}
