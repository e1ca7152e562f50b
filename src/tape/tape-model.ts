/**
 * What is assumed where a recording has no book: of trades alone, or of bars, a synthetic book stands around the last price
 * (docs/DATA.md). A recording of better data needs none of it.
 */
import type { BarFill, BarPath } from '../engine/commands.ts';
import type { IndexSource, MarkSource, FundingSource } from '../engine/config.ts';
import { BAR_FILLS, BAR_PATHS } from '../engine/tape/hash-tape.ts';
import { TapeError, type RecordKind } from './record.ts';

/** How much a recording says of the market, the most first. */
export const FIDELITIES = ['l3', 'l2', 'trades', 'bars'] as const;
export type Fidelity = (typeof FIDELITIES)[number];

export interface TapeModel {
  /** Between the synthetic bid and ask, in ticks. Of bars 0 locks the book; trades have at least 1. */
  readonly spreadTicks: number;
  /** Lots on each side of the synthetic book; null: as many as the bar or trade that it stands for. */
  readonly depthLots: number | null;
  readonly path: BarPath;
  readonly fill: BarFill;
  /**
   * When strategies hear of a bar, and where they then trade. `close`: when it is over, around its close. `nextOpen`: when the next one
   * opens, around that open, as tools that fill market orders there assume; each bar then opens at its own time, whatever is missing
   * before it.
   */
  readonly quote: 'close' | 'nextOpen';
}

export const DEFAULT_TAPE_MODEL: TapeModel = {
  spreadTicks: 1,
  depthLots: null,
  path: 'nearest',
  fill: 'touch',
  quote: 'close',
};

const QUOTES: readonly TapeModel['quote'][] = ['close', 'nextOpen'];
const MODEL_FIELDS = 'path, fill, quote, spread and depth';

/** `path=stopFirst,fill=through,quote=close,spread=2,depth=100`, any of them over the defaults. Throws `TapeError` naming the field. */
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
      case 'spread':
        model = { ...model, spreadTicks: wholeOf(name, value, 1 << 24, 'ticks') };
        break;
      case 'depth':
        model = { ...model, depthLots: wholeOf(name, value, 2 ** 50, 'lots') };
        break;
      default:
        throw new TapeError(`bars: '${part}' is not one of ${MODEL_FIELDS}, each name=value`);
    }
  }
  return model;
}

function wordOf<T extends string>(name: string, value: string, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new TapeError(`bars: ${name} '${value}' is not one of ${words.join(', ')}`);
}

function wholeOf(name: string, value: string, most: number, unit: string): number {
  const whole = /^[0-9]{1,16}$/.test(value) ? Number(value) : -1;
  if (whole >= 0 && whole <= most) return whole;
  throw new TapeError(`bars: ${name} '${value}' is not from 0 to ${String(most)} ${unit}`);
}

/** What a report says of it, for a market of this fidelity; null where nothing of it is used. */
export function modelWords(model: TapeModel, fidelity: Fidelity | null): string | null {
  if (fidelity !== 'bars' && fidelity !== 'trades') return null;
  const depth =
    model.depthLots === null
      ? `the ${fidelity === 'bars' ? 'bar' : 'trade'}’s own volume`
      : `${String(model.depthLots)} lots`;
  const book = `A synthetic book of ${depth} a side stands ${String(model.spreadTicks)} ticks wide around the last price.`;
  if (fidelity === 'trades') return book;
  const heard =
    model.quote === 'close'
      ? 'is over, and the book then stands around its close'
      : 'next one opens, and the book then stands around that open';
  return `${book} Path of a bar: ${model.path}; a resting order fills when its price is ${model.fill === 'touch' ? 'touched' : 'traded through'}; strategies hear of a bar when ${model.quote === 'close' ? 'it' : 'the'} ${heard}.`;
}

export type RecordCounts = Readonly<Partial<Record<RecordKind, number>>>;

/** Any of these is what a market is played from. */
const PLAYED_FROM: Readonly<Record<Fidelity, readonly RecordKind[]>> = {
  l3: ['order'],
  l2: ['depth', 'snapshot'],
  trades: ['trade'],
  bars: ['bar'],
};

/** What these records can be played as, the most first. */
export function fidelitiesOf(counts: RecordCounts): Fidelity[] {
  return FIDELITIES.filter((fidelity) =>
    PLAYED_FROM[fidelity].some((kind) => (counts[kind] ?? 0) > 0),
  );
}

/** The best that these records can be played as; null when they say nothing of trading. */
export function fidelityOf(counts: RecordCounts): Fidelity | null {
  return fidelitiesOf(counts)[0] ?? null;
}

/** Where a market that plays these records takes its index, mark and funding from: what is recorded, else the tape's own prices. */
export function sourcesOf(counts: RecordCounts): {
  readonly indexSource: IndexSource;
  readonly markSource: MarkSource;
  readonly fundingSource: FundingSource;
} {
  const has = (kind: RecordKind): boolean => (counts[kind] ?? 0) > 0;
  const fidelity = fidelityOf(counts);
  const hasBook = fidelity === 'l3' || fidelity === 'l2';
  return {
    indexSource: has('index') ? 'external' : 'mid',
    markSource: has('mark') ? 'external' : hasBook ? 'median' : 'last',
    // A premium is the book's against an index that is not its own mid.
    fundingSource: has('funding') || !hasBook || !has('index') ? 'external' : 'premium',
  };
}
