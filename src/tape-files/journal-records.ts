/**
 * Market data in the journal of a served exchange, as a public observer would have recorded them:
 * the book, trades, marks, indices, funding rates and best prices of one market. No record names an
 * account or an order.
 *
 * The journal is replayed with its hashes verified, then a second time for the records. Timers that
 * fall due between two commands run at their own time, so a change of the book has the time at
 * which it happened. Update ids count the changes of this reading; a line is a command.
 */
import { statSync } from 'node:fs';
import type { EngineEvent } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { LevelView, MarketView } from '../engine/read/views.ts';
import type { TapeLevel } from '../engine/commands.ts';
import { openJournal } from '../journal-files/folder-journal.ts';
import { rulesNote, unprovenHint, unprovenText } from '../journal-files/mismatch-text.ts';
import { replayPatiently } from '../journal-files/replay-journal.ts';
import { listSegments } from '../journal-files/segments.ts';
import { lots, priceTicks, timeUs, type MarketId, type TimeUs } from '../num/units.ts';
import { MarketNames } from '../tape/formats/market-names.ts';
import { TapeError, type TapeRecord, type TapeUnits } from '../tape/record.ts';

const RECORDS_PER_BATCH = 2000;
const COMMANDS_PER_BATCH = 4096;

/** Files of a journal, oldest first: the file itself, or the segments of a folder. */
export function journalFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return listSegments(path).map((segment) => segment.path);
}

/**
 * Units of all markets that the exchange has listed. Throws `JournalError` for a damaged journal
 * and `TapeError` for one that was made from a recording.
 */
async function journalMarkets(
  path: string,
  onProgress: (fraction: number) => void,
): Promise<TapeUnits[]> {
  const { engine, mismatch, unproven } = await replayPatiently(path, onProgress, mustBeLive);
  if (mismatch !== null) {
    const { what, seq, expected, actual } = mismatch;
    const cause = rulesNote(mismatch) ?? 'the journal is damaged, or of another build';
    throw new TapeError(
      `the ${what === 'stateHash' ? 'state' : 'chain'} hash of command ${String(seq)} is ${expected}, and a replay reaches ${actual}: ${cause}`,
    );
  }
  if (unproven !== null) {
    throw new TapeError(`${unprovenText(unproven)}; ${unprovenHint(unproven)}`);
  }
  return engine.markets().map(({ spec: { symbol, tickSize, lotSize } }) => ({
    symbol,
    tickSize,
    lotSize,
    inverse: false,
  }));
}

/** Recorded liquidity is another venue's: its own recording is the data. */
function mustBeLive(event: EngineEvent): void {
  if (event.kind !== 'tapeApplied') return;
  throw new TapeError(
    `command ${String(event.seq)} is recorded history: the journal is of a backtest or of a replay; use the dataset that was played`,
  );
}

export interface WantedMarket {
  readonly files: readonly string[];
  /** null: the only market. */
  readonly symbol: string | null;
  /** Units that were given; null for those of the listing. */
  readonly units: TapeUnits | null;
}

/**
 * The market that is read, with the units of its listing. Throws `TapeError` if there are several
 * and none was named, or if other units were given; also as `journalMarkets`.
 */
export async function unitsInJournal(
  { files, symbol, units }: WantedMarket,
  unitsOf: (symbol: string) => TapeUnits | null,
  onProgress: (fraction: number) => void,
): Promise<TapeUnits> {
  const [path = '', ...more] = files;
  if (more.length > 0) throw new TapeError('one journal is imported at a time');
  const markets = await journalMarkets(path, onProgress);
  const names = new MarketNames(symbol);
  const found = markets.filter((market) => names.selects(market.symbol))[0];
  names.mustHold(symbol);
  if (found === undefined) throw new TapeError(`${path}: the exchange has listed no market`);
  const known = units ?? unitsOf(found.symbol);
  if (known === null) return found;
  const { tickSize, lotSize } = found;
  if (known.tickSize === tickSize && known.lotSize === lotSize) return known;
  throw new TapeError(
    `${path}: ${found.symbol} is listed with tick ${tickSize} and lot ${lotSize}, not with tick ${known.tickSize} and lot ${known.lotSize}`,
  );
}

/** Records of one market in time order, in batches. Throws as `unitsInJournal`. */
export function* journalRecords(path: string, symbol: string): Generator<TapeRecord[]> {
  const journal = openJournal(path);
  const { base } = journal;
  const engine = base === null ? new Exchange(journal.header.config) : Exchange.restore(base);
  const observer = new MarketObserver(engine, symbol);
  observer.line = journal.fromSeq;
  observer.look();
  if (base !== null) observer.prices();
  let count = 0;
  for (let frame = journal.next(); frame !== null; frame = journal.next()) {
    if (frame.kind !== 'command') continue;
    const { command } = frame;
    observer.line = frame.seq;
    for (let due = engine.nextTimerUs(); due < command.timeUs; due = engine.nextTimerUs()) {
      engine.apply({ kind: 'advanceTime', timeUs: timeUs(due) }, observer.onEvent);
      observer.look();
    }
    engine.apply(command, observer.onEvent);
    observer.look();
    count += 1;
    // Commands without records take time, too.
    if (observer.records.length >= RECORDS_PER_BATCH || count % COMMANDS_PER_BATCH === 0) {
      yield observer.take();
    }
  }
  yield observer.take();
}

