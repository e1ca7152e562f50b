/**
 * A command's fields pass through one of these (codec): a writer makes bytes of them, a reader makes them of bytes, a describer
 * makes the JSON form.
 */
import { ArchiveReader, ArchiveWriter } from '../../base/archive.ts';
import { must } from '../../base/assert.ts';
import { ORDER_TYPES } from '../../engine/book/order-table.ts';
import type { TapeLevel } from '../../engine/commands.ts';
import { archiveSpec } from '../../engine/snapshot/config-archive.ts';
import type { MarketSpec } from '../../engine/config.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../../engine/tape/hash-tape.ts';
import { lots, priceTicks, type TimeUs } from '../../num/units.ts';
import { BytesError, type ByteReader, type ByteWriter } from './bytes.ts';

/** What a command's fields are passed through. Names serve the JSON form and error messages. */
export interface FieldIo {
  uint(name: string, value: number): number;
  int(name: string, value: number): number;
  i64(name: string, value: bigint): bigint;
  bool(name: string, value: boolean): boolean;
  text(name: string, value: string): string;
  optionalUint(name: string, value: number | null): number | null;
  optionalText(name: string, value: string | null): string | null;
  texts(name: string, value: readonly string[]): readonly string[];
  levels(name: string, value: readonly TapeLevel[]): readonly TapeLevel[];
  spec(name: string, value: MarketSpec | null): MarketSpec;
  /** `empty` stands in for each entry that a reader reads. */
  list<T>(
    name: string,
    value: readonly T[],
    empty: T,
    pass: (io: FieldIo, entry: T) => T,
  ): readonly T[];
}

/** A kind of command: its fields, named once, in their order. */
export interface CommandFields<C, Empty extends C | null = C> {
  /** Stands in for the command that a reader is about to make: its values are ignored. */
  readonly empty: Empty;
  /** Passes the fields of a command through `io`, and answers the command that comes out. */
  readonly pass: (io: FieldIo, atUs: TimeUs, command: C | Empty) => C;
}

export class FieldWriter implements FieldIo {
  private readonly out: ByteWriter;
  constructor(out: ByteWriter) {
    this.out = out;
  }
  uint(_name: string, value: number): number {
    this.out.uint(value);
    return value;
  }
  int(_name: string, value: number): number {
    this.out.int(value);
    return value;
  }
  i64(_name: string, value: bigint): bigint {
    this.out.i64(value);
    return value;
  }
  bool(_name: string, value: boolean): boolean {
    this.out.u8(value ? 1 : 0);
    return value;
  }
  text(_name: string, value: string): string {
    this.out.text(value);
    return value;
  }
  optionalUint(_name: string, value: number | null): number | null {
    this.out.uint(value === null ? 0 : value + 1);
    return value;
  }
  optionalText(_name: string, value: string | null): string | null {
    this.out.optionalText(value);
    return value;
  }
  texts(_name: string, value: readonly string[]): readonly string[] {
    this.out.uint(value.length);
    for (const text of value) this.out.text(text);
    return value;
  }
  levels(_name: string, value: readonly TapeLevel[]): readonly TapeLevel[] {
    this.out.uint(value.length);
    for (const level of value) {
      this.out.uint(level.priceTicks * 2 + (level.side === 'bid' ? 1 : 0));
      this.out.uint(level.lots);
    }
    return value;
  }
  list<T>(
    _name: string,
    value: readonly T[],
    _empty: T,
    pass: (io: FieldIo, entry: T) => T,
  ): readonly T[] {
    this.out.uint(value.length);
    for (const entry of value) pass(this, entry);
    return value;
  }
  spec(_name: string, value: MarketSpec | null): MarketSpec {
    const archive = new ArchiveWriter();
    const spec = archiveSpec(archive, value);
    const bytes = archive.bytes();
    this.out.uint(bytes.length);
    this.out.reserve(bytes.length);
    this.out.buffer.set(bytes, this.out.length);
    this.out.length += bytes.length;
    return spec;
  }
}

