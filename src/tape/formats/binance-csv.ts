/**
 * Binance's public data files (data.binance.vision), with or without a header: klines of trades,
 * mark and index, trades, aggregate trades, funding rates, best bid and ask. Times are
 * milliseconds; in newer spot files microseconds.
 */
import { lots, timeUs, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { booleanOf, integerOf, rateOf, shown } from './numbers.ts';
import { Header, isHeader, type DecoderContext, type Row, type RowDecoder } from './row-decoder.ts';

export type BinanceFile =
  'klines' | 'mark-klines' | 'index-klines' | 'trades' | 'aggtrades' | 'funding' | 'bookticker';

/**
 * Column names, those of the public files first, and the column's index in files without a header.
 */
type Column = readonly [place: number, ...names: string[]];
type Columns = Readonly<Record<string, Column>>;

const KLINE: Columns = {
  open_time: [0, 'open_time', 'openTime', 'timestamp', 'time'],
  open: [1, 'open'],
  high: [2, 'high'],
  low: [3, 'low'],
  close: [4, 'close'],
  volume: [5, 'volume'],
  close_time: [6, 'close_time', 'closeTime'],
  'quote_volume?': [7, 'quote_volume', 'quote_asset_volume', 'quoteVolume', 'quoteAssetVolume'],
};
const COLUMNS: Readonly<Record<BinanceFile, Columns>> = {
  klines: KLINE,
  'mark-klines': KLINE,
  'index-klines': KLINE,
  trades: {
    id: [0, 'id', 'trade_id'],
    price: [1, 'price'],
    qty: [2, 'qty', 'quantity'],
    'quote_qty?': [3, 'quote_qty', 'quoteQty'],
    time: [4, 'time', 'timestamp'],
    is_buyer_maker: [5, 'is_buyer_maker', 'isBuyerMaker'],
  },
  aggtrades: {
    id: [0, 'agg_trade_id', 'id'],
    price: [1, 'price'],
    qty: [2, 'quantity', 'qty'],
    time: [5, 'transact_time', 'time', 'timestamp'],
    is_buyer_maker: [6, 'is_buyer_maker', 'isBuyerMaker'],
  },
  funding: {
    calc_time: [0, 'calc_time', 'fundingTime', 'funding_time', 'timestamp'],
    last_funding_rate: [2, 'last_funding_rate', 'fundingRate', 'funding_rate'],
  },
  bookticker: {
    update_id: [0, 'update_id'],
    best_bid_price: [1, 'best_bid_price'],
    best_bid_qty: [2, 'best_bid_qty'],
    best_ask_price: [3, 'best_ask_price'],
    best_ask_qty: [4, 'best_ask_qty'],
    transaction_time: [5, 'transaction_time'],
    'event_time?': [6, 'event_time'],
  },
};

export interface BinanceInput {
  readonly context: DecoderContext;
  readonly path: string;
  /** Whether sizes are contracts of a coin-margined market. */
  readonly isInverse: boolean;
}

/** Fields of a row of funding, which klines of a cheap coin would pass for. */
const FUNDING_FIELDS = 3;

/** A mean price of a row may differ by this factor from its prices, which are rounded. */
const PRICE_FACTOR = 2;

/** Folders of data.binance.vision. */
const FOLDER = /[\\/](spot|futures)[\\/](?:[uc]m[\\/])?(?:daily|monthly)[\\/]/;

/** Folders of them whose files have the columns of others; null for files that no format reads. */
const FILE_OF: Readonly<Record<string, BinanceFile | null>> = {
  markPriceKlines: 'mark-klines',
  indexPriceKlines: 'index-klines',
  premiumIndexKlines: null,
};

/** Place and name of a column that files of spot have, and those of futures have not. */
const SPOT_COLUMN: Readonly<Partial<Record<BinanceFile, readonly [number, string]>>> = {
  trades: [6, 'is_best_match'],
  aggtrades: [7, 'is_best_match'],
};

export class BinanceCsvDecoder implements RowDecoder {
  private readonly file: BinanceFile;
  private readonly context: DecoderContext;
  private readonly path: string;
  private readonly isInverse: boolean;
  private places: ReadonlyMap<string, number>;
  private minFields = 0;
  /** Index of the column with the market, which the public files have not; −1 without it. */
  private symbolPlace = -1;

  constructor(file: BinanceFile, { context, path, isInverse }: BinanceInput) {
    this.file = file;
    this.context = context;
    this.path = path;
    this.isInverse = isInverse;
    mustBeIn(path, file);
    this.places = this.placesIn(null);
  }

  row(row: Row): void {
    const { fields, lineInFile } = row;
    if (lineInFile === 1) {
      const header = isHeader(fields);
      this.symbolPlace = header ? new Header(fields).place('symbol') : -1;
      this.places = this.placesIn(header ? new Header(fields) : null);
      const kind = this.kindOf(fields, header);
      if (kind !== null) this.context.onKind(kind);
      // Trades of coin-margined contracts have this column instead of `quote_qty`.
      if (header && fields.includes('base_qty')) this.context.onInverse();
      if (header) return;
      this.mustBeFunding(fields);
    }
    const symbol = fields[this.symbolPlace];
    if (symbol !== undefined && !this.context.selects(symbol)) return;
    if (fields.length < this.minFields) {
      throw new TapeError(
        `${String(fields.length)} fields; a row of ${this.file} has at least ${String(this.minFields)}`,
      );
    }
    switch (this.file) {
      case 'klines':
        this.kline(row);
        return;
      case 'mark-klines':
      case 'index-klines':
        this.price(row, this.file === 'mark-klines' ? 'mark' : 'index');
        return;
      case 'trades':
      case 'aggtrades':
        this.trade(row);
        return;
      case 'funding':
        this.funding(row);
        return;
      case 'bookticker':
        this.touch(row);
    }
  }

  /**
   * By the folders of the public files, the column that only spot has, or the microseconds of its
   * files, which have no header.
   */
  private kindOf(fields: readonly string[], isNamed: boolean): 'spot' | 'contract' | null {
    const [, folder] = FOLDER.exec(this.path) ?? [];
    if (folder !== undefined) return folder === 'spot' ? 'spot' : 'contract';
    const extra = SPOT_COLUMN[this.file];
    if (extra === undefined) {
      const isMicros = this.file === 'klines' && /^[0-9]{16}$/.test(fields[0] ?? '');
      return isMicros && !isNamed ? 'spot' : null;
    }
    const [count, name] = extra;
    const isSpot = isNamed ? new Header(fields).has(name) : fields.length > count;
    return isSpot ? 'spot' : 'contract';
  }

  private mustBeFunding({ length }: readonly string[]): void {
    if (this.file !== 'funding' || length === FUNDING_FIELDS) return;
    throw new TapeError(
      `${String(length)} fields; a row of funding has ${String(FUNDING_FIELDS)}: calc_time, funding_interval_hours, last_funding_rate`,
    );
  }

  /** Indices of the columns: from the header, or as in the public files. */
  private placesIn(header: Header | null): ReadonlyMap<string, number> {
    const places = new Map<string, number>();
    this.minFields = 0;
    for (const [field, [usual, ...names]] of Object.entries(COLUMNS[this.file])) {
      const place = header === null ? usual : header.place(...names);
      const isOptional = field.endsWith('?');
      if (place < 0 && !isOptional) {
        throw new TapeError(
          `no column for \`${field}\` of ${this.file}: expected one of ${names.join(', ')}; for other tables use the format csv`,
        );
      }
      if (place >= 0) places.set(field.replace('?', ''), place);
      if (!isOptional) this.minFields = Math.max(this.minFields, place + 1);
    }
    return places;
  }

  private text({ fields }: Row, field: string): string | undefined {
    const place = this.places.get(field);
    return place === undefined ? undefined : fields[place];
  }

  private time(row: Row, field: string): TimeUs {
    return this.context.times.read(row, this.text(row, field), field);
  }

  endFile(): void {
    // Rows are independent of each other.
  }

  state(): null {
    return null;
  }

  private kline(row: Row): void {
    const { numbers } = this.context;
    const text = (field: string): string | undefined => this.text(row, field);
    const startUs = this.time(row, 'open_time');
    const open = numbers.price(text('open'), 'open');
    const high = numbers.price(text('high'), 'high');
    const low = numbers.price(text('low'), 'low');
    const close = numbers.price(text('close'), 'close');
    const volume = numbers.volume(text('volume'), 'volume');
    const endUs = lastUs(this.time(row, 'close_time'));
    if (endUs <= startUs) {
      throw new TapeError(`\`close_time\` ${shown(text('close_time'))} is not after \`open_time\``);
    }
    mustEnclose(open, high, low, close);
    this.mustBeWorth(row, ['volume', 'quote_volume'], ['low', 'high']);
    const at = { timeUs: endUs, localUs: endUs, line: row.line };
    this.context.emit({ kind: 'bar', ...at, startUs, open, high, low, close, volume });
  }

  /**
   * Throws if the value in the quote currency is not the size at the prices of the row: sizes are
   * contracts of a coin-margined market, or in the quote currency.
   */
  private mustBeWorth(
    row: Row,
    [size, value]: readonly [string, string],
    [low, high]: readonly [string, string],
  ): void {
    const number = (field: string): number => Number(this.text(row, field));
    const price = number(value) / number(size);
    // Also where a column is missing or 0, which compare nothing.
    if (this.isInverse || !Number.isFinite(price) || price <= 0) return;
    if (price >= number(low) / PRICE_FACTOR && price <= number(high) * PRICE_FACTOR) return;
    throw new TapeError(
      `\`${value}\` ${shown(this.text(row, value))} is not \`${size}\` ${shown(this.text(row, size))} at the price of the row: ` +
        'another order of columns, or a coin-margined contract; give --inverse for that',
    );
  }

  private price(row: Row, kind: 'mark' | 'index'): void {
    const volume = this.text(row, 'volume');
    if (Number(volume) !== 0) {
      throw new TapeError(
        `\`volume\` ${shown(volume)} of a ${kind} price is not 0; klines of trades are of the format binance-klines`,
      );
    }
    const priceTicks = this.context.numbers.rounded(this.text(row, 'close'), 'close');
    const startUs = this.time(row, 'open_time');
    const endUs = lastUs(this.time(row, 'close_time'));
    this.context.onBar(startUs, endUs);
    this.context.emit({ kind, timeUs: endUs, localUs: endUs, line: row.line, priceTicks });
  }

  private trade(row: Row): void {
    const { numbers, emit } = this.context;
    const tradeId = integerOf(this.text(row, 'id'), 'id');
    const priceTicks = numbers.price(this.text(row, 'price'), 'price');
    const size = numbers.size(this.text(row, 'qty'), 'qty');
    const us = this.time(row, 'time');
    const makerBuys = booleanOf(this.text(row, 'is_buyer_maker'), 'is_buyer_maker');
    if (size === 0) throw new TapeError('`qty` of a trade is 0');
    this.mustBeWorth(row, ['qty', 'quote_qty'], ['price', 'price']);
    emit({
      kind: 'trade',
      timeUs: us,
      localUs: us,
      line: row.line,
      tradeId,
      priceTicks,
      lots: lots(makerBuys ? -size : size),
    });
  }

  private funding(row: Row): void {
    const us = this.time(row, 'calc_time');
    const ratePpb = rateOf(this.text(row, 'last_funding_rate'), 'last_funding_rate');
    this.context.emit({ kind: 'funding', timeUs: us, localUs: us, line: row.line, ratePpb });
  }

  private touch(row: Row): void {
    const { numbers, emit } = this.context;
    const us = this.time(row, 'transaction_time');
    const eventTime = this.text(row, 'event_time');
    emit({
      kind: 'touch',
      timeUs: us,
      localUs: eventTime === undefined ? us : this.time(row, 'event_time'),
      line: row.line,
      updateId: integerOf(this.text(row, 'update_id'), 'update_id'),
      bidTicks: numbers.price(this.text(row, 'best_bid_price'), 'best_bid_price'),
      bidLots: numbers.size(this.text(row, 'best_bid_qty'), 'best_bid_qty'),
      askTicks: numbers.price(this.text(row, 'best_ask_price'), 'best_ask_price'),
      askLots: numbers.size(this.text(row, 'best_ask_qty'), 'best_ask_qty'),
    });
  }
}

/** Throws for klines in a folder of others. */
function mustBeIn(path: string, file: BinanceFile): void {
  const folder = path.split(/[\\/]/).find((name) => Object.hasOwn(FILE_OF, name)) ?? '';
  const other = FILE_OF[folder];
  if (other === undefined || other === file) return;
  throw new TapeError(
    `it is in a folder ${folder}, whose files are ${other === null ? 'of no format here' : `of the format binance-${other}`}`,
  );
}

/** Last microsecond of a bar: `close_time` is its last millisecond or its last microsecond. */
function lastUs(us: TimeUs): TimeUs {
  return timeUs(us % 1000 === 0 ? us + 999 : us);
}

/** Throws unless high and low enclose open and close. */
export function mustEnclose(open: number, high: number, low: number, close: number): void {
  if (high < Math.max(open, close) || low > Math.min(open, close)) {
    throw new TapeError('`high` and `low` do not enclose `open` and `close`');
  }
}
