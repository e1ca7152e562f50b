/**
 * Binance's public data files (data.binance.vision), with a header or none: klines of trades, mark and index, trades, aggregate
 * trades, funding rates, best bid and ask. Times are milliseconds, of newer spot files microseconds.
 */
import { lots, timeUs } from '../../../num/units.ts';
import { TapeError } from '../record.ts';
import { booleanOf, integerOf, rateOf, shown, timeOf } from './numbers.ts';
import { isHeader, type DecoderContext, type Row, type RowDecoder } from './row-decoder.ts';

export type BinanceFile =
  'klines' | 'mark-klines' | 'index-klines' | 'trades' | 'aggtrades' | 'funding' | 'bookticker';

const COLUMNS: Readonly<Record<BinanceFile, number>> = {
  klines: 7,
  'mark-klines': 7,
  'index-klines': 7,
  trades: 6,
  aggtrades: 7,
  funding: 3,
  bookticker: 6,
};

export class BinanceCsvDecoder implements RowDecoder {
  readonly symbol = null;
  private readonly file: BinanceFile;
  private readonly context: DecoderContext;

  constructor(file: BinanceFile, context: DecoderContext) {
    this.file = file;
    this.context = context;
  }

  row(row: Row): void {
    const { fields, lineInFile } = row;
    if (lineInFile === 1 && isHeader(fields)) return;
    const least = COLUMNS[this.file];
    if (fields.length < least) {
      throw new TapeError(
        `${String(fields.length)} fields; a row of ${this.file} has at least ${String(least)}`,
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
        this.trade(row, { price: 1, size: 2, time: 4, makerBuys: 5 });
        return;
      case 'aggtrades':
        this.trade(row, { price: 1, size: 2, time: 5, makerBuys: 6 });
        return;
      case 'funding':
        this.funding(row);
        return;
      case 'bookticker':
        this.touch(row);
    }
  }

  endFile(): void {
    // Rows stand by themselves.
  }

  state(): null {
    return null;
  }

  private kline({ fields, line }: Row): void {
    const { numbers } = this.context;
    const startUs = timeOf(fields[0], 'open_time');
    const open = numbers.price(fields[1], 'open');
    const high = numbers.price(fields[2], 'high');
    const low = numbers.price(fields[3], 'low');
    const close = numbers.price(fields[4], 'close');
    const volume = numbers.volume(fields[5], 'volume');
    const endUs = lastUs(fields[6]);
    if (endUs <= startUs) {
      throw new TapeError(`\`close_time\` ${shown(fields[6])} is not after \`open_time\``);
    }
    mustHold(open, high, low, close);
    const at = { timeUs: endUs, localUs: endUs, line };
    this.context.emit({ kind: 'bar', ...at, startUs, open, high, low, close, volume });
  }

  private price({ fields, line }: Row, kind: 'mark' | 'index'): void {
    timeOf(fields[0], 'open_time');
    const priceTicks = this.context.numbers.rounded(fields[4], 'close');
    const endUs = lastUs(fields[6]);
    this.context.emit({ kind, timeUs: endUs, localUs: endUs, line, priceTicks });
  }

  private trade(
    { fields, line }: Row,
    at: {
      readonly price: number;
      readonly size: number;
      readonly time: number;
      readonly makerBuys: number;
    },
  ): void {
    const { numbers, emit } = this.context;
    const tradeId = integerOf(fields[0], 'id');
    const priceTicks = numbers.price(fields[at.price], 'price');
    const size = numbers.size(fields[at.size], 'qty');
    const us = timeOf(fields[at.time], 'time');
    const makerBuys = booleanOf(fields[at.makerBuys], 'is_buyer_maker');
    if (size === 0) throw new TapeError('`qty` of a trade is 0');
    emit({
      kind: 'trade',
      timeUs: us,
      localUs: us,
      line,
      tradeId,
      priceTicks,
      lots: lots(makerBuys ? -size : size),
    });
  }

  private funding({ fields, line }: Row): void {
    const us = timeOf(fields[0], 'calc_time');
    const ratePpb = rateOf(fields[2], 'last_funding_rate');
    this.context.emit({ kind: 'funding', timeUs: us, localUs: us, line, ratePpb });
  }

  private touch({ fields, line }: Row): void {
    const { numbers, emit } = this.context;
    const us = timeOf(fields[5], 'transaction_time');
    emit({
      kind: 'touch',
      timeUs: us,
      localUs: fields[6] === undefined ? us : timeOf(fields[6], 'event_time'),
      line,
      updateId: integerOf(fields[0], 'update_id'),
      bidTicks: numbers.price(fields[1], 'best_bid_price'),
      bidLots: numbers.size(fields[2], 'best_bid_qty'),
      askTicks: numbers.price(fields[3], 'best_ask_price'),
      askLots: numbers.size(fields[4], 'best_ask_qty'),
    });
  }
}

/** The last microsecond of a bar: close times name its last millisecond, or that microsecond itself. */
function lastUs(text: string | undefined): ReturnType<typeof timeUs> {
  const us = timeOf(text, 'close_time');
  return timeUs(us % 1000 === 0 ? us + 999 : us);
}

/** Throws unless the extremes of a bar enclose its open and close. */
export function mustHold(open: number, high: number, low: number, close: number): void {
  if (high < Math.max(open, close) || low > Math.min(open, close)) {
    throw new TapeError('`high` and `low` do not enclose `open` and `close`');
  }
}