export class FieldReader implements FieldIo {
  private readonly source: ByteReader;
  constructor(source: ByteReader) {
    this.source = source;
  }
  uint(_name: string, _value: number): number {
    return this.source.uint();
  }
  int(_name: string, _value: number): number {
    return this.source.int();
  }
  i64(_name: string, _value: bigint): bigint {
    return this.source.i64();
  }
  bool(name: string, _value: boolean): boolean {
    return this.source.bool(name);
  }
  text(_name: string, _value: string): string {
    return this.source.text();
  }
  optionalUint(_name: string, _value: number | null): number | null {
    const value = this.source.uint();
    return value === 0 ? null : value - 1;
  }
  optionalText(name: string, _value: string | null): string | null {
    return this.bool(name, false) ? this.source.text() : null;
  }
  texts(name: string, _value: readonly string[]): readonly string[] {
    const length = this.lengthOf(name);
    const texts: string[] = [];
    for (let i = 0; i < length; i++) texts.push(this.source.text());
    return texts;
  }
  levels(name: string, _value: readonly TapeLevel[]): readonly TapeLevel[] {
    const length = this.lengthOf(name);
    const levels: TapeLevel[] = [];
    for (let i = 0; i < length; i++) {
      const packed = this.source.uint();
      const price = priceTicks(Math.floor(packed / 2));
      levels.push({
        side: packed % 2 === 1 ? 'bid' : 'ask',
        priceTicks: price,
        lots: lots(this.source.uint()),
      });
    }
    return levels;
  }
  list<T>(
    name: string,
    _value: readonly T[],
    empty: T,
    pass: (io: FieldIo, entry: T) => T,
  ): readonly T[] {
    const length = this.lengthOf(name);
    const entries: T[] = [];
    for (let i = 0; i < length; i++) entries.push(pass(this, empty));
    return entries;
  }
  private lengthOf(name: string): number {
    const length = this.source.uint();
    if (length > this.source.end - this.source.at) {
      throw new BytesError(this.source.at, `${name} has more entries than its frame has bytes`);
    }
    return length;
  }
  spec(name: string, _value: MarketSpec | null): MarketSpec {
    const length = this.source.uint();
    const start = this.source.at;
    if (length > this.source.end - start) {
      throw new BytesError(start, `${name} is longer than its frame`);
    }
    this.source.at += length;
    const archive = new ArchiveReader(this.source.source.subarray(start, start + length));
    const spec = archiveSpec(archive, null);
    archive.end();
    return spec;
  }
}

/** Fields whose numbers are places in a list of words. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['orderType', ORDER_TYPES],
  ['path', BAR_PATHS],
  ['fill', BAR_FILLS],
  ['action', TAPE_L3_ACTIONS],
  ['status', ['open', 'postOnly', 'reduceOnly', 'cancelOnly', 'halted']],
]);

export class FieldDescriber implements FieldIo {
  private readonly fields: Record<string, unknown>;
  constructor(fields: Record<string, unknown>) {
    this.fields = fields;
  }
  uint(name: string, value: number): number {
    const words = WORDS.get(name);
    this.fields[name] = words === undefined ? value : words[value];
    return value;
  }
  int(name: string, value: number): number {
    this.fields[name] = value;
    return value;
  }
  i64(name: string, value: bigint): bigint {
    this.fields[name] = value.toString();
    return value;
  }
  bool(name: string, value: boolean): boolean {
    this.fields[name] = value;
    return value;
  }
  text(name: string, value: string): string {
    this.fields[name] = value;
    return value;
  }
  optionalUint(name: string, value: number | null): number | null {
    this.fields[name] = value;
    return value;
  }
  optionalText(name: string, value: string | null): string | null {
    this.fields[name] = value;
    return value;
  }
  texts(name: string, value: readonly string[]): readonly string[] {
    this.fields[name] = [...value];
    return value;
  }
  levels(name: string, value: readonly TapeLevel[]): readonly TapeLevel[] {
    this.fields[name] = value.map((level) => [level.side, level.priceTicks, level.lots]);
    return value;
  }
  list<T>(
    name: string,
    value: readonly T[],
    _empty: T,
    pass: (io: FieldIo, entry: T) => T,
  ): readonly T[] {
    this.fields[name] = value.map((entry) => {
      const fields: Record<string, unknown> = {};
      pass(new FieldDescriber(fields), entry);
      return fields;
    });
    return value;
  }
  spec(name: string, value: MarketSpec | null): MarketSpec {
    const spec = must(value ?? undefined, 'a described command has its spec');
    this.fields[name] = JSON.parse(
      JSON.stringify(spec, (_key, field: unknown) =>
        typeof field === 'bigint' ? field.toString() : field,
      ),
    );
    return spec;
  }
}
