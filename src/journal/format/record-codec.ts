/**
 * A record as bytes and as JSON, by its schema (`engine/schema`). Bytes have its fields in their
 * order, without names: one function a field writes it and one reads it, made when the module
 * loads.
 */
import { ArchiveReader, ArchiveWriter } from '../../base/archive.ts';
import { unreachable } from '../../base/assert.ts';
import { codeOf } from '../../base/code-of.ts';
import { archiveRecord } from '../../engine/snapshot/archive-record.ts';
import type { Field, RecordShape, RecordType, Shape } from '../../engine/schema/field-types.ts';
import { BytesError, type ByteReader, type ByteWriter } from './bytes.ts';

type Row = Record<string, unknown>;
export type WriteRecord = (out: ByteWriter, record: object) => void;
/** Fills a record that has the fields already. Throws `BytesError`. */
export type ReadRecord = (reader: ByteReader, record: Row) => void;
type WriteValue = (out: ByteWriter, value: never) => void;
type ReadValue = (reader: ByteReader) => unknown;

export function recordWriter({ written }: RecordShape): WriteRecord {
  const steps = written.map(({ field, lowBit }) => ({
    name: field.name,
    write: valueWriter(field.shape),
    lowBit,
  }));
  return (out, record) => {
    const row = record as Readonly<Row>;
    for (const { name, write, lowBit } of steps) {
      if (lowBit === undefined) write(out, row[name] as never);
      else {
        const bit = codeOf(lowBit.shape.words, row[lowBit.name] as string);
        out.uint((row[name] as number) * 2 + bit);
      }
    }
  };
}

function valueWriter(shape: Shape): WriteValue {
  switch (shape.type) {
    case 'number':
      return shape.signed
        ? (out, value: number) => {
            out.int(value);
          }
        : (out, value: number) => {
            out.uint(value);
          };
    case 'bigint':
      return (out, value: bigint) => {
        out.i64(value);
      };
    case 'boolean':
      return (out, value: boolean) => {
        out.u8(value ? 1 : 0);
      };
    case 'text':
      return (out, value: string) => {
        out.text(value);
      };
    case 'word': {
      const { words } = shape;
      return (out, value: string) => {
        out.uint(codeOf(words, value));
      };
    }
    case 'optional': {
      const write = valueWriter(shape.of);
      // A number is one more, so that 0 stands for null; before anything else is a byte.
      if (shape.of.type === 'number') {
        return (out, value: number | null) => {
          out.uint(value === null ? 0 : value + 1);
        };
      }
      return (out, value: unknown) => {
        out.u8(value === null ? 0 : 1);
        if (value !== null) write(out, value as never);
      };
    }
    case 'list': {
      const write = valueWriter(shape.of);
      return (out, items: readonly never[]) => {
        out.uint(items.length);
        for (const item of items) write(out, item);
      };
    }
    case 'record':
      return shape.section === undefined ? recordWriter(shape) : archiveWriter(shape);
    default:
      return unreachable(shape);
  }
}

function archiveWriter(shape: RecordType<object>): WriteRecord {
  return (out, record) => {
    const archive = new ArchiveWriter();
    archiveRecord(archive, shape, record);
    const bytes = archive.bytes();
    out.uint(bytes.length);
    out.reserve(bytes.length);
    out.buffer.set(bytes, out.length);
    out.length += bytes.length;
  };
}

export function recordReader({ written }: RecordShape): ReadRecord {
  const steps = written.map(({ field, lowBit }) => ({
    name: field.name,
    read: valueReader(field),
    lowBit,
  }));
  return (reader, record) => {
    for (const { name, read, lowBit } of steps) {
      if (lowBit === undefined) record[name] = read(reader);
      else {
        const packed = reader.uint();
        record[lowBit.name] = lowBit.shape.words[packed % 2];
        record[name] = Math.floor(packed / 2);
      }
    }
  };
}

function valueReader({ name, shape }: Field): ReadValue {
  switch (shape.type) {
    case 'number':
      return shape.signed ? (reader) => reader.int() : (reader) => reader.uint();
    case 'bigint':
      return (reader) => reader.i64();
    case 'boolean':
      return (reader) => reader.bool(name);
    case 'text':
      return (reader) => reader.text();
    case 'word': {
      const { words } = shape;
      return (reader) => readWord(reader, name, words);
    }
    case 'optional': {
      const read = valueReader({ name, shape: shape.of });
      if (shape.of.type !== 'number') return (reader) => (reader.bool(name) ? read(reader) : null);
      return (reader) => {
        const number = reader.uint();
        return number === 0 ? null : number - 1;
      };
    }
    case 'list': {
      const read = valueReader({ name, shape: shape.of });
      return (reader) => {
        const items: unknown[] = [];
        for (let left = readLength(reader, name); left > 0; left -= 1) items.push(read(reader));
        return items;
      };
    }
    case 'record': {
      if (shape.section !== undefined) return (reader) => readArchive(reader, name, shape);
      const read = recordReader(shape);
      return (reader) => {
        const record = { ...shape.template };
        read(reader, record);
        return record;
      };
    }
    default:
      return unreachable(shape);
  }
}

export function readWord<T extends string>(
  reader: ByteReader,
  name: string,
  words: readonly T[],
): T {
  const code = reader.uint();
  const word = words[code];
  if (word === undefined) throw new BytesError(0, `${name} ${String(code)} is not known`);
  return word;
}

/** How many entries a list has. */
export function readLength(reader: ByteReader, name: string): number {
  const length = reader.uint();
  if (length > reader.end - reader.at) {
    throw new BytesError(reader.at, `${name} has more entries than its frame has bytes`);
  }
  return length;
}

function readArchive(reader: ByteReader, name: string, shape: RecordType<object>): object {
  const length = reader.uint();
  const start = reader.at;
  if (length > reader.end - start) throw new BytesError(start, `${name} is longer than its frame`);
  reader.at += length;
  const archive = new ArchiveReader(reader.source.subarray(start, start + length));
  const record = archiveRecord(archive, shape, null);
  archive.end();
  return record;
}

/** Adds the JSON form to `into`: every field by name; bigints, which may pass 2^53, are text. */
export function describeRecord(into: Row, { fields }: RecordShape, value: object): void {
  for (const { name, shape } of fields) describeField(into, name, shape, (value as Row)[name]);
}

function describeField(into: Row, name: string, shape: Shape, value: unknown): void {
  if (shape.type === 'word' && shape.jsonFlag !== undefined) {
    into[shape.jsonFlag] = value === shape.words[1];
    return;
  }
  if (shape.type === 'optional' && shape.jsonFlag !== undefined) {
    into[shape.jsonFlag] = value !== null;
    if (value === null) return;
  }
  into[name] = jsonOf(shape, value);
}

function jsonOf(shape: Shape, value: unknown): unknown {
  switch (shape.type) {
    case 'bigint':
      return String(value);
    case 'optional':
      return value === null ? null : jsonOf(shape.of, value);
    case 'list':
      return (value as readonly unknown[]).map((item) => jsonOf(shape.of, item));
    case 'record': {
      const fields: Row = {};
      describeRecord(fields, shape, value as object);
      return shape.jsonList === true ? Object.values(fields) : fields;
    }
    case 'number':
    case 'boolean':
    case 'text':
    case 'word':
      return value;
    default:
      return unreachable(shape);
  }
}
