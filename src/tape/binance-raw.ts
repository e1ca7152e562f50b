/**
 * Decodes raw messages of Binance streams, one a line, as recorded by hftbacktest's collector or
 * cryptofeed (raw-line): diff depth, trade or aggTrade, bookTicker, and the REST snapshot in the
 * stream. Supports USD-M, COIN-M and spot.
 *
 * Spot updates do not name their predecessor: it is the one before `U`. The snapshot and bookTicker
 * of spot have no time: theirs is that of the last message that has one, else that of receipt.
 *
 * Numbers are converted from text to whole ticks and lots; update ids are below 2^53. Errors name
 * line and field.
 */
import type { TapeLevel } from '../engine/commands.ts';
import { lots, priceTicks, timeUs, type Lots, type PriceTicks, type TimeUs } from '../num/units.ts';
import { MarketNames } from './formats/market-names.ts';
import type { NumberScan } from './formats/numbers.ts';
import {
  queryParameter,
  isObject,
  parseObject,
  rawLine,
  type Json,
  type RawLine,
} from './formats/raw-line.ts';
import { KNOWN_UNITS, TapeError, type TapeRecord, type TapeUnits } from './record.ts';
import { stepReader, type StepReader } from './step-text.ts';

export class BinanceRawDecoder {
  /** Set by the first message that names its symbol, unless given. */
  private known: TapeUnits | null;
  private readPrice: StepReader = () => -1;
  private readSize: StepReader = () => -1;
  private line: number;
  private lineInFile = 0;
  private readonly pending: { text: string; line: number; lineInFile: number }[] = [];
  /** Number of messages that yield no book change or trade. */
  ignored = 0;
  /** Trades outside the order book (insurance fund, ADL), which Binance marks in `X`. */
  offBookTrades = 0;

  /** Time of the last message that has one. */
  private lastUs: TimeUs | null = null;
  private tradeEvent: 'trade' | 'aggTrade' | null = null;
  private readonly names: MarketNames;
  private readonly isExplicit: boolean;
  private readonly scan: NumberScan | null;

  /**
   * `line`: number of lines read earlier. `symbol`: the market to read; messages of others are
   * skipped. `scan`: finds tick and lot size of an unknown market; the records are then
   * meaningless.
   */
  constructor(
    units: TapeUnits | null,
    line = 0,
    symbol: string | null = null,
    scan: NumberScan | null = null,
    names: MarketNames = new MarketNames(symbol),
  ) {
    this.known = null;
    this.line = line;
    this.isExplicit = symbol !== null;
    this.names = names;
    this.scan = scan;
    if (units !== null) this.use(units);
  }

  /** Whether the messages are those of spot; null before one that states it. */
  isSpot: boolean | null = null;

  /** Units in use; null before the first message. */
  get units(): TapeUnits | null {
    return this.known;
  }

  /**
   * Records of one line: none, one, or all lines buffered until the symbol was known. Throws
   * `TapeError` with the line of the file.
   */
  decode(text: string, lineInFile = this.line + 1): TapeRecord[] {
    this.line += 1;
    this.lineInFile = lineInFile;
    if (text === '' || text === '\r') return [];
    const raw = this.named(() => rawLine(text));
    const body = raw === null ? null : this.body(raw);
    if (raw === null || body === null) {
      this.ignored += 1;
      return [];
    }
    if (this.known === null && !this.setMarket(body)) {
      const other = body['s'] ?? body['symbol'];
      if (other !== undefined) {
        this.ignored += 1;
        return [];
      }
      this.pending.push({ text, line: this.line, lineInFile });
      if (this.pending.length > 1000)
        throw this.error('no message has named a symbol in 1000 lines');
      return [];
    }
    const held = this.pending.splice(0);
    const record = this.record(body, raw.localUs);
    if (held.length === 0) return record === null ? [] : [record];
    const here = this.line;
    const records: TapeRecord[] = [];
    for (const earlier of held) {
      this.line = earlier.line - 1;
      records.push(...this.decode(earlier.text, earlier.lineInFile));
    }
    this.line = here;
    if (record !== null) records.push(record);
    return records;
  }

