/** Recorded data for a run: the markets, their times, and one stream of commands. */
import { createHash } from 'node:crypto';
import { dateText } from '../base/date-text.ts';
import type { Command } from '../engine/commands.ts';
import { noBookText, noBookUs } from '../backtest/no-book.ts';
import type { Note } from '../backtest/note.ts';
import type { BacktestOutput } from '../backtest/output.ts';
import type { TapeBatch } from '../backtest/run-backtest.ts';
import { StrategyError } from '../strategy/definition.ts';
import { STANDS } from '../tape/bar-holes.ts';
import type { RecordKind } from '../tape/record.ts';
import {
  DEFAULT_TAPE_MODEL,
  describeModel,
  type Fidelity,
  type TapeModel,
  sourcesOf,
} from '../tape/tape-model.ts';
import type { DatasetManifest, StreamManifest } from '../tape/manifest.ts';
import type { SyncFacts, TapeStep } from '../tape/book-sync.ts';
import {
  closesHoles,
  openDataset,
  type DatasetMarket,
  type TapeReading,
} from '../tape-files/dataset-files.ts';

/** A market of a run, with the terms that follow from its data. */
export interface SourceMarket {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  /** Further fields of the market spec: the sources of index, mark and funding. */
  readonly terms: Readonly<Record<string, unknown>>;
  /** Fidelity of the records; null for a market made by agents. */
  readonly fidelity: Fidelity | null;
  /** Whether the recording has trades. */
  readonly hasTrades: boolean;
  /** Description of the sources. */
  readonly note: Note;
}

export interface TapeSource {
  readonly markets: readonly SourceMarket[];
  /** Hash of the recorded data (`dataHash`); null without any. */
  readonly sha256: string | null;
  readonly firstUs: number;
  readonly lastUs: number;
  /** Min time of receipt minus venue time. */
  readonly minRecordedUs: number;
  /**
   * Min age limit of a market's price source before the market freezes, if the records need more
   * than the default.
   */
  readonly minStaleUs: number;
  readonly batches: AsyncIterable<TapeBatch>;
  /** Fraction read, 0…1. */
  readonly progress: () => number;
  /** Sources of the data and their faults, after a run that has played all of them. */
  readonly notes: (played: PlayedRun) => readonly Note[];
}

export interface TapeRange {
  readonly fromUs: number | null;
  readonly toUs: number | null;
}

/** `symbols`: markets to read, in the order of their ids; default: all. Errors name the file. */
export async function openTape(
  folder: string,
  symbols: readonly string[] | null,
  { fromUs, toUs }: TapeRange,
  model: TapeModel = DEFAULT_TAPE_MODEL,
  fidelity?: Fidelity,
): Promise<TapeSource> {
  const dataset = await openDataset(folder);
  const reading = dataset.read({
    ...(symbols === null ? {} : { markets: symbols }),
    ...(fromUs === null ? {} : { fromUs }),
    ...(toUs === null ? {} : { toUs }),
    model,
    ...(fidelity === undefined ? {} : { fidelity }),
  });
  const { markets } = reading;
  for (const { symbol, inverse } of markets) {
    if (!inverse) continue;
    throw new StrategyError(
      `${folder}: ${symbol} is an inverse (coin-margined) contract: it allows book checks only, no PnL`,
    );
  }
  mustHavePrices(folder, markets);
  const streams = markets.flatMap((market) => market.streams);
  return {
    markets: markets.map((market) => sourceMarket(market, model, fidelity ?? market.fidelity)),
    sha256: hashOf(dataset.manifest, symbols),
    firstUs: Math.min(...markets.map((market) => market.firstUs)),
    lastUs: Math.max(...markets.map((market) => market.lastUs)),
    minStaleUs: Math.max(0, ...streams.map(staleUsOf)),
    minRecordedUs: Math.min(...streams.map(({ minFeedLatencyUs }) => minFeedLatencyUs)),
    batches: batchesOf(reading),
    progress: () => reading.progress(),
    notes: (played) => notesOf(reading, model, played),
  };
}

