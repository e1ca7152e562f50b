/**
 * What is assumed where a recording has no book: of trades alone, or of bars, a synthetic book stands around the last price
 * (docs/DATA.md). A recording of better data needs none of it.
 */
import type { BarFill, BarPath } from '../../engine/commands.ts';
import type { IndexSource, MarkSource, FundingSource } from '../../engine/config.ts';
import type { RecordKind } from './record.ts';

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
   * Where the synthetic book stands between two bars: around the close, or already around the next open, as tools that fill market
   * orders there assume. That open is then known before its time when bars are missing in between.
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

export type RecordCounts = Readonly<Partial<Record<RecordKind, number>>>;

/** The best that these records can be played as; null when they say nothing of trading. */
export function fidelityOf(counts: RecordCounts): Fidelity | null {
  const has = (kind: RecordKind): boolean => (counts[kind] ?? 0) > 0;
  if (has('order')) return 'l3';
  if (has('depth') || has('snapshot')) return 'l2';
  if (has('trade')) return 'trades';
  return has('bar') ? 'bars' : null;
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
