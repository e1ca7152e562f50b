/**
 * Decodes the Parquet files of a NautilusTrader data catalog: bars, trade ticks, quote ticks, order
 * book deltas, mark and index prices. The columns determine the kind; market and bar length come
 * from the path, `data/bar/BTCUSDT-PERP.BINANCE-1-MINUTE-LAST-EXTERNAL/….parquet`. Source:
 * NautilusTrader documentation, "Data", and its Arrow schemas (crates/serialization).
 *
 * Prices and sizes are little-endian integers: 16 bytes of 1e-16 (high precision) or 8 bytes of
 * 1e-9. Times are nanoseconds; a bar's is that of its end. Deltas of one event are one update.
 */
import type { TapeLevel } from '../../engine/commands.ts';
import { lots, timeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { mustEnclose } from './binance-csv.ts';
import { UpdateChain, type MessageTime } from './json-records.ts';
import { integerOf, shown, timeOf } from './numbers.ts';
import { Header, type DecoderContext, type Row, type RowDecoder } from './row-decoder.ts';

const SECONDS: Readonly<Record<string, number>> = {
  SECOND: 1,
  MINUTE: 60,
  HOUR: 3600,
  DAY: 86_400,
  WEEK: 604_800,
};
const LAST_OF_EVENT = 128;

interface Names {
  readonly symbol: string | null;
  readonly venue: string;
  readonly barUs: number | null;
}

/** Market and bar length in a path of the catalog. */
export function namesInPath(path: string): Names {
  for (const folder of path.split(/[\\/]/).reverse()) {
    const match =
      /^([A-Za-z0-9_/-]+?)\.([A-Z0-9_]+)(?:-([0-9]+)-(SECOND|MINUTE|HOUR|DAY|WEEK)-[A-Z]+.*)?$/.exec(
        folder.replace(/\.parquet$/, ''),
      );
    if (match === null) continue;
    const [, symbol = null, venue = '', step, unit] = match;
    const barUs = unit === undefined ? null : Number(step) * (SECONDS[unit] ?? 0) * 1_000_000;
    return { symbol, venue, barUs };
  }
  return { symbol: null, venue: '', barUs: null };
}

export class NautilusDecoder implements RowDecoder {
  private readonly context: DecoderContext;
  private readonly chain: UpdateChain;
  private readonly names: Names;
  private header = new Header([]);
  private kind: 'bar' | 'trade' | 'touch' | 'delta' | 'mark' | 'index' = 'bar';
  private readonly isIndex: boolean;
  private event: { readonly at: MessageTime; isWhole: boolean; levels: TapeLevel[] } | null = null;

  constructor(context: DecoderContext, path: string, state: unknown) {
    this.context = context;
    this.names = namesInPath(path);
    const { symbol, venue } = this.names;
    if (symbol !== null) context.onVenue(venue, symbol);
    this.isIndex = path.includes('index_price');
    this.chain = new UpdateChain(context, state);
  }

  state(): unknown {
    return this.chain.state();
  }

  row(row: Row): void {
    if (row.lineInFile === 1) {
      this.open(row.fields);
      return;
    }
    const { symbol } = this.names;
    if (symbol !== null && !this.context.selects(symbol)) return;
    const eventUs = timeOf(this.text(row, 'ts_event'), 'ts_event', 'ns');
    const at = {
      timeUs: eventUs,
      localUs: timeOf(this.text(row, 'ts_init'), 'ts_init', 'ns'),
      line: row.line,
    };
    switch (this.kind) {
      case 'bar':
        this.bar(row, at);
        return;
      case 'trade':
        this.trade(row, at);
        return;
      case 'touch':
        this.touch(row, at);
        return;
      case 'delta':
        this.delta(row, at);
        return;
      default: {
        const priceTicks = this.context.numbers.rounded(this.decimal(row, 'value'), 'value');
        this.context.emit({ kind: this.kind, ...at, priceTicks });
      }
    }
  }

  endFile(): void {
    this.flush();
  }

  private open(fields: readonly string[]): void {
    const header = new Header(fields);
    this.header = header;
    if (!header.has('ts_event', 'ts_init'))
      throw new TapeError('no columns `ts_event` and `ts_init` of a catalog');
    if (header.has('open', 'high', 'low', 'close', 'volume')) this.kind = 'bar';
    else if (header.has('price', 'size', 'aggressor_side')) this.kind = 'trade';
    else if (header.has('bid_price', 'ask_price', 'bid_size', 'ask_size')) this.kind = 'touch';
    else if (header.has('action', 'side', 'price', 'size', 'flags')) this.kind = 'delta';
    else if (header.has('value')) this.kind = this.isIndex ? 'index' : 'mark';
    else throw new TapeError(`the columns ${header.names.join(', ')} match no known kind of data`);
  }

  private text({ fields }: Row, name: string): string | undefined {
    return fields[this.header.place(name)];
  }

  private decimal(row: Row, name: string): string | undefined {
    return fixedText(this.text(row, name));
  }

  private bar(row: Row, at: MessageTime): void {
    const { barUs } = this.names;
    if (barUs === null) {
      throw new TapeError(
        'the path has no bar type, such as BTCUSDT.BINANCE-1-MINUTE-LAST-EXTERNAL',
      );
    }
    const { numbers, emit } = this.context;
    const price = (field: string) => numbers.price(this.decimal(row, field), field);
    const [open, high, low, close] = [price('open'), price('high'), price('low'), price('close')];
    mustEnclose(open, high, low, close);
    const volume = numbers.volume(this.decimal(row, 'volume'), 'volume');
    const endUs = timeUs(at.timeUs - 1);
    const startUs = timeUs(at.timeUs - barUs);
    emit({
      kind: 'bar',
      timeUs: endUs,
      localUs: endUs,
      line: at.line,
      startUs,
      open,
      high,
      low,
      close,
      volume,
    });
  }

  private trade(row: Row, at: MessageTime): void {
    const { numbers, emit } = this.context;
    const side = this.text(row, 'aggressor_side') ?? '';
    const size = numbers.size(this.decimal(row, 'size'), 'size');
    if (size === 0) throw new TapeError('`size` of a trade is 0');
    const id = this.text(row, 'trade_id') ?? '';
    const isSale = side === '2' || side.toUpperCase() === 'SELLER';
    emit({
      kind: 'trade',
      ...at,
      tradeId: /^[0-9]{1,15}$/.test(id) ? Number(id) : at.line,
      priceTicks: numbers.price(this.decimal(row, 'price'), 'price'),
      lots: lots(isSale ? -size : size),
    });
  }

  private touch(row: Row, at: MessageTime): void {
    const { numbers, emit } = this.context;
    emit({
      kind: 'touch',
      ...at,
      updateId: 0,
      bidTicks: numbers.price(this.decimal(row, 'bid_price'), 'bid_price'),
      bidLots: numbers.size(this.decimal(row, 'bid_size'), 'bid_size'),
      askTicks: numbers.price(this.decimal(row, 'ask_price'), 'ask_price'),
      askLots: numbers.size(this.decimal(row, 'ask_size'), 'ask_size'),
    });
  }

  private delta(row: Row, at: MessageTime): void {
    const { numbers } = this.context;
    const action = integerOf(this.text(row, 'action'), 'action');
    if (action < 1 || action > 4)
      throw new TapeError(`\`action\` ${String(action)} is not from 1 to 4`);
    const event = (this.event ??= { at, isWhole: false, levels: [] });
    if (action === 4) {
      event.isWhole = true;
      event.levels = [];
    } else {
      const side = this.text(row, 'side');
      if (side !== '1' && side !== '2')
        throw new TapeError(`\`side\` is ${shown(side)}, not 1 or 2`);
      event.levels.push({
        side: side === '1' ? 'bid' : 'ask',
        priceTicks: numbers.price(this.decimal(row, 'price'), 'price'),
        lots: action === 3 ? lots(0) : numbers.size(this.decimal(row, 'size'), 'size'),
      });
    }
    const flags = integerOf(this.text(row, 'flags'), 'flags');
    if ((flags & LAST_OF_EVENT) !== 0) this.flush();
  }

  private flush(): void {
    const { event, chain } = this;
    this.event = null;
    if (event === null) return;
    if (event.isWhole) chain.snapshot(event.at, chain.nextId, event.levels);
    else chain.update(event.at, chain.nextId, chain.nextId - 1, event.levels);
  }
}

/** Bytes in hexadecimal, as tables of fixed-length values have them, as a decimal number. */
function fixedText(text: string | undefined): string | undefined {
  const match = /^0x((?:[0-9a-f]{16}){1,2})$/.exec(text ?? '');
  if (match === null) return text;
  const bytes = (match[1] ?? '').match(/../g) ?? [];
  const scale = bytes.length === 16 ? 16 : 9;
  const value = BigInt(`0x${bytes.reverse().join('')}`);
  if (BigInt.asIntN(bytes.length * 8, value) < 0n) return `-${text ?? ''}`;
  const digits = String(value).padStart(scale + 1, '0');
  return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`.replace(/\.?0+$/, '');
}