/** Best prices are compared with a book and not played, so a run of them alone is empty. */
function mustHavePrices(folder: string, markets: readonly DatasetMarket[]): void {
  const hasPrices = ({ fidelity, counts }: DatasetMarket): boolean =>
    fidelity !== null || (counts.mark ?? 0) > 0 || (counts.index ?? 0) > 0;
  const [first] = markets;
  if (first === undefined || markets.some(hasPrices)) return;
  throw new StrategyError(
    `${folder}: ${first.symbol} has ${Object.keys(first.counts).join(' and ')} alone, which cannot be played; add trades, a book or bars: orrery data import … --add`,
  );
}

const DAY_US = 86_400_000_000;

/** Markets of a run, and its strategies with their fills. */
export type PlayedRun = Pick<BacktestOutput, 'markets' | 'strategies'>;

/** A recorded price is not stale until this many mean intervals have passed, */
const MEAN_INTERVALS = 10;
/** or this many of the longest interval. */
const LONGEST_INTERVALS = 2;

/**
 * Recorded marks and indices may come once a minute or once an hour, as bars do, and more rarely in
 * a part of the recording. The market must not freeze between two of them. Suspected gaps are no
 * intervals, so a long hole does not raise the limit. Manifests without intervals give the mean
 * only, holes included.
 */
function staleUsOf({ counts, firstUs, lastUs, intervals }: StreamManifest): number {
  const limits = (['mark', 'index'] as const).map((kind) => {
    const count = counts[kind] ?? 0;
    if (count < 2) return 0;
    const meanUs = (lastUs - firstUs) / (count - 1);
    const usual = intervals?.[kind] ?? { meanUs, longestUs: 0 };
    return Math.max(usual.meanUs * MEAN_INTERVALS, usual.longestUs * LONGEST_INTERVALS);
  });
  return Math.ceil(Math.max(...limits));
}

/**
 * Recorded index, mark and funding rates are used; missing ones are derived from the market's book.
 */
function sourceMarket(
  market: DatasetMarket,
  model: TapeModel,
  fidelity: Fidelity | null,
): SourceMarket {
  const has = (kind: RecordKind): boolean => (market.counts[kind] ?? 0) > 0;
  const { symbol, tickSize, lotSize } = market;
  const { indexSource, markSource, fundingSource } = sourcesOf(market.counts, fidelity);
  const book = describeModel(model, fidelity, closesHoles(market, model));
  return {
    symbol,
    tickSize,
    lotSize,
    fidelity,
    hasTrades: has('trade'),
    terms: {
      recordedLiquidity: true,
      indexSource,
      markSource,
      funding: { source: fundingSource },
    },
    note: {
      title: `Mark, index and funding of ${symbol}`,
      text: [
        has('index')
          ? `The index is the recorded one.${partText(market, 'index')}`
          : 'The recording has no index: it is the mid of the book at whole seconds, which moves with the book that is traded, and stays while the strategies hold a side alone.',
        has('mark')
          ? `The mark is the recorded one.${partText(market, 'mark')}`
          : markSource === 'last'
            ? 'The mark is the last price.'
            : 'The mark follows from index and book.',
        has('funding')
          ? `Funding is settled at the recorded rates.${partText(market, 'funding')}`
          : fundingSource === 'premium'
            ? 'The recording has no funding rates: they are derived from the premium of the book over the index.'
            : 'The recording has no funding rates: none is paid.',
        book ?? '',
      ]
        .join(' ')
        .trim(),
    },
  };
}

/** The span of streams that cover a part of the market's time only. */
function partText({ streams, firstUs, lastUs }: DatasetMarket, kind: RecordKind): string {
  const found = streams.filter(({ counts }) => (counts[kind] ?? 0) > 0);
  const fromUs = Math.min(...found.map((stream) => stream.firstUs));
  const toUs = Math.max(...found.map((stream) => stream.lastUs));
  if (fromUs - firstUs < DAY_US && lastUs - toUs < DAY_US) return '';
  return ` It is recorded from ${dateText(fromUs)} to ${dateText(toUs)} only.`;
}

