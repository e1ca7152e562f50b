/**
 * Decodes any table by a map of its columns: trades, bars, levels, best prices, marks, indices or
 * funding rates. Without a map, columns are found by their usual names.
 */
import { durationUs, lots, timeUs, type TimeUs } from '../../num/units.ts';
import type { TapeLevel } from '../../engine/commands.ts';
import { TapeError, type BarRecord } from '../record.ts';
import { mustEnclose } from './binance-csv.ts';
import { booleanOf, integerOf, rateOf, shown, type TimeUnit } from './numbers.ts';
import { Header, isHeader, type DecoderContext, type Row, type RowDecoder } from './row-decoder.ts';

export const MAP_KINDS = ['trade', 'bar', 'depth', 'touch', 'mark', 'index', 'funding'] as const;
export type MapKind = (typeof MAP_KINDS)[number];
const TIME_UNITS: readonly TimeUnit[] = ['auto', 's', 'ms', 'us', 'ns', 'iso'];

/** Fields of each kind with the usual names of their columns; `?` marks optional fields. */
const FIELDS: Readonly<Record<MapKind, Readonly<Record<string, readonly string[]>>>> = {
  trade: {
    price: ['price', 'px', 'p'],
    size: ['size', 'qty', 'quantity', 'amount', 'volume', 'sz'],
    'side?': ['side', 'direction', 'taker_side', 'aggressor_side'],
    'makerBuys?': ['is_buyer_maker', 'isBuyerMaker', 'buyer_maker'],
    'id?': ['id', 'trade_id', 'tradeId', 'tid'],
  },
  bar: {
    open: ['open', 'o'],
    high: ['high', 'h'],
    low: ['low', 'l'],
    close: ['close', 'c'],
    'volume?': ['volume', 'vol', 'v'],
  },
  depth: {
    side: ['side'],
    price: ['price', 'px'],
    size: ['size', 'qty', 'quantity', 'amount', 'sz'],
    'snapshot?': ['is_snapshot', 'snapshot'],
  },
  touch: {
    bidPrice: ['bid_price', 'bidPrice', 'bid', 'best_bid_price'],
    bidSize: ['bid_size', 'bid_qty', 'bid_amount', 'bidSize', 'best_bid_qty'],
    askPrice: ['ask_price', 'askPrice', 'ask', 'best_ask_price'],
    askSize: ['ask_size', 'ask_qty', 'ask_amount', 'askSize', 'best_ask_qty'],
    'id?': ['update_id', 'id'],
  },
  mark: { price: ['mark_price', 'markPrice', 'mark', 'price', 'close'] },
  index: { price: ['index_price', 'indexPrice', 'index', 'price', 'close'] },
  funding: { rate: ['funding_rate', 'fundingRate', 'last_funding_rate', 'rate'] },
};
const TIMES = [
  'timestamp',
  'time',
  'ts',
  'open_time',
  'openTime',
  'date',
  'datetime',
  'calc_time',
  'exchange_time',
  'ts_event',
];
const SYMBOLS = ['symbol', 'instrument', 'market', 'ticker', 'coin'];
const LOCAL_TIMES = ['local_timestamp', 'localTime', 'received_at', 'ts_recv'];

/** Content of a map file (docs/DATA.md). */
export interface ColumnMap {
  readonly kind: MapKind;
  /** Columns by field: a name in the header, or an index from 0 without a header. */
  readonly columns: Readonly<Record<string, string | number>>;
  readonly timeUnit: TimeUnit;
  /** Bars: whether the time is the start or the end of the interval. */
  readonly timeIs: 'open' | 'close';
  /** Length of a bar; null finds it from the first two bars. */
  readonly intervalUs: number | null;
  readonly delimiter: string;
  /** Words for the buying (trades) or bidding (levels) side, and for the other. */
  readonly buy: readonly string[];
  readonly sell: readonly string[];
}

const DESCENDS =
  'no bar is after the first one; sort the rows by time, oldest first, or give --interval 1m';
