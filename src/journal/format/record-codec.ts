/** A record as bytes and as JSON, by its schema (`engine/schema`). Bytes have its fields in their order, without names. */
import { ArchiveReader, ArchiveWriter } from '../../base/archive.ts';
import { unreachable } from '../../base/assert.ts';
import { codeOf } from '../../base/code-of.ts';
import { archiveRecord } from '../../engine/snapshot/archive-record.ts';
import type { RecordShape, RecordType, Shape } from '../../engine/schema/field-types.ts';
import { BytesError, type ByteReader, type ByteWriter } from './bytes.ts';

type Row = Record<string, unknown>;

export function writeRecord(out: ByteWriter, { written }: RecordShape, value: object): void {
  const row = value as Readonly<Row>;
  for (const { field, lowBit } of written) {
    if (lowBit === undefined) writeValue(out, field.shape, row[field.name]);
    else {
      const bit = codeOf(lowBit.shape.words, row[lowBit.name] as string);
      out.uint((row[field.name] as number) * 2 + bit);
    }
  }
}

function writeValue(out: ByteWriter, shape: Shape, value: unknown): void {
  switch (shape.type) {
    case 'number':
      if (shape.signed) out.int(value as number);
      else out.uint(value as number);
      return;
    case 'bigint':
      out.i64(value as bigint);
      return;
    case 'boolean':
      out.u8(value === true ? 1 : 0);
      return;
    case 'text':
      out.text(value as string);
      return;
    case 'word':
      out.uint(codeOf(shape.words, value as string));
      return;
    case 'optional':
      // A number is one more, so that 0 stands for null; before anything else is a byte.
      if (shape.of.type === 'number') out.uint(value === null ? 0 : (value as number) + 1);
      else {
        out.u8(value === null ? 0 : 1);
        if (value !== null) writeValue(out, shape.of, value);
      }
      return;
    case 'list':
      out.uint((value as readonly unknown[]).length);
      for (const item of value as readonly unknown[]) writeValue(out, shape.of, item);
      return;
    case 'record':
      if (shape.section === undefined) writeRecord(out, shape, value as object);
      else writeArchive(out, shape, value as object);
      return;
    default:
      unreachable(shape);
  }
}

function writeArchive(out: ByteWriter, shape: RecordShape, value: object): void {
  const archive = new ArchiveWriter();
  archiveRecord(archive, shape as RecordType<object>, value);
  const bytes = archive.bytes();
  out.uint(bytes.length);
  out.reserve(bytes.length);
  out.buffer.set(bytes, out.length);
  out.length += bytes.length;
}

/** Reads what `writeRecord` wrote into `record`, which has the fields already. Throws `BytesError`. */
export function readRecord(reader: ByteReader, { written }: RecordShape, record: Row): void {
  for (const { field, lowBit } of written) {
    if (lowBit === undefined) record[field.name] = readValue(reader, field.name, field.shape);
    else {
      const packed = reader.uint();
      record[lowBit.name] = lowBit.shape.words[packed % 2];
      record[field.name] = Math.floor(packed / 2);
    }
  }
}

function readValue(reader: ByteReader, name: string, shape: Shape): unknown {
  switch (shape.type) {
    case 'number':
      return shape.signed ? reader.int() : reader.uint();
    case 'bigint':
      return reader.i64();
    case 'boolean':
      return reader.bool(name);
    case 'text':
      return reader.text();
    case 'word': {
      const code = reader.uint();
      const word = shape.words[code];
      if (word === undefined) throw new BytesError(0, `${name} ${String(code)} is not known`);
      return word;
    }
    case 'optional': {
      if (shape.of.type !== 'number') {
        return reader.bool(name) ? readValue(reader, name, shape.of) : null;
      }
      const number = reader.uint();
      return number === 0 ? null : number - 1;
    }
    case 'list':
      return readList(reader, name, shape.of);
    case 'record': {
      if (shape.section !== undefined) return readArchive(reader, name, shape);
      const record = { ...shape.template };
      readRecord(reader, shape, record);
      return record;
    }
    default:
      return unreachable(shape);
  }
}

function readList(reader: ByteReader, name: string, of: Shape): unknown[] {
  const length = reader.uint();
  if (length > reader.end - reader.at) {
    throw new BytesError(reader.at, `${name} has more entries than its frame has bytes`);
  }
  const items: unknown[] = [];
  for (let i = 0; i < length; i++) items.push(readValue(reader, name, of));
  return items;
}

function readArchive(reader: ByteReader, name: string, shape: RecordShape): object {
  const length = reader.uint();
  const start = reader.at;
  if (length > reader.end - start) {
    throw new BytesError(start, `${name} is longer than its frame`);
  }
  reader.at += length;
  const archive = new ArchiveReader(reader.source.subarray(start, start + length));
  const record = archiveRecord(archive, shape as RecordType<object>, null);
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