async function* batchesOf(reading: TapeReading): AsyncGenerator<TapeBatch> {
  for await (const steps of reading.steps()) yield batchOf(steps);
}

function batchOf(steps: readonly TapeStep[]): TapeBatch {
  const commands: Command[] = [];
  const localUs: number[] = [];
  for (const { command, record } of steps) {
    if (command === null) continue;
    commands.push(command);
    localUs.push(record.localUs);
  }
  return { commands, localUs };
}

/** Counts of the records by kind, without zeros. */
function countsText(sync: SyncFacts, levels: number): string {
  const kinds: readonly (readonly [number, string])[] = [
    [sync.depths, 'depth updates'],
    [sync.trades, 'trades'],
    [sync.snapshots, sync.snapshots === 1 ? 'snapshot' : 'snapshots'],
    [sync.bars, 'bars'],
    [sync.orders, 'changes of single orders'],
    [sync.depths + sync.snapshots > 0 ? levels : 0, 'levels'],
  ];
  const held = kinds.filter(([count]) => count > 0);
  return `${held.map(([count, name]) => `${String(count)} ${name}`).join(', ') || 'Nothing'}.`;
}

/** Gaps of a book or of bars. */
function gapsText(
  { gaps, gapList, firstUs, lastUs, dropped, bars, depths, snapshots }: SyncFacts,
  withoutBookUs: number,
): string {
  if (depths + snapshots > 0) {
    const span = (lastUs - firstUs) / 1e6;
    return `${String(gaps)} breaks in the chain of updates; ${noBookText(withoutBookUs)} of ${String(span)} s; ${String(dropped)} updates older than the snapshot dropped.`;
  }
  if (bars === 0) return 'Such data have no chain of ids.';
  const span = `Bars closed from ${dateText(firstUs)} to ${dateText(lastUs)}.`;
  if (gaps === 0) return `${span} None is missing.`;
  const us = gapList.reduce((sum, { fromUs, toUs }) => sum + toUs - fromUs, 0);
  const isMore = gaps > gapList.length ? 'more than ' : '';
  return `${span} Bars are missing in ${gaps === 1 ? '1 place' : `${String(gaps)} places`}, ${isMore}${hoursText(us)} in all.`;
}

/**
 * The fills at a price that no bar confirms: of a book that is kept where bars are missing, or that
 * ends with the run.
 */
function deadFills(
  { bars, barUs, lastUs, gapList }: SyncFacts,
  symbol: string,
  strategies: PlayedRun['strategies'],
): Note[] {
  if (bars === 0) return [];
  const freshUs = STANDS * (barUs ?? 0);
  const isDead = (timeUs: number): boolean =>
    timeUs > lastUs + freshUs ||
    gapList.some(({ fromUs, toUs }) => timeUs > fromUs + freshUs && timeUs < toUs);
  const count = strategies
    .flatMap(({ fills }) => fills)
    .filter((fill) => fill.symbol === symbol && isDead(fill.timeUs)).length;
  if (count === 0) return [];
  const what = count === 1 ? '1 fill' : `${String(count)} fills`;
  return [
    {
      title: `Fills without data of ${symbol}`,
      text: `${what} of ${symbol} where bars are missing or after the last one, at the last close, are not realistic.`,
      isWarning: true,
    },
  ];
}

/** A market without a timely mark or index: it accepts orders that reduce only. */
function frozenMarket(frozenUs: number, symbol: string, spanUs: number): Note[] {
  if (frozenUs === 0) return [];
  return [
    {
      title: `Frozen market of ${symbol}`,
      text: `${symbol} was frozen for ${String(frozenUs / 1e6)} s of ${String(spanUs / 1e6)} s, since its recorded mark or index was stale: no order opened a position, and there was no trigger, funding or liquidation.`,
      isWarning: true,
    },
  ];
}

