/**
 * Commands as bytes: the tag of the kind, then its fields, by the schema of commands.
 * Orders, cancels and what a tape repeats have functions of their own with the same bytes.
 */
import { must } from '../../base/assert.ts';
import type { Command } from '../../engine/commands.ts';
import { COMMANDS, REFERENCED, schemaOf } from '../../engine/schema/command-schema.ts';
import type { TimeUs } from '../../num/units.ts';
import { BytesError, type ByteReader, type ByteWriter } from './bytes.ts';
import {
  ANY_CANCEL,
  ANY_ORDER,
  readCancelOrder,
  readPlaceOrder,
  writeCancelOrder,
  writePlaceOrder,
} from './order-codec.ts';
import {
  describeRecord,
  recordReader,
  recordWriter,
  type ReadRecord,
  type WriteRecord,
} from './record-codec.ts';
import { readTape, writeTapeBar } from './tape-codec.ts';

const TAG_PLACE_ORDER = COMMANDS.placeOrder.tag;
const TAG_CANCEL_ORDER = COMMANDS.cancelOrder.tag;
const TAG_TAPE_BAR = COMMANDS.tapeBar.tag;

interface Codec {
  /** A command of the kind, to be cloned and filled. */
  readonly template: Record<string, unknown>;
  readonly write: WriteRecord;
  readonly read: ReadRecord;
}
const BY_TAG: Codec[] = [];
for (const [kind, { tag, body }] of [...Object.entries(COMMANDS), ...Object.entries(REFERENCED)]) {
  BY_TAG[tag] = {
    template: { kind, timeUs: 0, ...body.template },
    write: recordWriter(body),
    read: recordReader(body),
  };
}

/** Appends the tag and the fields of a command; its time is in the frame. */
export function encodeCommand(writer: ByteWriter, command: Command): void {
  if (command.kind === 'placeOrder') writePlaceOrder(writer, TAG_PLACE_ORDER, command);
  else if (command.kind === 'cancelOrder') writeCancelOrder(writer, TAG_CANCEL_ORDER, command);
  else if (command.kind === 'tapeBar') writeTapeBar(writer, TAG_TAPE_BAR, command);
  else encodeBySchema(writer, command);
}

/** The same by the schema, for every kind. */
export function encodeBySchema(writer: ByteWriter, command: Command): void {
  const { tag } = schemaOf(command);
  writer.u8(tag);
  must(BY_TAG[tag], 'every kind has a tag').write(writer, command);
}

/** Reads what `encodeCommand` wrote. Throws `BytesError`. */
export function decodeCommand(reader: ByteReader, atUs: TimeUs): Command {
  const start = reader.at;
  const tag = reader.u8();
  if (tag === TAG_CANCEL_ORDER) {
    const cancel = { ...ANY_CANCEL };
    readCancelOrder(reader, atUs, cancel);
    return cancel;
  }
  if (tag === TAG_PLACE_ORDER) {
    const placed = { ...ANY_ORDER };
    if (readPlaceOrder(reader, atUs, placed)) return placed;
  }
  reader.at = start;
  return decodeUncommon(reader, atUs);
}

/**
 * Reads a command of a kind that is no order and no cancel, or an order that is out of the
 * ordinary.
 */
export function decodeUncommon(reader: ByteReader, atUs: TimeUs): Command {
  const start = reader.at;
  const tape = readTape(reader, reader.u8(), atUs);
  if (tape !== null) return tape;
  reader.at = start;
  return decodeBySchema(reader, atUs);
}

/** The same by the schema, for every kind. */
export function decodeBySchema(reader: ByteReader, atUs: TimeUs): Command {
  const start = reader.at;
  const tag = reader.u8();
  const codec = BY_TAG[tag];
  if (codec === undefined) {
    throw new BytesError(start, `command tag ${String(tag)} is not known to this version`);
  }
  const command = { ...codec.template, timeUs: atUs };
  codec.read(reader, command);
  return command as unknown as Command;
}

/** The JSON form: every field by name; what may pass 2^53 is text. */
export function describeCommand(command: Command): Record<string, unknown> {
  const { kind, timeUs } = command;
  const fields: Record<string, unknown> = { kind, timeUs };
  describeRecord(fields, schemaOf(command).body, command);
  return fields;
}
