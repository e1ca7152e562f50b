/** Records from the JSON messages of venues: levels, trades and chains of assigned update ids. */
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { shown, timeOf } from './numbers.ts';
import { isObject, textOf, type Json } from './raw-line.ts';
import type { DecoderContext } from './row-decoder.ts';

/** Times and line of a message. */
export interface MessageTime {
  readonly timeUs: TimeUs;
  readonly localUs: TimeUs;
  readonly line: number;
}

/** Levels of a list: pairs `[price, size]`, or objects with the named fields. */
export function levelsOf(
  context: DecoderContext,
  rows: unknown,
  side: TapeLevel['side'],
  [price, size]: readonly [price: string | number, size: string | number] = [0, 1],
): TapeLevel[] {
  if (!Array.isArray(rows)) throw new TapeError(`the ${side}s are not a list of levels`);
  const { numbers } = context;
  const list: readonly unknown[] = rows;
  return list.map((row, i) => {
    const level = (typeof row === 'object' && row !== null ? row : {}) as Json;
    const name = `${side}s[${String(i)}]`;
    return {
      side,
      priceTicks: numbers.price(textOf(level[price]), `${name} price`),
      lots: numbers.size(textOf(level[size]), `${name} size`),
    };
  });
}

export interface TradeFields {
  readonly price: unknown;
  readonly size: unknown;
  /** The taker's side. */
  readonly side: unknown;
  /** The venue's id; where it is no whole number, the line stands for it. */
  readonly id: unknown;
}

export function emitTrade(
  { numbers, emit }: DecoderContext,
  at: MessageTime,
  trade: TradeFields,
): void {
  const side = typeof trade.side === 'string' ? trade.side.toLowerCase() : '';
  if (side !== 'buy' && side !== 'sell') {
    throw new TapeError(`\`side\` of a trade is ${shown(textOf(trade.side))}, not buy or sell`);
  }
  const priceTicks = numbers.price(textOf(trade.price), 'price of a trade');
  const size = numbers.size(textOf(trade.size), 'size of a trade');
  if (size === 0) throw new TapeError('`size` of a trade is 0');
  const id = textOf(trade.id) ?? '';
  const tradeId = /^[0-9]{1,15}$/.test(id) ? Number(id) : at.line;
  emit({ kind: 'trade', ...at, tradeId, priceTicks, lots: lots(side === 'sell' ? -size : size) });
}

/** A time field in milliseconds or as an ISO date. */
export function timeIn(body: Json, field: string): TimeUs {
  return timeOf(textOf(body[field]), field);
}

export function objectsIn(value: unknown, field: string): Json[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.map((entry, i) => {
    if (!isObject(entry)) throw new TapeError(`\`${field}[${String(i)}]\` is not an object`);
    return entry;
  });
}

export function wholeIn(body: Json, field: string): number {
  const value = body[field];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new TapeError(`\`${field}\` is ${shown(textOf(value))}, not a whole number below 2^53`);
}

interface ChainState {
  readonly shift: number;
  readonly lastId: number;
}

/**
 * Update ids that only grow: a venue that restarts its ids is shifted. Emits snapshots and updates,
 * each update with the id that it follows, so that a missing one is a gap.
 */
export class UpdateChain {
  private shift: number;
  private lastId: number;
  private readonly context: DecoderContext;

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    const { shift = 0, lastId = 0 } = (state ?? {}) as Partial<ChainState>;
    this.shift = shift;
    this.lastId = lastId;
  }

  state(): ChainState {
    const { shift, lastId } = this;
    return { shift, lastId };
  }

  /** The id after the last one, for a venue without ids. */
  get nextId(): number {
    return this.lastId - this.shift + 1;
  }

  snapshot(at: MessageTime, id: number, levels: readonly TapeLevel[]): void {
    if (id + this.shift <= this.lastId) this.shift = this.lastId + 1 - id;
    this.lastId = id + this.shift;
    this.context.emit({ kind: 'snapshot', ...at, lastId: this.lastId, levels });
  }

  /** An update that follows `prevId` of the venue; an id at or before it restarts the ids. */
  update(at: MessageTime, id: number, prevId: number, levels: readonly TapeLevel[]): void {
    const previous = prevId + this.shift;
    if (id <= prevId) this.shift = previous + 1 - id;
    const lastId = id + this.shift;
    this.lastId = Math.max(this.lastId, lastId);
    this.context.emit({
      kind: 'depth',
      ...at,
      firstId: previous + 1,
      lastId,
      prevId: previous,
      levels,
    });
  }
}