/** Bars that have no volume, as in a table without that column: nothing fills at their prices. */
function emptyBars(
  { bars, duplicates, emptyBars: empty }: SyncFacts,
  symbol: string,
  { depthLots }: TapeModel,
): Note[] {
  if (empty === 0 || empty < bars - duplicates || depthLots !== null) return [];
  return [
    {
      title: `Bars without volume of ${symbol}`,
      text: `No bar of ${symbol} has volume, so no order is filled. --bars depth=<lots> states a volume.`,
      isWarning: true,
    },
  ];
}

function hoursText(us: number): string {
  const hours = us / 3_600_000_000;
  return hours >= 1 ? `${hours.toFixed(1)} h` : `${(us / 1e6).toFixed(0)} s`;
}

/** Gaps that the import suspects; a backtest plays through them. */
function suspectedText(streams: readonly StreamManifest[]): string {
  const all = streams.flatMap(({ suspectedGaps = [] }) => suspectedGaps);
  if (all.length === 0) return '';
  const us = all.reduce((sum, { fromUs, toUs }) => sum + toUs - fromUs, 0);
  return ` Suspected gaps in the whole recording: ${String(all.length)}, ${String(us / 1e6)} s; they are played as time without changes.`;
}

function sourceText({ id, source, licence }: StreamManifest): string {
  return [source === '' ? `Stream ${id}, imported without a source` : source, licence]
    .filter((text) => text !== '')
    .join('. ');
}

function notesOf(
  reading: TapeReading,
  model: TapeModel,
  { markets: played, strategies }: PlayedRun,
): Note[] {
  const ms = (us: number): string => `${String(us / 1000)} ms`;
  const facts = reading.facts();
  return reading.markets.flatMap((market, i) => {
    const found = facts[i];
    if (found === undefined) return [];
    const { sync, ordering } = found;
    const levels = market.streams.reduce((sum, stream) => sum + stream.levels, 0);
    const of = reading.markets.length > 1 ? ` of ${market.symbol}` : '';
    return [
      {
        title: `Source${of}`,
        text: market.streams.map(sourceText).join('; '),
      },
      {
        title: `Counts${of}`,
        text: countsText(sync, levels),
      },
      {
        title: `Gaps${of}`,
        text: `${gapsText(sync, noBookUs(played[i] ?? { gaps: [] }))}${suspectedText(market.streams)}`,
      },
      ...frozenMarket(played[i]?.frozenUs ?? 0, market.symbol, sync.lastUs - sync.firstUs),
      ...deadFills(sync, market.symbol, strategies),
      ...emptyBars(sync, market.symbol, model),
      {
        title: `Order of lines${of}`,
        text: `${String(ordering.outOfOrder)} lines were out of the venue’s time order and were sorted; ${String(ordering.late)} were too late to sort.`,
      },
      {
        title: `Clock skew${of}`,
        text: `Local less venue time is ${ms(ordering.minFeedLatencyUs)} to ${ms(ordering.maxFeedLatencyUs)}${ordering.minFeedLatencyUs < 0 ? ': the recorder’s clock was behind' : ''}.`,
      },
    ];
  });
}

/** SHA-256 over the files of a dataset: equal for every copy of it. Throws as `openTape`. */
export async function dataHash(folder: string, symbols: readonly string[] | null): Promise<string> {
  const { manifest } = await openDataset(folder);
  return hashOf(manifest, symbols);
}

function hashOf(manifest: DatasetManifest, symbols: readonly string[] | null): string {
  const parts = manifest.streams
    .filter(({ symbol }) => symbols?.includes(symbol) ?? true)
    .flatMap((stream) => stream.parts.flatMap(({ events, levels }) => [events, levels]));
  const hashes = parts.map((file) => file.sha256).sort();
  return createHash('sha256').update(hashes.join('\n')).digest('hex');
}
