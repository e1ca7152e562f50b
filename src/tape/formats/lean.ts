/**
 * LEAN's data files of crypto and crypto futures, which have no header: what a file holds, of which market and day, is said by where it lies,
 * `binance/minute/adausdt/20221213_trade.zip` or `binance/hour/adausdt_trade.zip`. Bars of trades, and the funding rates of `margin_interest`.
 * Source: the data format pages of QuantConnect/Lean (its `Data` folder).
 */
import { timeUs, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { mustHold } from './binance-csv.ts';
import { integerOf, rateOf, shown, timeOf } from './numbers.ts';
import type { DecoderContext, Row, RowDecoder } from './row-decoder.ts';

const SECOND_US = 1_000_000;
/** Length of a bar by the word for it, µs. */
const RESOLUTIONS: Readonly<Record<string, number>> = {
  second: SECOND_US,
  minute: 60 * SECOND_US,
  hour: 3600 * SECOND_US,
  daily: 86_400 * SECOND_US,
};
const DAY_MS = 86_400_000;
/** Prices of these are in ten-thousandths, at the exchange's local time. */
const SCALED = ['equity', 'option', 'indexoption'];
/** Words of a file's name that are no symbol. */
const WORDS = ['trade', 'quote', 'openinterest', 'perp', 'tick', ...Object.keys(RESOLUTIONS)];

export class LeanDecoder implements RowDecoder {
  readonly symbol: string | null;
  private readonly context: DecoderContext;
  private readonly isFunding: boolean;
  private readonly intervalUs: number | null;
  /** The day that times are counted from; null where rows say theirs. */
  private readonly dayUs: TimeUs | null;

  /** `path` of the file, with the folders that LEAN keeps it in. `intervalUs` where these do not say it. */
  constructor(context: DecoderContext, path: string, intervalUs: number | null) {
    this.context = context;
    const folders = path.toLowerCase().split(/[\\/]/);
    const name = (folders.pop() ?? '').replace(/\.(zip|csv|gz)\b/g, '');
    const words = name.split('_');
    const scaled = SCALED.find((kind) => folders.includes(kind));
    if (scaled !== undefined) {
      throw new TapeError(
        `LEAN's files of \`${scaled}\` are not read: crypto and cryptofuture are`,
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
    this.symbol = found === undefined || WORDS.includes(found) ? null : found.toUpperCase();
  }

  row(row: Row): void {
    if (this.isFunding) this.funding(row);
    else this.bar(row);
  }

  endFile(): void {
    // Rows stand by themselves.
  }

  state(): null {
    return null;
  }

  private bar({ fields, line }: Row): void {
    const { intervalUs } = this;
    if (intervalUs === null) {
      throw new TapeError(
        `the file's path does not say how long its bars are (${Object.keys(RESOLUTIONS).join(', ')}); give --interval`,
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
    mustHold(open, high, low, close);
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

  /** Milliseconds of the day in the file's name, or a date and a time. */
  private startOf(text: string | undefined): TimeUs {
    if (text === undefined || !/^[0-9]+$/.test(text)) return dateTime(text);
    const ms = integerOf(text, 'time');
    if (ms >= DAY_MS) throw new TapeError(`\`time\` ${shown(text)} is not from 0 to 86399999 ms`);
    if (this.dayUs === null) {
      throw new TapeError(
        '`time` counts from midnight of the day in the name of the file, as in 20221213_trade.zip, which has none',
      );
    }
    return timeUs(this.dayUs + ms * 1000);
  }
}

function mustBeBars(words: readonly string[], folders: readonly string[]): void {
  if (words.includes('quote')) {
    throw new TapeError('bars of quotes are not read: take the file of trades (…_trade) beside it');
  }
  if (words.includes('openinterest')) throw new TapeError('open interest is not read');
  if ([...words, ...folders].includes('tick')) {
    throw new TapeError("LEAN's ticks are not read: they do not say who bought and who sold");
  }
}

/** `20221213 08:00`, seconds or none, UTC. */
function dateTime(text: string | undefined): TimeUs {
  const [, date, clock] = /^([0-9]{8}) ([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)$/.exec(text ?? '') ?? [];
  if (date === undefined || clock === undefined) {
    throw new TapeError(
      `\`time\` ${shown(text)} is neither milliseconds of a day nor such as 20221213 08:00`,
    );
  }
  return timeOf(`${dashed(date)} ${clock.length === 5 ? `${clock}:00` : clock}`, 'time', 'iso');
}

function dashed(date: string): string {
  return `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
}