  /** The message; null for a response that is not a book. */
  private body({ json, url }: RawLine): Json | null {
    const message = this.named(() => parseObject(json));
    if (url !== null) {
      if (!('lastUpdateId' in message)) return null;
      // The USD-M response does not contain its symbol.
      const symbol = queryParameter(url, 'symbol');
      return symbol === null ? message : { symbol, ...message };
    }
    if (!('stream' in message)) return message;
    const body = message['data'];
    if (!isObject(body)) throw this.error('`data` is not an object');
    return body;
  }

  private named<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw error instanceof TapeError ? this.error(error.message) : error;
    }
  }

  private setMarket(body: Json): boolean {
    const symbol = body['s'] ?? body['symbol'];
    if (typeof symbol !== 'string' || !this.names.selects(symbol)) return false;
    const { scan } = this;
    // The known units are those of futures.
    const units = isSpot(body) ? undefined : KNOWN_UNITS.find((row) => row.symbol === symbol);
    if (units !== undefined) this.use(units);
    else if (scan !== null) {
      this.known = {
        symbol,
        tickSize: '',
        lotSize: '',
        inverse: /USD_(?:PERP|[0-9]{6})$/.test(symbol),
      };
      this.readPrice = (text) => scan.price(text, 'price');
      this.readSize = (text) => scan.size(text, 'size');
    } else {
      throw this.error(
        `the tick and lot size of '${symbol}' are not known; give --symbol, --tick and --lot`,
      );
    }
    return true;
  }

  private use(units: TapeUnits): void {
    this.known = units;
    this.readPrice = stepReader(units.tickSize);
    this.readSize = stepReader(units.lotSize);
  }

  /** @param receivedUs null if the recorder gives none: then the message's own time is used. */
  private record(body: Json, receivedUs: TimeUs | null): TapeRecord | null {
    if (!this.isOurs(body)) return null;
    if (STATES_KIND.includes(body['e'])) this.isSpot ??= isSpot(body);
    if ('lastUpdateId' in body) {
      const at = this.timeOf(body, receivedUs);
      return {
        kind: 'snapshot',
        timeUs: at,
        localUs: receivedUs ?? at,
        line: this.line,
        lastId: this.integer(body, 'lastUpdateId'),
        levels: [...this.levels(body, 'bids', 'bid'), ...this.levels(body, 'asks', 'ask')],
      };
    }
    const at = (): TimeUs => this.timeOf(body, receivedUs);
    // A bookTicker of spot has no event type.
    const event =
      body['e'] ?? ('u' in body && 'B' in body && 'A' in body ? 'bookTicker' : undefined);
    switch (event) {
      case 'depthUpdate':
        return {
          kind: 'depth',
          timeUs: at(),
          localUs: receivedUs ?? at(),
          line: this.line,
          firstId: this.integer(body, 'U'),
          lastId: this.integer(body, 'u'),
          prevId: 'pu' in body ? this.integer(body, 'pu') : this.integer(body, 'U') - 1,
          levels: [...this.levels(body, 'b', 'bid'), ...this.levels(body, 'a', 'ask')],
        };
      case 'aggTrade':
      case 'trade': {
        // A recording of both kinds has every trade twice; the first kind seen is used.
        this.tradeEvent ??= event === 'trade' ? 'trade' : 'aggTrade';
        if (this.tradeEvent !== event) {
          this.ignored += 1;
          return null;
        }
        if (body['X'] !== undefined && body['X'] !== 'MARKET') {
          this.offBookTrades += 1;
          return null;
        }
        const size = this.size(body['q'], 'q');
        if (size === 0) throw this.error('`q` of a trade is 0');
        const makerBuys = body['m'];
        if (typeof makerBuys !== 'boolean') throw this.error('`m` is not true or false');
        return {
          kind: 'trade',
          timeUs: at(),
          localUs: receivedUs ?? at(),
          line: this.line,
          tradeId: this.integer(body, body['e'] === 'trade' ? 't' : 'a'),
          priceTicks: this.price(body['p'], 'p'),
          lots: lots(makerBuys ? -size : size),
        };
      }
      case 'bookTicker':
        return {
          kind: 'touch',
          timeUs: at(),
          localUs: receivedUs ?? at(),
          line: this.line,
          updateId: this.integer(body, 'u'),
          bidTicks: this.price(body['b'], 'b'),
          bidLots: this.size(body['B'], 'B'),
          askTicks: this.price(body['a'], 'a'),
          askLots: this.size(body['A'], 'A'),
        };
      default:
        this.ignored += 1;
        return null;
    }
  }

  /**
   * Whether a message is of the market being read. Throws on a second market if none was requested.
   */
  private isOurs(body: Json): boolean {
    const symbol = body['s'] ?? body['symbol'];
    if (symbol === undefined) return true;
    if (typeof symbol === 'string' && this.names.selects(symbol)) return true;
    if (this.isExplicit || this.scan !== null) {
      this.ignored += 1;
      return false;
    }
    throw this.error(
      `symbol ${shown(symbol)} in a recording of ${this.known?.symbol ?? ''}; --symbol selects one`,
    );
  }

  private levels(body: Json, name: string, side: TapeLevel['side']): TapeLevel[] {
    const rows = body[name];
    if (!Array.isArray(rows)) throw this.error(`\`${name}\` is not a list of levels`);
    const list: readonly unknown[] = rows;
    return list.map((row, i) => {
      const pair: readonly unknown[] = Array.isArray(row) ? row : [];
      const field = `${name}[${String(i)}]`;
      return { side, priceTicks: this.price(pair[0], field), lots: this.size(pair[1], field) };
    });
  }

  private price(value: unknown, field: string): PriceTicks {
    const ticks = typeof value === 'string' ? this.readPrice(value) : -1;
    if (ticks <= 0) {
      throw this.error(
        `\`${field}\` price ${shown(value)} is not a positive multiple of ${this.known?.tickSize ?? ''}`,
      );
    }
    return priceTicks(ticks);
  }

  private size(value: unknown, field: string): Lots {
    const size = typeof value === 'string' ? this.readSize(value) : -1;
    if (size < 0) {
      throw this.error(
        `\`${field}\` size ${shown(value)} is not a multiple of ${this.known?.lotSize ?? ''}`,
      );
    }
    return lots(size);
  }

  private integer(body: Json, name: string): number {
    const value = body[name];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw this.error(`\`${name}\` is ${shown(value)}, not an integer from 0 to 2^53 − 1`);
    }
    return value;
  }

  private timeOf(body: Json, receivedUs: TimeUs | null): TimeUs {
    const field = 'T' in body ? 'T' : 'E' in body ? 'E' : null;
    if (field === null) {
      const us = this.lastUs ?? receivedUs;
      if (us === null) throw this.error('neither `T` nor `E`, and the line has no time of receipt');
      return us;
    }
    this.lastUs = this.milliseconds(body, field);
    return this.lastUs;
  }

  private milliseconds(body: Json, name: string): TimeUs {
    const value = this.integer(body, name);
    // Streams of spot may be in microseconds.
    if (value >= 1e14) return timeUs(value);
    if (value > 9_007_199_254_740) throw this.error(`\`${name}\` is beyond the year 2255`);
    return timeUs(value * 1000);
  }

  private error(problem: string): TapeError {
    return new TapeError(`line ${String(this.lineInFile)}: ${problem}`);
  }
}

/** Messages that differ between spot and futures. */
const STATES_KIND: readonly unknown[] = ['depthUpdate', 'trade', 'aggTrade'];

/** Whether a message is of the spot market: other fields than in those of futures. */
function isSpot(body: Json): boolean {
  if (body['e'] === 'depthUpdate') return !('pu' in body);
  return 'M' in body || (body['e'] === undefined && !('T' in body) && !('lastUpdateId' in body));
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 60);
}
