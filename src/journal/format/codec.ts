/**
 * Commands as bytes (DESIGN §10). One function a kind names its fields once, in order (`*-fields.ts`); run over a writer it encodes,
 * over a reader it decodes into an object of the engine's own shape, over a describer it yields the JSON form. Each kind has a
 * tag byte; tags and field orders are append-only, since journals outlive programs.
 */
import { must } from '../../base/assert.ts';
import type { Command, CommandKind, ListMarket, SetMarketTerms } from '../../engine/commands.ts';
import type { TimeUs } from '../../num/units.ts';
import * as account from './account-fields.ts';
import { writeTapeBar } from './bar-codec.ts';
import { BytesError, type ByteReader, type ByteWriter } from './bytes.ts';
import {
  FieldDescriber,
  FieldReader,
  FieldWriter,
  type CommandFields,
  type FieldIo,
} from './field-io.ts';
import * as market from './market-fields.ts';
import {
  readCancelOrder,
  readPlaceOrder,
  writeCancelOrder,
  writePlaceOrder,
} from './order-codec.ts';
import * as order from './order-fields.ts';
import * as tape from './tape-fields.ts';

/** Append-only: a tag is never given to another kind. */
export const COMMAND_TAGS: Readonly<Record<CommandKind, number>> = {
  placeOrder: 1,
  cancelOrder: 2,
  advanceTime: 3,
  tapeDepth: 4,
  tapeTrade: 5,
  setIndex: 6,
  setMark: 7,
  cancelAll: 8,
  deposit: 9,
  withdraw: 10,
  transfer: 11,
  setSelfTradeMode: 12,
  tapeSnapshot: 13,
  tapeGap: 14,
  listMarket: 15,
  placeOrders: 16,
  updateMargin: 17,
  updateDelegate: 18,
  updateSigners: 19,
  settleFunding: 20,
  tapeBar: 21,
  tapeL3: 22,
  setMarketTerms: 23,
  setMarketStatus: 24,
  delistMarket: 25,
};

/** Nothing stands in for a market's spec. */
type FieldsOf = {
  readonly [Kind in Exclude<CommandKind, 'listMarket' | 'setMarketTerms'>]: CommandFields<
    Extract<Command, { kind: Kind }>
  >;
} & {
  readonly listMarket: CommandFields<ListMarket, null>;
  readonly setMarketTerms: CommandFields<SetMarketTerms, null>;
};
export const COMMAND_FIELDS: FieldsOf = {
  placeOrder: order.placeOrder,
  placeOrders: order.placeOrders,
  cancelOrder: order.cancelOrder,
  cancelAll: order.cancelAll,
  deposit: account.deposit,
  withdraw: account.withdraw,
  transfer: account.transfer,
  setSelfTradeMode: account.setSelfTradeMode,
  updateMargin: account.updateMargin,
  updateDelegate: account.updateDelegate,
  updateSigners: account.updateSigners,
  listMarket: market.listMarket,
  setIndex: market.setIndex,
  setMark: market.setMark,
  settleFunding: market.settleFunding,
  setMarketTerms: market.setMarketTerms,
  setMarketStatus: market.setMarketStatus,
  delistMarket: market.delistMarket,
  advanceTime: market.advanceTime,
  tapeDepth: tape.tapeDepth,
  tapeTrade: tape.tapeTrade,
  tapeSnapshot: tape.tapeSnapshot,
  tapeGap: tape.tapeGap,
  tapeBar: tape.tapeBar,
  tapeL3: tape.tapeL3,
};

/** By tag. */
const BY_TAG: (CommandFields<Command> | undefined)[] = [];
for (const [kind, tag] of Object.entries(COMMAND_TAGS)) {
  BY_TAG[tag] = COMMAND_FIELDS[kind as CommandKind] as CommandFields<Command>;
}

const TAG_PLACE_ORDER = COMMAND_TAGS.placeOrder;
const TAG_CANCEL_ORDER = COMMAND_TAGS.cancelOrder;
const TAG_TAPE_BAR = COMMAND_TAGS.tapeBar;

/** Passes a command's fields through `io` in their order. */
function passFields(io: FieldIo, command: Command): void {
  const fields = must(BY_TAG[COMMAND_TAGS[command.kind]], 'every kind has fields');
  fields.pass(io, command.timeUs, command);
}

/** Appends the tag and the fields of a command; its time is in the frame. */
export function encodeCommand(writer: ByteWriter, command: Command): void {
  if (command.kind === 'placeOrder') writePlaceOrder(writer, TAG_PLACE_ORDER, command);
  else if (command.kind === 'cancelOrder') writeCancelOrder(writer, TAG_CANCEL_ORDER, command);
  else if (command.kind === 'tapeBar') writeTapeBar(writer, TAG_TAPE_BAR, command);
  else encodeByFields(writer, command);
}

/** The same by the functions above, for every kind. */
export function encodeByFields(writer: ByteWriter, command: Command): void {
  writer.u8(COMMAND_TAGS[command.kind]);
  passFields(new FieldWriter(writer), command);
}

/** Reads what `encodeCommand` wrote. Throws `BytesError`. */
export function decodeCommand(reader: ByteReader, atUs: TimeUs): Command {
  const start = reader.at;
  const tag = reader.u8();
  if (tag === TAG_CANCEL_ORDER) {
    const cancel = { ...COMMAND_FIELDS.cancelOrder.empty };
    readCancelOrder(reader, atUs, cancel);
    return cancel;
  }
  if (tag === TAG_PLACE_ORDER) {
    const placed = { ...COMMAND_FIELDS.placeOrder.empty };
    if (readPlaceOrder(reader, atUs, placed)) return placed;
  }
  reader.at = start;
  return decodeByFields(reader, atUs);
}

/** The same by the functions above, for every kind. */
export function decodeByFields(reader: ByteReader, atUs: TimeUs): Command {
  const start = reader.at;
  const tag = reader.u8();
  const io = new FieldReader(reader);
  const fields = BY_TAG[tag];
  if (fields === undefined) {
    throw new BytesError(start, `command tag ${String(tag)} is not known to this version`);
  }
  return fields.pass(io, atUs, fields.empty);
}

/** The JSON form: every field by name; what may pass 2^53 is text. */
export function describeCommand(command: Command): Record<string, unknown> {
  const fields: Record<string, unknown> = { kind: command.kind, timeUs: command.timeUs };
  passFields(new FieldDescriber(fields), command);
  return fields;
}
