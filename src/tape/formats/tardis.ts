/**
 * Decodes Tardis.dev's downloadable CSV files: incremental_book_L2, book_snapshot_N, trades, quotes
 * and book_ticker, derivative_ticker. The header determines the kind. Times are microseconds;
 * amounts are in the venue's units.
 *
 * Rows of one venue message share their `local_timestamp`. They form one depth update, or one
 * snapshot while `is_snapshot` is true. Amount 0 removes a level. Updates have no ids, so
 * consecutive ids are assigned; each snapshot restarts the chain.
 */
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, type TimeUs } from '../../num/units.ts';
import { TapeError, type TapeRecord } from '../record.ts';
import { booleanOf, rateOf, shown, timeOf } from './numbers.ts';
import { Header, isHeader, type DecoderContext, type Row, type RowDecoder } from './row-decoder.ts';

type TardisFile = 'incremental' | 'snapshot' | 'trades' | 'quotes' | 'ticker';

interface Message {
  readonly timeUs: TimeUs;
  readonly localUs: TimeUs;
  readonly line: number;
  readonly snapshot: boolean;
  readonly levels: TapeLevel[];
}

export class TardisDecoder implements RowDecoder {
  private readonly context: DecoderContext;
  private header: Header | null = null;
  private file: TardisFile = 'trades';
  /** Column indices of price and amount of each level of a book_snapshot row. */
  private levelPlaces: readonly {
    readonly side: TapeLevel['side'];
    readonly name: string;
    readonly price: number;
    readonly amount: number;
  }[] = [];
  private message: Message | null = null;
  private lastId: number;
  private lastFundingUs = 0;
  private lastRate: string | null = null;
  private lastMark: number | null = null;
  private lastIndex: number | null = null;
  private isVenueKnown = false;
  private lastTrade: { readonly id: string; readonly line: number } | null = null;

  constructor(context: DecoderContext, state: unknown) {
    this.context = context;
    this.lastId = typeof state === 'number' ? state : 0;
  }

  state(): number {
    return this.lastId;
  }

  row(row: Row): void {
    if (row.lineInFile === 1) {
      this.open(row.fields);
      return;
    }
    const symbol = this.field(row, 'symbol');
    if (symbol === undefined) throw new TapeError('`symbol` is missing');
    if (!this.context.selects(symbol)) return;
    if (!this.isVenueKnown) this.noteVenue(row, symbol);
    switch (this.file) {
      case 'incremental':
        this.change(row);
        return;
      case 'snapshot':
        this.snapshot(row);
        return;
      case 'trades':
        this.trade(row);
        return;
      case 'quotes':
        this.quote(row);
        return;
      case 'ticker':
        this.ticker(row);
    }
  }

  endFile(): void {
    this.flush();
    this.header = null;
  }

  private noteVenue(row: Row, symbol: string): void {
    this.isVenueKnown = true;
    this.context.onVenue(this.field(row, 'exchange') ?? '', symbol);
  }

  private open(fields: readonly string[]): void {
    const header = new Header(fields);
    if (!isHeader(fields) || !header.has('symbol', 'timestamp', 'local_timestamp')) {
      throw new TapeError('the header has no `symbol`, `timestamp` and `local_timestamp`');
    }
    this.header = header;
    if (header.has('is_snapshot', 'side', 'price', 'amount')) this.file = 'incremental';
    else if (header.has('asks[0].price', 'bids[0].price')) this.file = 'snapshot';
    else if (header.has('ask_price', 'bid_price', 'ask_amount', 'bid_amount')) this.file = 'quotes';
    else if (header.has('side', 'price', 'amount')) this.file = 'trades';
    else if (header.has('funding_rate', 'mark_price', 'index_price')) this.file = 'ticker';
    else {
      throw new TapeError(`the columns ${header.names.join(', ')} match no known Tardis file`);
    }
    this.levelPlaces = header.names.flatMap((name) => {
      const match = /^(asks|bids)\[([0-9]+)\]\.price$/.exec(name);
      if (match === null) return [];
      const level = name.slice(0, -'.price'.length);
      const side = match[1] === 'bids' ? ('bid' as const) : ('ask' as const);
      return [{ side, name, price: header.place(name), amount: header.place(`${level}.amount`) }];
    });
  }

  private field({ fields }: Row, ...names: readonly string[]): string | undefined {
    return fields[this.header?.place(...names) ?? -1];
  }

  private times(row: Row): { readonly timeUs: TimeUs; readonly localUs: TimeUs } {
    return {
      timeUs: timeOf(this.field(row, 'timestamp'), 'timestamp', 'us'),
      localUs: timeOf(this.field(row, 'local_timestamp'), 'local_timestamp', 'us'),
    };
  }

