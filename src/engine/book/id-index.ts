/**
 * Slots of a table by id, for ids that are given in ascending order. 64 consecutive ids share a
 * block of cells; a hash table finds the block of an id, and stays small enough for caches. Most
 * orders are added beside the one before, so adding searches nothing; neither adding nor removing
 * moves an entry of another block.
 *
 * The hash table is open-addressed, with linear probing, load ≤ 1/2 and backward-shift deletion. A
 * block without ids is freed. An id costs about 5 bytes among its neighbours, at most 288 alone.
 *
 * Only files of this folder may assert (`!`) that a typed-array index is in range.
 */
import { assert } from '../../base/assert.ts';

const NONE = -1;
/** Ids of a block. */
const CELLS = 64;
/** An entry of the hash table: its block + 1 (0 is an empty entry), the block's number, its ids. */
const ENTRY = 4;
const BLOCK = 0;
const LOW = 1;
const HIGH = 2;
const COUNT = 3;
const FIRST_ENTRIES = 64;
const WORD = 0x100000000;

export class IdIndex {
  private cells = new Int32Array(FIRST_ENTRIES * CELLS);
  /** Blocks that were ever used, and the first freed one; its first cell is the next one. */
  private used = 0;
  private free = NONE;
  private entries = new Int32Array(FIRST_ENTRIES * ENTRY);
  private mask = FIRST_ENTRIES - 1;
  private blocks = 0;
  private size = 0;
  /** Number and entry of the block that was used last; NONE after an entry moved. */
  private lastNumber = NONE;
  private lastEntry = NONE;

  get count(): number {
    return this.size;
  }

  /** The slot of this id, or −1. */
  find(id: number): number {
    if (id < 0) return NONE;
    const number = Math.floor(id / CELLS);
    const at = this.entryOf(number);
    // A fraction has no cell.
    if (this.entries[at + BLOCK] === 0) return NONE;
    return this.cells[this.cellOf(at, number, id)] ?? NONE;
  }

  /** Adds an id that the index does not have. */
  add(id: number, slot: number): void {
    const number = Math.floor(id / CELLS);
    let at = this.entryOf(number);
    if (this.entries[at + BLOCK] === 0) at = this.open(number, at);
    const cell = this.cellOf(at, number, id);
    assert(this.cells[cell] === NONE, 'an id has one slot');
    this.cells[cell] = slot;
    this.entries[at + COUNT] = this.entries[at + COUNT]! + 1;
    this.size += 1;
  }

  /** Removes an id that the index has. */
  remove(id: number): void {
    const number = Math.floor(id / CELLS);
    const at = this.entryOf(number);
    assert(this.entries[at + BLOCK] !== 0, 'the id is in the index');
    const cell = this.cellOf(at, number, id);
    assert(this.cells[cell] !== NONE, 'the id is in the index');
    this.cells[cell] = NONE;
    this.size -= 1;
    const left = this.entries[at + COUNT]! - 1;
    this.entries[at + COUNT] = left;
    if (left === 0) this.close(at);
  }

  /** Makes room for consecutive ids at once: intermediate tables would become garbage. */
  reserve(ids: number): void {
    const blocks = Math.ceil(ids / CELLS) + 1;
    while (this.mask + 1 < 2 * blocks) this.growEntries();
    if (this.cells.length < blocks * CELLS) this.growCells(blocks);
  }

  /** The cell of an id in the block of this number. `%` of doubles would be a loop. */
  private cellOf(at: number, number: number, id: number): number {
    return (this.entries[at + BLOCK]! - 1) * CELLS + (id - number * CELLS);
  }

  /** The entry of a block, or the empty one where it would be. */
  private entryOf(number: number): number {
    if (number === this.lastNumber) return this.lastEntry;
    const at = this.search(number);
    if (this.entries[at + BLOCK] !== 0) {
      this.lastNumber = number;
      this.lastEntry = at;
    }
    return at;
  }

  private search(number: number): number {
    const { entries, mask } = this;
    const low = number | 0;
    const high = Math.floor(number / WORD);
    for (let place = homeOf(low, high) & mask; ; place = (place + 1) & mask) {
      const at = place * ENTRY;
      if (entries[at + BLOCK] === 0) return at;
      if (entries[at + LOW] === low && entries[at + HIGH] === high) return at;
    }
  }

  /** Opens a block at an empty entry; returns its entry. */
  private open(number: number, empty: number): number {
    let at = empty;
    if (2 * (this.blocks + 1) > this.mask + 1) {
      this.growEntries();
      at = this.search(number);
    }
    const block = this.take();
    this.cells.fill(NONE, block * CELLS, (block + 1) * CELLS);
    this.entries[at + BLOCK] = block + 1;
    this.entries[at + LOW] = number | 0;
    this.entries[at + HIGH] = Math.floor(number / WORD);
    this.entries[at + COUNT] = 0;
    this.blocks += 1;
    this.lastNumber = number;
    this.lastEntry = at;
    return at;
  }

  private take(): number {
    const block = this.free;
    if (block !== NONE) {
      this.free = this.cells[block * CELLS]!;
      return block;
    }
    if ((this.used + 1) * CELLS > this.cells.length) this.growCells(this.used + 1);
    return this.used++;
  }

  /** Frees a block without ids; entries after it move back, so that searches still find them. */
  private close(closed: number): void {
    const { entries, mask } = this;
    const block = entries[closed + BLOCK]! - 1;
    this.cells[block * CELLS] = this.free;
    this.free = block;
    this.blocks -= 1;
    this.lastNumber = NONE;
    let hole = closed / ENTRY;
    for (
      let next = (hole + 1) & mask;
      entries[next * ENTRY + BLOCK] !== 0;
      next = (next + 1) & mask
    ) {
      const home = homeOf(entries[next * ENTRY + LOW]!, entries[next * ENTRY + HIGH]!) & mask;
      // An entry may fill the hole only if its home is not between the hole and itself.
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      entries.copyWithin(hole * ENTRY, next * ENTRY, (next + 1) * ENTRY);
      hole = next;
    }
    entries[hole * ENTRY + BLOCK] = 0;
  }

  private growEntries(): void {
    const old = this.entries;
    this.entries = new Int32Array(2 * old.length);
    this.mask = 2 * this.mask + 1;
    this.lastNumber = NONE;
    for (let from = 0; from < old.length; from += ENTRY) {
      if (old[from + BLOCK] === 0) continue;
      let place = homeOf(old[from + LOW]!, old[from + HIGH]!) & this.mask;
      while (this.entries[place * ENTRY + BLOCK] !== 0) place = (place + 1) & this.mask;
      for (let i = 0; i < ENTRY; i++) this.entries[place * ENTRY + i] = old[from + i]!;
    }
  }

  private growCells(blocks: number): void {
    let length = this.cells.length;
    // Large steps: untouched pages cost nothing, freed smaller buffers fragment the heap.
    while (length < blocks * CELLS) length *= length < 1 << 18 ? 2 : 8;
    const cells = new Int32Array(length);
    cells.set(this.cells);
    this.cells = cells;
  }
}

/** Where the search for a block begins. */
function homeOf(low: number, high: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