type Levels = ReadonlyMap<number, number>;

class MarketObserver {
  records: TapeRecord[] = [];
  /** Command that is applied. */
  line = 0;
  private readonly engine: Exchange;
  private readonly symbol: string;
  private market: MarketId | null = null;
  private bids: Levels = new Map();
  private asks: Levels = new Map();
  private bookSeq = -1;
  private updateId = 0;
  private touch = '';

  constructor(engine: Exchange, symbol: string) {
    this.engine = engine;
    this.symbol = symbol;
  }

  take(): TapeRecord[] {
    const { records } = this;
    this.records = [];
    return records;
  }

  readonly onEvent = (event: EngineEvent): void => {
    const { market } = this;
    if (market === null || !('market' in event) || event.market !== market) return;
    const at = this.at(event.timeUs);
    switch (event.kind) {
      case 'tradePrinted': {
        const { tradeId, priceTicks: price, lots: size } = event;
        this.records.push({ kind: 'trade', ...at, tradeId, priceTicks: price, lots: size });
        return;
      }
      case 'oracleSet':
        this.records.push({ kind: 'index', ...at, priceTicks: event.indexTicks });
        return;
      case 'markChanged':
        this.records.push({ kind: 'mark', ...at, priceTicks: event.markTicks });
        return;
      case 'fundingSettled':
        this.records.push({ kind: 'funding', ...at, ratePpb: event.ratePpb });
        return;
      default:
    }
  };

  /** Records what has changed in the book since the last call. */
  look(): void {
    const view = this.find();
    if (view === null || view.bookSeq === this.bookSeq) return;
    const isFirst = this.bookSeq < 0;
    this.bookSeq = view.bookSeq;
    const [bids, asks] = [this.levels(view, 'bid'), this.levels(view, 'ask')];
    const levels = [...changes('bid', this.bids, bids), ...changes('ask', this.asks, asks)];
    this.bids = bids;
    this.asks = asks;
    const at = this.at(this.engine.nowUs);
    if (isFirst) {
      this.updateId += 1;
      this.records.push({ kind: 'snapshot', ...at, lastId: this.updateId, levels });
    } else if (levels.length > 0) {
      const prevId = this.updateId;
      this.updateId += 1;
      const { updateId } = this;
      this.records.push({
        kind: 'depth',
        ...at,
        firstId: updateId,
        lastId: updateId,
        prevId,
        levels,
      });
    }
    this.best(view);
  }

  /** Index and mark at the start of a compacted journal, which earlier commands have set. */
  prices(): void {
    const view = this.find();
    if (view === null) return;
    const { indexTicks, indexText, markTicks } = view;
    const at = this.at(this.engine.nowUs);
    if (indexTicks !== null && indexText !== null) {
      this.records.push({ kind: 'index', ...at, priceTicks: indexTicks });
    }
    if (markTicks !== null) this.records.push({ kind: 'mark', ...at, priceTicks: markTicks });
  }

  private best({ bestBid, bestAsk }: MarketView): void {
    const shown = (level: LevelView | null): string =>
      level === null ? '' : `${String(level.priceTicks)} ${String(level.lots)}`;
    const touch = `${shown(bestBid)},${shown(bestAsk)}`;
    if (touch === this.touch) return;
    this.touch = touch;
    this.records.push({
      kind: 'touch',
      ...this.at(this.engine.nowUs),
      updateId: this.updateId,
      bidTicks: bestBid?.priceTicks ?? priceTicks(0),
      bidLots: bestBid?.lots ?? lots(0),
      askTicks: bestAsk?.priceTicks ?? priceTicks(0),
      askLots: bestAsk?.lots ?? lots(0),
    });
  }

  private find(): MarketView | null {
    this.market ??=
      this.engine.markets().find(({ spec }) => spec.symbol === this.symbol)?.id ?? null;
    return this.market === null ? null : this.engine.market(this.market);
  }

  private levels({ id }: MarketView, side: TapeLevel['side']): Levels {
    const levels = this.engine.depth(id, side, Infinity);
    return new Map(levels.map((level) => [level.priceTicks, level.lots]));
  }

  private at(atUs: TimeUs): Pick<TapeRecord, 'timeUs' | 'localUs' | 'line'> {
    return { timeUs: atUs, localUs: atUs, line: this.line };
  }
}

/** Changed levels; size 0 removes a level. */
function changes(side: TapeLevel['side'], before: Levels, after: Levels): TapeLevel[] {
  const changed: TapeLevel[] = [];
  for (const price of before.keys()) {
    if (!after.has(price)) changed.push({ side, priceTicks: priceTicks(price), lots: lots(0) });
  }
  for (const [price, size] of after) {
    if (before.get(price) !== size) {
      changed.push({ side, priceTicks: priceTicks(price), lots: lots(size) });
    }
  }
  return changed;
}