const BUY = ['buy', 'b', 'bid', 'bids', '1', 'true', 'long'];
const SELL = ['sell', 's', 'a', 'ask', 'asks', 'offer', '-1', 'false', 'short'];
/** Sides of levels, which a trade may have for its maker or for its taker. */
const OF_LEVELS = ['bid', 'bids', 'ask', 'asks', 'offer'];
const MAP_FIELDS = [
  'kind',
  'columns',
  'timeUnit',
  'timeIs',
  'interval',
  'delimiter',
  'buy',
  'sell',
];

/** Parses a map file. Throws `TapeError` that names the field. */
export function parseColumnMap(value: unknown): ColumnMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TapeError('column map: not a map of fields');
  }
  const explicitMap = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(explicitMap)) {
    if (!MAP_FIELDS.includes(name)) {
      throw new TapeError(
        `column map: unknown field '${name}'; known fields: ${MAP_FIELDS.join(', ')}`,
      );
    }
  }
  const kind = word(explicitMap, 'kind', MAP_KINDS, null);
  const columns: Record<string, string | number> = {};
  const named = explicitMap['columns'] ?? {};
  if (typeof named !== 'object' || Array.isArray(named)) {
    throw new TapeError('column map: `columns` is not a map of fields to columns');
  }
  const known = ['time', 'localTime', 'symbol', ...Object.keys(FIELDS[kind]).map(bare)];
  for (const [field, column] of Object.entries(named)) {
    if (!known.includes(field)) {
      throw new TapeError(
        `column map: a ${kind} has no field '${field}'; it has ${known.join(', ')}`,
      );
    }
    if (typeof column !== 'string' && !(Number.isSafeInteger(column) && Number(column) >= 0)) {
      throw new TapeError(`column map: \`columns.${field}\` is neither a name nor an index from 0`);
    }
    columns[field] = column as string | number;
  }
  return {
    kind,
    columns,
    timeUnit: word(explicitMap, 'timeUnit', TIME_UNITS, 'auto'),
    timeIs: word(explicitMap, 'timeIs', ['open', 'close'] as const, 'open'),
    intervalUs: explicitMap['interval'] === undefined ? null : intervalOf(explicitMap['interval']),
    delimiter: delimiterOf(explicitMap['delimiter'] ?? ','),
    buy: words(explicitMap, 'buy', BUY),
    sell: words(explicitMap, 'sell', SELL),
  };
}

function bare(field: string): string {
  return field.replace('?', '');
}

function word<T extends string>(
  explicitMap: Readonly<Record<string, unknown>>,
  name: string,
  known: readonly T[],
  fallback: T | null,
): T {
  const value = explicitMap[name] ?? fallback;
  const found = known.find((entry) => entry === value);
  if (found === undefined) {
    throw new TapeError(`column map: \`${name}\` must be one of ${known.join(', ')}`);
  }
  return found;
}

function words(
  explicitMap: Readonly<Record<string, unknown>>,
  name: string,
  fallback: readonly string[],
): readonly string[] {
  const value = explicitMap[name];
  if (value === undefined) return fallback;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((entry) => String(entry).toLowerCase());
}