  private change(row: Row): void {
    const { numbers } = this.context;
    const times = this.times(row);
    const snapshot = booleanOf(this.field(row, 'is_snapshot'), 'is_snapshot');
    const side = this.field(row, 'side');
    if (side !== 'bid' && side !== 'ask') {
      throw new TapeError(`\`side\` is ${shown(side)}, not bid or ask`);
    }
    const level = {
      side,
      priceTicks: numbers.price(this.field(row, 'price'), 'price'),
      lots: numbers.size(this.field(row, 'amount'), 'amount'),
    } as const;
    const open = this.message;
    if (open?.localUs !== times.localUs || open.snapshot !== snapshot) {
      this.flush();
      this.message = { ...times, line: row.line, snapshot, levels: [] };
    }
    this.message?.levels.push(level);
  }

  /** Emits the complete message. */
  private flush(): void {
    const { message } = this;
    if (message === null) return;
    this.message = null;
    const { timeUs, localUs, line, levels } = message;
    const prevId = this.lastId;
    this.lastId += 1;
    const at = { timeUs, localUs, line, lastId: this.lastId, levels };
    this.context.emit(
      message.snapshot
        ? { kind: 'snapshot', ...at }
        : { kind: 'depth', ...at, firstId: this.lastId, prevId },
    );
  }

  private snapshot(row: Row): void {
    const { numbers, emit } = this.context;
    const levels: TapeLevel[] = [];
    for (const { side, name, price, amount } of this.levelPlaces) {
      const text = row.fields[price];
      // Missing levels of a shallow book are empty fields.
      if (text === undefined || text === '') continue;
      const size = numbers.size(row.fields[amount], name.replace('.price', '.amount'));
      levels.push({ side, priceTicks: numbers.price(text, name), lots: size });
    }
    const times = this.times(row);
    this.lastId += 1;
    emit({ kind: 'snapshot', ...times, line: row.line, lastId: this.lastId, levels });
  }

  private trade(row: Row): void {
    const { numbers, emit } = this.context;
    const times = this.times(row);
    const side = this.field(row, 'side');
    if (side !== 'buy' && side !== 'sell' && side !== 'unknown') {
      throw new TapeError(`\`side\` is ${shown(side)}, not buy, sell or unknown`);
    }
    const priceTicks = numbers.price(this.field(row, 'price'), 'price');
    const size = numbers.size(this.field(row, 'amount'), 'amount');
    if (size === 0) throw new TapeError('`amount` of a trade is 0');
    // Trade ids are numbers or text; a text id is replaced by the line where it was first.
    const id = this.field(row, 'id') ?? '';
    const isRepeated = id !== '' && id === this.lastTrade?.id;
    this.lastTrade = isRepeated ? this.lastTrade : { id, line: row.line };
    const tradeId = /^[0-9]{1,15}$/.test(id) ? Number(id) : (this.lastTrade?.line ?? row.line);
    emit({
      kind: 'trade',
      ...times,
      line: row.line,
      tradeId,
      priceTicks,
      lots: lots(side === 'sell' ? -size : size),
    });
  }

  private quote(row: Row): void {
    const { numbers, emit } = this.context;
    const texts = ['bid_price', 'bid_amount', 'ask_price', 'ask_amount'].map((name) =>
      this.field(row, name),
    );
    // An empty side has no quote.
    if (texts.some((text) => text === '')) return;
    emit({
      kind: 'touch',
      ...this.times(row),
      line: row.line,
      updateId: 0,
      bidTicks: numbers.price(texts[0], 'bid_price'),
      bidLots: numbers.size(texts[1], 'bid_amount'),
      askTicks: numbers.price(texts[2], 'ask_price'),
      askLots: numbers.size(texts[3], 'ask_amount'),
    });
  }

  /** Emits mark and index when they change, and the last announced funding rate when it is due. */
  private ticker(row: Row): void {
    const { numbers, emit } = this.context;
    const at = { ...this.times(row), line: row.line };
    const records: TapeRecord[] = [];
    const due = this.field(row, 'funding_timestamp') ?? '';
    const rate = this.field(row, 'funding_rate') ?? '';
    const dueUs = due === '' ? 0 : timeOf(due, 'funding_timestamp', 'us');
    const passed = this.lastFundingUs !== 0 && dueUs > this.lastFundingUs;
    if (passed && this.lastRate !== null && this.lastFundingUs <= at.timeUs) {
      records.push({ kind: 'funding', ...at, ratePpb: rateOf(this.lastRate, 'funding_rate') });
    }
    for (const kind of ['index', 'mark'] as const) {
      const text = this.field(row, `${kind}_price`) ?? '';
      if (text === '') continue;
      const priceTicks = numbers.rounded(text, `${kind}_price`);
      if (priceTicks === (kind === 'mark' ? this.lastMark : this.lastIndex)) continue;
      if (kind === 'mark') this.lastMark = priceTicks;
      else this.lastIndex = priceTicks;
      records.push({ kind, ...at, priceTicks });
    }
    if (dueUs > 0) this.lastFundingUs = dueUs;
    if (rate !== '') this.lastRate = rate;
    for (const record of records) emit(record);
  }
}
