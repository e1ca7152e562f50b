/**
 * The clientIds of a table's rows, as bytes: 16 to 24 bytes for a typical one plus 4 per row. A
 * string and its array slot take 40 bytes, and the garbage collector would trace millions of them.
 * A table without clientIds allocates nothing.
 *
 * A text of up to 127 characters occupies consecutive cells of eight bytes: its length, with the
 * high bit set for two bytes per character, then the characters. Freed blocks are kept by cell
 * count. Longer texts, which no gateway accepts, stay strings.
 */
import { RowValues } from '../../base/row-values.ts';
import { UNIT_BUFFERS } from '../../base/unit-buffers.ts';
import { hashEnd, hashStart, hashText, hashUnit } from '../../base/slot-index.ts';

const CELL = 8;
const WIDE = 0x80;
const LONGEST = 0x7f;
/** In `cells`: no text, or a text in `long`; other values are the index of the first cell + 1. */
const NO_TEXT = 0;
const LONG_TEXT = -1;

export class ClientIds {
  /** Cells of one block; a power of two. */
  private readonly blockCells: number;
  private readonly blocks: Uint8Array[] = [];
  /** First cell of each row's text; grows when a row beyond its length gets one. */
  private cells = new Int32Array(0);
  /** Used cells of the last block. */
  private used = 0;
  /** Free lists by cell count; a free block stores the next one + 1 in its first 4 bytes. */
  private readonly free: number[] = [];
  private readonly long = new RowValues<string>();

  /** `blockBytes`: allocation unit, a power of two. */
  constructor(blockBytes: number) {
    this.blockCells = blockBytes / CELL;
    this.used = this.blockCells;
  }

  get(row: number): string | null {
    const cell = this.cellOf(row);
    if (cell === NO_TEXT) return null;
    if (cell === LONG_TEXT) return this.long.get(row) ?? null;
    const block = this.blockOf(cell);
    const at = this.offsetOf(cell);
    const head = block[at]!;
    const length = head & LONGEST;
    const units = (head & WIDE) === 0 ? UNIT_BUFFERS[length] : undefined;
    if (units !== undefined) {
      for (let i = 0; i < length; i++) units[i] = block[at + 1 + i]!;
      return String.fromCharCode(...units);
    }
    let text = '';
    if ((head & WIDE) === 0) {
      for (let i = 1; i <= length; i++) text += String.fromCharCode(block[at + i]!);
    } else {
      for (let i = 1; i < 2 * length; i += 2) {
        text += String.fromCharCode(block[at + i]! | (block[at + i + 1]! << 8));
      }
    }
    return text;
  }

  /** Whether the row has this text. */
  is(row: number, text: string): boolean {
    const cell = this.cellOf(row);
    if (cell === NO_TEXT) return false;
    if (cell === LONG_TEXT) return this.long.get(row) === text;
    const block = this.blockOf(cell);
    const at = this.offsetOf(cell);
    const head = block[at]!;
    if ((head & LONGEST) !== text.length) return false;
    const wide = (head & WIDE) !== 0;
    for (let i = 0; i < text.length; i++) {
      const unit = wide
        ? block[at + 1 + 2 * i]! | (block[at + 2 + 2 * i]! << 8)
        : block[at + 1 + i]!;
      if (unit !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  /** `hashText` of the row's text without building the string; null when it has none. */
  hash(row: number, seed: number): number | null {
    const cell = this.cellOf(row);
    if (cell === NO_TEXT) return null;
    if (cell === LONG_TEXT) return hashText(seed, this.long.get(row) ?? '');
    const block = this.blockOf(cell);
    const at = this.offsetOf(cell);
    const head = block[at]!;
    const length = head & LONGEST;
    const wide = (head & WIDE) !== 0;
    let hash = hashStart(seed);
    for (let i = 0; i < length; i++) {
      const unit = wide
        ? block[at + 1 + 2 * i]! | (block[at + 2 + 2 * i]! << 8)
        : block[at + 1 + i]!;
      hash = hashUnit(hash, unit);
    }
    return hashEnd(hash);
  }

  /** Sets the text of a row that has none. */
  set(row: number, text: string): void {
    if (row >= this.cells.length) this.grow(row);
    if (text.length > LONGEST) {
      this.cells[row] = LONG_TEXT;
      this.long.set(row, text);
      return;
    }
    let wide = false;
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) wide = true;
    const cell = this.take(cellsOf(text.length, wide));
    this.cells[row] = cell;
    const block = this.blockOf(cell);
    const at = this.offsetOf(cell);
    block[at] = text.length | (wide ? WIDE : 0);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (wide) {
        block[at + 1 + 2 * i] = unit;
        block[at + 2 + 2 * i] = unit >>> 8;
      } else block[at + 1 + i] = unit;
    }
  }

  /** Removes the row's text, if any. */
  clear(row: number): void {
    const cell = this.cellOf(row);
    if (cell === NO_TEXT) return;
    this.cells[row] = NO_TEXT;
    if (cell === LONG_TEXT) {
      this.long.delete(row);
      return;
    }
    const block = this.blockOf(cell);
    const at = this.offsetOf(cell);
    const head = block[at]!;
    const size = cellsOf(head & LONGEST, (head & WIDE) !== 0);
    const next = this.free[size] ?? NO_TEXT;
    for (let i = 0; i < 4; i++) block[at + i] = next >>> (8 * i);
    this.free[size] = cell;
  }

  private cellOf(row: number): number {
    return row < this.cells.length ? this.cells[row]! : NO_TEXT;
  }

  private blockOf(cell: number): Uint8Array {
    return this.blocks[Math.floor((cell - 1) / this.blockCells)]!;
  }

  private offsetOf(cell: number): number {
    return ((cell - 1) & (this.blockCells - 1)) * CELL;
  }

  private take(size: number): number {
    const freed = this.free[size] ?? NO_TEXT;
    if (freed !== NO_TEXT) {
      const block = this.blockOf(freed);
      const at = this.offsetOf(freed);
      let next = 0;
      for (let i = 0; i < 4; i++) next |= block[at + i]! << (8 * i);
      this.free[size] = next;
      return freed;
    }
    if (this.used + size > this.blockCells) {
      this.blocks.push(new Uint8Array(this.blockCells * CELL));
      this.used = 0;
    }
    const cell = (this.blocks.length - 1) * this.blockCells + this.used + 1;
    this.used += size;
    return cell;
  }

  private grow(row: number): void {
    // Large steps: untouched pages cost nothing, freed smaller arrays fragment the heap.
    let length = Math.max(64, this.cells.length);
    while (length <= row) length *= length < 1 << 18 ? 2 : 8;
    const cells = new Int32Array(length);
    cells.set(this.cells);
    this.cells = cells;
  }
}

function cellsOf(length: number, wide: boolean): number {
  return Math.ceil((1 + (wide ? 2 * length : length)) / CELL);
}