function delimiterOf(value: unknown): string {
  if (typeof value === 'string' && value.length === 1) return value;
  throw new TapeError('column map: `delimiter` is not one character');
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `1m`, `4h`, `1d` as microseconds. */
export function intervalOf(value: unknown): number {
  const match = typeof value === 'string' ? /^([1-9][0-9]{0,5})([smhdw])$/.exec(value) : null;
  if (match === null) {
    throw new TapeError('an interval is a number followed by s, m, h, d or w, such as 1m or 4h');
  }
  return durationUs(Number(match[1]) * (UNITS[match[2] ?? 's'] ?? 1) * 1_000_000);
}

/** Derives the map from the column names. Throws `TapeError` if they fit no kind. */
export function guessColumnMap(names: readonly string[]): ColumnMap {
  const header = new Header(names);
  if (header.has('update_type', 'first_update_id')) {
    throw new TapeError('the columns are of the format binance-depth');
  }
  for (const kind of ['bar', 'depth', 'trade', 'touch', 'funding', 'mark', 'index'] as const) {
    const fields = Object.entries(FIELDS[kind]).filter(([field]) => !field.endsWith('?'));
    const fits = fields.every(([, usual]) => header.usualPlace(...usual) >= 0);
    const isDepth = header.usualPlace(...(FIELDS.depth['snapshot?'] ?? [])) >= 0;
    const sided = kind !== 'depth' || isDepth;
    if (fits && sided && header.usualPlace(...TIMES) >= 0) return parseColumnMap({ kind });
  }
  if (names[0]?.startsWith('#') === true) {
    throw new TapeError("it begins with '#'; remove a comment, or the '#' of a header");
  }
  const [, delimiter] = names.length > 1 ? [] : (/([;|\t])/.exec(names[0] ?? '') ?? []);
  const hint = delimiter === undefined ? '' : ` and delimiter: ${JSON.stringify(delimiter)}`;
  throw new TapeError(
    `the columns ${shortened(names.join(', '))} match no known table; map them with --map${hint}`,
  );
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** A bar whose length may not be known yet. */
interface PendingBar extends Pick<BarRecord, 'open' | 'high' | 'low' | 'close' | 'volume'> {
  readonly atUs: number;
  readonly line: number;
}

export class ColumnDecoder implements RowDecoder {
  private readonly context: DecoderContext;
  private readonly explicitMap: ColumnMap | null;
  private map: ColumnMap | null;
  private places: ReadonlyMap<string, number> | null = null;
  /** Index of the column with the venue; −1 without it. */
  private venuePlace = -1;
  private lastId: number;
  /** The first bar, buffered until the second determines the interval. */
  private pending: PendingBar | null = null;
  /** Whether a bar was at or before the first one, whose length is not known yet. */
  private descends = false;
  private intervalUs: number | null = null;
  private message: {
    timeUs: TimeUs;
    localUs: TimeUs;
    line: number;
    whole: boolean;
    levels: TapeLevel[];
  } | null = null;

  /** `barUs`: length of a bar that the map does not give; null finds it from the first two bars. */
  constructor(
    context: DecoderContext,
    map: ColumnMap | null,
    state: unknown,
    barUs: number | null = null,
  ) {
    this.context = context;
    this.explicitMap = map;
    this.map = map;
    this.lastId = typeof state === 'number' ? state : 0;
    this.intervalUs = map?.intervalUs ?? barUs;
  }

  state(): number {
    return this.lastId;
  }

  row(row: Row): void {
    if (row.lineInFile === 1) {
      const header = isHeader(row.fields) && !this.hasTime(row.fields);
      this.open(header ? row.fields : null);
      if (header) return;
    }
    const { map } = this;
    if (!this.isSelected(row)) return;
    switch (map?.kind) {
      case 'bar':
        this.bar(row, map);
        return;
      case 'trade':
        this.trade(row, map);
        return;
      case 'depth':
        this.level(row, map);
        return;
      case 'touch':
        this.touch(row);
        return;
      case 'mark':
      case 'index': {
        const priceTicks = this.context.numbers.rounded(this.text(row, 'price'), 'price');
        this.context.emit({ kind: map.kind, ...this.at(row), priceTicks });
        return;
      }
      case 'funding': {
        const ratePpb = rateOf(this.text(row, 'rate'), 'rate');
        this.context.emit({ kind: 'funding', ...this.at(row), ratePpb });
        return;
      }
      default:
        throw new TapeError('the file has no header; map the columns by index from 0 with --map');
    }
  }

  endFile(): void {
    this.flush();
    if (this.pending !== null) {
      throw new TapeError(
        this.descends
          ? DESCENDS
          : 'the length of a single valid bar is unknown; give it, as --interval 1m',
      );
    }
    if (this.explicitMap === null) this.map = null;
    this.places = null;
  }

  /** Whether a first row has a time at the index of the map, although it begins with a word. */
  private hasTime(fields: readonly string[]): boolean {
    const time = this.explicitMap?.columns['time'];
    return typeof time === 'number' && /^[0-9]/.test(fields[time] ?? '');
  }

  private open(names: readonly string[] | null): void {
    const map = this.explicitMap ?? (names === null ? null : guessColumnMap(names));
    if (map === null)
      throw new TapeError('the file has no header; map the columns by index from 0 with --map');
    this.map = map;
    const header = new Header(names ?? []);
    this.venuePlace = header.usualPlace('exchange');
    const places = new Map<string, number>();
    const find = (field: string, usual: readonly string[], optional: boolean): void => {
      const column = map.columns[field];
      let place: number;
      if (typeof column === 'number') place = column;
      else place = column === undefined ? header.usualPlace(...usual) : header.place(column);
      if (place >= 0) places.set(field, place);
      else if (!optional || column !== undefined) {
        const expected = column ?? usual.join(', ');
        throw new TapeError(`no column for \`${field}\`: expected ${expected}`);
      }
    };
    find('time', TIMES, false);
    find('localTime', LOCAL_TIMES, true);
    find('symbol', SYMBOLS, true);
    for (const [field, usual] of Object.entries(FIELDS[map.kind])) {
      find(bare(field), usual, field.endsWith('?'));
    }
    this.places = places;
    if (map.kind !== 'trade' || places.has('side') || places.has('makerBuys')) return;
    this.context.onNote('no column has the side of the taker, so all trades are taken as buys');
  }

  /** Whether a row is of the market that is read; a row without a symbol is. */
  private isSelected(row: Row): boolean {
    const name = this.text(row, 'symbol');
    if (name === undefined || name === '') return true;
    if (!this.context.selects(name)) return false;
    if (this.venuePlace >= 0) this.context.onVenue(row.fields[this.venuePlace] ?? '', name);
    return true;
  }

  private text({ fields }: Row, field: string): string | undefined {
    const place = this.places?.get(field);
    return place === undefined ? undefined : fields[place];
  }

  private time(row: Row): TimeUs {
    const { times } = this.context;
    return times.read(row, this.text(row, 'time'), 'time', this.map?.timeUnit);
  }

  private at(row: Row): {
    readonly timeUs: TimeUs;
    readonly localUs: TimeUs;
    readonly line: number;
  } {
    const us = this.time(row);
    const local = this.text(row, 'localTime');
    const { times } = this.context;
    const localUs =
      local === undefined ? us : times.read(row, local, 'localTime', this.map?.timeUnit);
    return { timeUs: us, localUs, line: row.line };
  }

  private bar(row: Row, map: ColumnMap): void {
    const bar = { ...this.prices(row), atUs: this.time(row), line: row.line };
    if (this.intervalUs === null) {
      const { pending } = this;
      if (pending === null) {
        this.pending = bar;
        return;
      }
      if (bar.atUs <= pending.atUs) {
        this.descends = true;
        throw new TapeError(DESCENDS);
      }
      this.intervalUs = bar.atUs - pending.atUs;
      this.pending = null;
      this.emitBar(pending, map, this.intervalUs);
    }
    this.emitBar(bar, map, this.intervalUs);
  }

  private prices(row: Row): Pick<PendingBar, 'open' | 'high' | 'low' | 'close' | 'volume'> {
    const { numbers } = this.context;
    const open = numbers.price(this.text(row, 'open'), 'open');
    const high = numbers.price(this.text(row, 'high'), 'high');
    const low = numbers.price(this.text(row, 'low'), 'low');
    const close = numbers.price(this.text(row, 'close'), 'close');
    mustEnclose(open, high, low, close);
    const text = this.text(row, 'volume');
    const hasNone = text === undefined || text === 'null';
    return { open, high, low, close, volume: hasNone ? lots(0) : numbers.volume(text, 'volume') };
  }

  private emitBar(
    { atUs, line, ...prices }: PendingBar,
    { timeIs }: ColumnMap,
    lengthUs: number,
  ): void {
    const startUs = timeIs === 'open' ? atUs : atUs - lengthUs;
    const endUs = timeUs(startUs + lengthUs - 1);
    const at = { timeUs: endUs, localUs: endUs, line };
    this.context.emit({ kind: 'bar', ...at, startUs: timeUs(startUs), ...prices });
  }

  private trade(row: Row, map: ColumnMap): void {
    const { numbers, emit } = this.context;
    const at = this.at(row);
    const priceTicks = numbers.price(this.text(row, 'price'), 'price');
    const size = numbers.size(this.text(row, 'size'), 'size');
    if (size === 0) throw new TapeError('`size` of a trade is 0');
    const makerBuys = this.text(row, 'makerBuys');
    const sells =
      makerBuys !== undefined
        ? booleanOf(makerBuys, 'makerBuys')
        : this.text(row, 'side') !== undefined && !this.isFirst(row, map);
    const id = this.text(row, 'id') ?? '';
    const tradeId = /^[0-9]{1,15}$/.test(id) ? integerOf(id, 'id') : row.line;
    emit({ kind: 'trade', ...at, tradeId, priceTicks, lots: lots(sells ? -size : size) });
  }

  /** Whether the side of a row is the buying or bidding one. */
  private isFirst(row: Row, map: ColumnMap): boolean {
    const text = this.text(row, 'side');
    const side = text?.trim().toLowerCase() ?? '';
    if (this.explicitMap === null && map.kind === 'trade' && OF_LEVELS.includes(side)) {
      throw new TapeError(
        `\`side\` is ${shown(text)}: trades, or levels of a book? State it as kind: trade or kind: depth with --map`,
      );
    }
    if (map.buy.includes(side)) return true;
    if (map.sell.includes(side)) return false;
    throw new TapeError(
      `\`side\` is ${shown(text)}, neither of ${map.buy.join(', ')} nor of ${map.sell.join(', ')}`,
    );
  }

  /** Rows with equal venue time and receive time form one update. */
  private level(row: Row, map: ColumnMap): void {
    const { numbers } = this.context;
    const at = this.at(row);
    const flag = this.text(row, 'snapshot');
    const whole = flag !== undefined && booleanOf(flag, 'snapshot');
    const level: TapeLevel = {
      side: this.isFirst(row, map) ? 'bid' : 'ask',
      priceTicks: numbers.price(this.text(row, 'price'), 'price'),
      lots: numbers.size(this.text(row, 'size'), 'size'),
    };
    const open = this.message;
    if (open?.timeUs !== at.timeUs || open.localUs !== at.localUs || open.whole !== whole) {
      this.flush();
      this.message = { ...at, whole, levels: [] };
    }
    this.message?.levels.push(level);
  }

  private flush(): void {
    const { message } = this;
    if (message === null) return;
    this.message = null;
    const { timeUs: us, localUs, line, levels, whole } = message;
    const prevId = this.lastId;
    this.lastId += 1;
    const at = { timeUs: us, localUs, line, lastId: this.lastId, levels };
    this.context.emit(
      whole ? { kind: 'snapshot', ...at } : { kind: 'depth', ...at, firstId: this.lastId, prevId },
    );
  }

  private touch(row: Row): void {
    const { numbers, emit } = this.context;
    const id = this.text(row, 'id');
    emit({
      kind: 'touch',
      ...this.at(row),
      updateId: id === undefined ? 0 : integerOf(id, 'id'),
      bidTicks: numbers.price(this.text(row, 'bidPrice'), 'bidPrice'),
      bidLots: numbers.size(this.text(row, 'bidSize'), 'bidSize'),
      askTicks: numbers.price(this.text(row, 'askPrice'), 'askPrice'),
      askLots: numbers.size(this.text(row, 'askSize'), 'askSize'),
    });
  }
}
