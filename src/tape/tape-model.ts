/**
 * Assumptions for recordings without a book (trades or bars): a synthetic book around the last
 * price (docs/DATA.md). Recordings with a book use none of them.
 */
import { countText } from '../base/count-text.ts';
import type { BarFill, BarPath } from '../engine/commands.ts';
import type { IndexSource, MarkSource, FundingSource } from '../engine/config.ts';
import { BAR_FILLS, BAR_PATHS } from '../engine/tape/hash-tape.ts';
import { TapeError, type RecordKind } from './record.ts';

/** Levels of detail of a recording, best first. */
export const FIDELITIES = ['l3', 'l2', 'trades', 'bars'] as const;
export type Fidelity = (typeof FIDELITIES)[number];

export interface TapeModel {
  /** Spread of the synthetic book, ticks. Bars: 0 locks the book. Trades: at least 1. */
  readonly spreadTicks: number;
  /** Lots on each side of the synthetic book; null: the volume of the bar or trade. */
  readonly depthLots: number | null;
  readonly path: BarPath;
  readonly fill: BarFill;
  /**
   * When strategies receive a bar, and the book they then trade in. `close`: at the end of the bar,
   * around its close. `nextOpen`: when the next bar opens, around that open, as backtesters that
   * fill market orders there assume. Each bar then opens at its own time, even after missing bars.
   */
  readonly quote: 'close' | 'nextOpen';
  /**
   * The book where bars are missing. `close`: it leaves one bar after the last bar, and the next
   * bar brings it back. `keep`: it stays at the last close. Null: `keep` for formats that omit bars
   * without trades, else `close`.
   */
  readonly holes: 'close' | 'keep' | null;
}

export const DEFAULT_TAPE_MODEL: TapeModel = {
  spreadTicks: 1,
  depthLots: null,
  path: 'nearest',
  fill: 'touch',
  quote: 'close',
  holes: null,
};

const QUOTES: readonly TapeModel['quote'][] = ['close', 'nextOpen'];
const HOLES = ['close', 'keep'] as const;
const MODEL_FIELDS = 'path, fill, quote, holes, spread and depth';

/**
 * Parses `path=stopFirst,fill=through,quote=close,spread=2,depth=100`; missing fields have their
 * defaults. Throws `TapeError` that names the field.
 */
export function parseTapeModel(text: string): TapeModel {
  let model = DEFAULT_TAPE_MODEL;
  for (const part of text.split(',').filter((piece) => piece !== '')) {
    const [name = '', value = ''] = part.split('=');
    switch (name) {
      case 'path':
        model = { ...model, path: wordOf(name, value, BAR_PATHS) };
        break;
      case 'fill':
        model = { ...model, fill: wordOf(name, value, BAR_FILLS) };
        break;
      case 'quote':
        model = { ...model, quote: wordOf(name, value, QUOTES) };
        break;
      case 'holes':
        model = { ...model, holes: wordOf(name, value, HOLES) };
        break;
      case 'spread':
        model = { ...model, spreadTicks: wholeOf(name, value, 1 << 24, 'ticks') };
        break;
      case 'depth':
        model = { ...model, depthLots: wholeOf(name, value, 2 ** 50, 'lots') };
        break;
      default:
        throw new TapeError(`--bars: '${part}' is not one of ${MODEL_FIELDS}, each name=value`);
    }
  }
  return model;
}

function wordOf<T extends string>(name: string, value: string, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new TapeError(`--bars: ${name} '${value}' is not one of ${words.join(', ')}`);
}

function wholeOf(name: string, value: string, max: number, unit: string): number {
  const whole = /^[0-9]{1,16}$/.test(value) ? Number(value) : -1;
  if (whole >= 0 && whole <= max) return whole;
  throw new TapeError(`--bars: ${name} '${value}' is not from 0 to ${String(max)} ${unit}`);
}

/** A trade is at the bid or at the ask, which differ. */
export function spreadOfTrades({ spreadTicks }: TapeModel): number {
  return Math.max(1, spreadTicks);
}

/**
 * Description for reports of the assumptions at this fidelity; null if none is used. `closes`: the
 * book of bars leaves where bars are missing.
 */
export function describeModel(
  model: TapeModel,
  fidelity: Fidelity | null,
  closes = model.holes !== 'keep',
): string | null {
  if (fidelity !== 'bars' && fidelity !== 'trades') return null;
  const depth =
    model.depthLots === null
      ? `the ${fidelity === 'bars' ? 'bar' : 'trade'}’s own volume`
      : `${String(model.depthLots)} lots`;
  const spread = fidelity === 'bars' ? model.spreadTicks : spreadOfTrades(model);
  const book = `A synthetic book of ${depth} a side with a spread of ${countText(spread, 'tick')} is placed around the last price.`;
  if (fidelity === 'trades') {
    return `${book} A resting order fills with trades at its price; only that book can be ahead of it, which is optimistic.`;
  }
  const delivery =
    model.quote === 'close'
      ? 'is over, and the book is then around its close'
      : 'next one opens, and the book is then around that open';
  const fill =
    model.fill === 'touch'
      ? 'touched, which assumes the front of the queue (fill=through is the prudent choice)'
      : 'traded through';
  return `${book} Path of a bar: ${model.path}; a resting order fills when its price is ${fill}; strategies receive a bar when ${model.quote === 'close' ? 'it' : 'the'} ${delivery}. Where bars are missing, the book ${closes ? 'is closed' : 'stays at the last close'}.`;
}

export type RecordCounts = Readonly<Partial<Record<RecordKind, number>>>;

/** Record kinds of which any one is enough for the fidelity. */
const PLAYED_FROM: Readonly<Record<Fidelity, readonly RecordKind[]>> = {
  l3: ['order'],
  l2: ['depth', 'snapshot'],
  // Executions of single orders are trades.
  trades: ['trade', 'order'],
  bars: ['bar'],
};

/**
 * Fidelities that these records allow, best first. Snapshots and depth beside single orders are not
 * a book of their own.
 */
export function fidelitiesOf(counts: RecordCounts): Fidelity[] {
  const has = (kind: RecordKind): boolean => (counts[kind] ?? 0) > 0;
  const possible = FIDELITIES.filter((fidelity) => PLAYED_FROM[fidelity].some(has));
  return has('order') ? possible.filter((fidelity) => fidelity !== 'l2') : possible;
}

/** Best fidelity that these records allow; null if they have no trading data. */
export function fidelityOf(counts: RecordCounts): Fidelity | null {
  return fidelitiesOf(counts)[0] ?? null;
}

/**
 * Sources of a market's index, mark and funding at a fidelity: recorded if available, else derived
 * from the tape's prices.
 */
export function sourcesOf(
  counts: RecordCounts,
  fidelity: Fidelity | null,
): {
  readonly indexSource: IndexSource;
  readonly markSource: MarkSource;
  readonly fundingSource: FundingSource;
} {
  const has = (kind: RecordKind): boolean => (counts[kind] ?? 0) > 0;
  const hasBook = fidelity === 'l3' || fidelity === 'l2';
  return {
    indexSource: has('index') ? 'external' : 'mid',
    markSource: has('mark') ? 'external' : hasBook ? 'median' : 'last',
    // A premium needs an index that is not the book's own mid.
    fundingSource: has('funding') || !hasBook || !has('index') ? 'external' : 'premium',
  };
}
