/**
 * Decodes LEAN's data files of crypto and crypto futures: bars of trades, and the funding rates of
 * `margin_interest`. The files have no header. The path gives kind, market and day:
 * `binance/minute/adausdt/20221213_trade.zip` or `binance/hour/adausdt_trade.zip`. Source: the data
 * format pages of QuantConnect/Lean (its `Data` folder).
 */
import { timeUs, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { mustEnclose } from './binance-csv.ts';
import { isInverseInLean } from './venue-contracts.ts';
import { integerOf, rateOf, shown, timeOf } from './numbers.ts';
import type { DecoderContext, Row, RowDecoder } from './row-decoder.ts';

const SECOND_US = 1_000_000;
/** Length of a bar by LEAN's word for it, µs. */
const RESOLUTIONS: Readonly<Record<string, number>> = {
  second: SECOND_US,
  minute: 60 * SECOND_US,
  hour: 3600 * SECOND_US,
  daily: 86_400 * SECOND_US,
};
const DAY_MS = 86_400_000;
/** Asset classes whose prices are in ten-thousandths, at the exchange's local time. */
const SCALED = ['equity', 'option', 'indexoption'];
/** Words in file names that are not symbols. */
const WORDS = ['trade', 'quote', 'openinterest', 'perp', 'tick', ...Object.keys(RESOLUTIONS)];

export class LeanDecoder implements RowDecoder {
  private readonly context: DecoderContext;
  private readonly isFunding: boolean;
  private readonly intervalUs: number | null;
  /** Symbol in the path; null if it has none. */
  private readonly symbol: string | null = null;
  /** Start of the day from which times count; null if rows have dates. */
  private readonly dayUs: TimeUs | null;

  /**
   * `path`: the file with LEAN's folders. `intervalUs`: length of a bar if the path does not give
   * it.
   */
  constructor(context: DecoderContext, path: string, intervalUs: number | null) {
    this.context = context;
    const folders = path.toLowerCase().split(/[\\/]/);
    const name = (folders.pop() ?? '').replace(/\.(zip|csv|gz)\b/g, '');
    const words = name.split('_');
    const scaled = SCALED.find((kind) => folders.includes(kind));
    if (scaled !== undefined) {
      throw new TapeError(
        `LEAN's files of \`${scaled}\` are not supported; crypto and cryptofuture are`,
      );
    }
    mustBeBars(words, folders);
    this.isFunding = folders.at(-1) === 'margin_interest';
    const [date] = words;
    this.dayUs =
      date !== undefined && /^[0-9]{8}$/.test(date) ? timeOf(dashed(date), 'date', 'iso') : null;
    const resolution = [...words, ...folders].find((word) => word in RESOLUTIONS);
    this.intervalUs = intervalUs ?? RESOLUTIONS[resolution ?? ''] ?? null;
    const inName = words.find(
      (word) => /^[0-9]*[a-z][0-9a-z]*$/.test(word) && !WORDS.includes(word),
    );
    const found = inName ?? (this.dayUs === null ? undefined : folders.at(-1));
    if (found !== undefined && !WORDS.includes(found)) this.symbol = found.toUpperCase();
    if (isInverseInLean(folders, this.symbol ?? '')) context.onInverse();
  }

  row(row: Row): void {
    if (this.symbol !== null && !this.context.selects(this.symbol)) return;
    if (this.isFunding) this.funding(row);
    else this.bar(row);
  }

  endFile(): void {
    // Rows are independent of each other.
  }

  state(): null {
    return null;
  }

  private bar({ fields, line }: Row): void {
    const { intervalUs } = this;
    if (intervalUs === null) {
      throw new TapeError(
        `the path does not contain the length of a bar (${Object.keys(RESOLUTIONS).join(', ')}); give --interval`,
      );
    }
    if (fields.length !== 6) {
      throw new TapeError(
        `${String(fields.length)} fields; a bar of trades has 6: time, open, high, low, close, volume`,
      );
    }
    const { numbers, emit } = this.context;
    const [time, ...values] = fields;
    const startUs = this.startOf(time);
    const open = numbers.price(values[0], 'open');
    const high = numbers.price(values[1], 'high');
    const low = numbers.price(values[2], 'low');
    const close = numbers.price(values[3], 'close');
    const volume = numbers.volume(values[4], 'volume');
    mustEnclose(open, high, low, close);
    const endUs = timeUs(startUs + intervalUs - 1);
    const at = { timeUs: endUs, localUs: endUs, line };
    emit({ kind: 'bar', ...at, startUs, open, high, low, close, volume });
  }

  private funding({ fields, line }: Row): void {
    const [time, rate] = fields;
    const us = dateTime(time);
    const ratePpb = rateOf(rate, 'rate');
    this.context.emit({ kind: 'funding', timeUs: us, localUs: us, line, ratePpb });
  }

  /** Milliseconds of the day in the file's name, or a date with time. */
  private startOf(text: string | undefined): TimeUs {
    if (text === undefined || !/^[0-9]+$/.test(text)) return dateTime(text);
    const ms = integerOf(text, 'time');
    if (ms >= DAY_MS) throw new TapeError(`\`time\` ${shown(text)} is not from 0 to 86399999 ms`);
    if (this.dayUs === null) {
      throw new TapeError('`time` needs the day in the name of the file, as in 20221213_trade.zip');
    }
    return timeUs(this.dayUs + ms * 1000);
  }
}

function mustBeBars(words: readonly string[], folders: readonly string[]): void {
  if (words.includes('quote')) {
    throw new TapeError('bars of quotes are not supported; import the file of trades (…_trade)');
  }
  if (words.includes('openinterest')) throw new TapeError('open interest is not supported');
  if ([...words, ...folders].includes('tick')) {
    throw new TapeError("LEAN's ticks are not supported: they do not contain the taker's side");
  }
}

/** `20221213 08:00`, with or without seconds, UTC. */
function dateTime(text: string | undefined): TimeUs {
  const [, date, clock] = /^([0-9]{8}) ([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)$/.exec(text ?? '') ?? [];
  if (date === undefined || clock === undefined) {
    throw new TapeError(
      `\`time\` ${shown(text)} is neither milliseconds of a day nor a date such as 20221213 08:00`,
    );
  }
  return timeOf(`${dashed(date)} ${clock.length === 5 ? `${clock}:00` : clock}`, 'time', 'iso');
}

function dashed(date: string): string {
  return `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
}
