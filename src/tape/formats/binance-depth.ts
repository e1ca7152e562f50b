/**
 * Binance's historical order books of futures (`T_DEPTH`): `…_depth_snap.csv` has snapshots,
 * `…_depth_update.csv` the changes with the stream's update ids. Rows of one update are adjacent.
 */
import type { TapeLevel } from '../../engine/commands.ts';
import type { TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { integerOf, shown } from './numbers.ts';
import { Header, isHeader, type DecoderContext, type Row, type RowDecoder } from './row-decoder.ts';

const COLUMNS = [
  'symbol',
  'timestamp',
  'first_update_id',
  'last_update_id',
  'side',
  'update_type',
  'price',
  'qty',
  'pu',
];

interface Update {
  readonly timeUs: TimeUs;
  readonly line: number;
  readonly whole: boolean;
  readonly firstId: number;
  readonly lastId: number;
  readonly prevId: number;
  readonly levels: TapeLevel[];
}

export class BinanceDepthDecoder implements RowDecoder {
  private readonly context: DecoderContext;
  private header = new Header(COLUMNS);
  private update: Update | null = null;

  constructor(context: DecoderContext) {
    this.context = context;
  }

  row(row: Row): void {
    if (row.lineInFile === 1 && isHeader(row.fields) && row.fields.includes('update_type')) {
      this.header = new Header(row.fields);
      const missing = COLUMNS.find((name) => !this.header.has(name));
      if (missing !== undefined) throw new TapeError(`no column \`${missing}\``);
      return;
    }
    const text = (name: string): string | undefined => row.fields[this.header.place(name)];
    if (!this.context.selects(text('symbol') ?? '')) return;
    const type = text('update_type');
    if (type !== 'snap' && type !== 'set') {
      throw new TapeError(`\`update_type\` is ${shown(type)}, neither snap nor set`);
    }
    const side = text('side');
    if (side !== 'b' && side !== 'a') {
      throw new TapeError(`\`side\` is ${shown(side)}, neither b nor a`);
    }
    const { numbers } = this.context;
    const level: TapeLevel = {
      side: side === 'b' ? 'bid' : 'ask',
      priceTicks: numbers.price(text('price'), 'price'),
      lots: numbers.size(text('qty'), 'qty'),
    };
    const whole = type === 'snap';
    const lastId = integerOf(text('last_update_id'), 'last_update_id');
    if (this.update?.lastId !== lastId || this.update.whole !== whole) {
      const timeUs = this.context.times.read(row, text('timestamp'), 'timestamp');
      const firstId = integerOf(text('first_update_id'), 'first_update_id');
      const prevId = whole ? 0 : integerOf(text('pu'), 'pu');
      this.flush();
      this.update = { timeUs, line: row.line, whole, firstId, lastId, prevId, levels: [] };
    }
    this.update.levels.push(level);
  }

  endFile(): void {
    this.flush();
  }

  state(): null {
    return null;
  }

  private flush(): void {
    const { update } = this;
    if (update === null) return;
    this.update = null;
    const { timeUs, line, whole, firstId, lastId, prevId, levels } = update;
    const at = { timeUs, localUs: timeUs, line, lastId, levels };
    this.context.emit(
      whole ? { kind: 'snapshot', ...at } : { kind: 'depth', ...at, firstId, prevId },
    );
  }
}
