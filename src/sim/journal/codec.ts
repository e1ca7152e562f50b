/**
 * Commands as bytes (DESIGN §10). One function a kind names its fields once, in order; run over a writer it encodes,
 * over a reader it decodes into an object of the engine's own shape, over a describer it yields the JSON form. Each kind has a
 * tag byte; tags and field orders are append-only, since journals outlive programs.
 */
import {
  address,
  lots,
  marketId,
  orderId,
  ppb,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  type AccountId,
  type Address,
  type MarketId,
  type OrderId,
  type PriceTicks,
  type TimeUs,
} from '../../num/units.ts';
import { unreachable } from '../../base/assert.ts';
import { ORDER_TYPES } from '../../engine/book/order-table.ts';
import type {
  CancelAll,
  CancelOrder,
  Command,
  CommandKind,
  Deposit,
  ListMarket,
  NewOrder,
  PlaceOrder,
  PlaceOrders,
  SetIndex,
  SetMark,
  SetSelfTradeMode,
  SettleFunding,
  TapeBar,
  TapeDepth,
  TapeL3,
  TapeSnapshot,
  TapeTrade,
  Transfer,
  UpdateDelegate,
  UpdateMargin,
  UpdateSigners,
  Withdraw,
} from '../../engine/commands.ts';
import type { SelfTradeMode } from '../../engine/config.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../../engine/tape/hash-tape.ts';
import { BytesError, type ByteReader, type ByteWriter } from './bytes.ts';
import {
  readCancelOrder,
  readPlaceOrder,
  writeCancelOrder,
  writePlaceOrder,
} from './order-codec.ts';
import { EMPTY, EMPTY_ORDER } from './empty-commands.ts';
import { FieldDescriber, FieldReader, FieldWriter, type FieldIo } from './field-io.ts';

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
};

function placeOrder(io: FieldIo, atUs: TimeUs, c: PlaceOrder): PlaceOrder {
  return {
    kind: 'placeOrder',
    timeUs: atUs,
    subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
    market: marketId(io.uint('market', c.market)),
    orderType: onlyLimit(io.uint('orderType', ORDER_TYPES.indexOf(c.orderType))),
    lots: lots(io.int('lots', c.lots)),
    priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
    ioc: io.bool('ioc', c.ioc),
    postOnly: io.bool('postOnly', c.postOnly),
    reduceOnly: io.bool('reduceOnly', c.reduceOnly),
    nonce: io.i64('nonce', c.nonce),
    expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
    delegate: io.optionalUint('delegate', c.delegate) as AccountId | null,
    clientId: io.optionalText('clientId', c.clientId),
    originator: io.optionalText('originator', c.originator) as Address | null,
    originatorFeePpm: ppm(io.uint('originatorFeePpm', c.originatorFeePpm)),
  };
}

function placeOrders(io: FieldIo, atUs: TimeUs, c: PlaceOrders): PlaceOrders {
  return {
    kind: 'placeOrders',
    timeUs: atUs,
    subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
    delegate: io.optionalUint('delegate', c.delegate) as AccountId | null,
    orders: io.list('orders', c.orders, EMPTY_ORDER, newOrder),
  };
}

function newOrder(io: FieldIo, c: NewOrder): NewOrder {
  return {
    market: marketId(io.uint('market', c.market)),
    orderType: orderTypeAt(io.uint('orderType', ORDER_TYPES.indexOf(c.orderType))),
    lots: lots(io.int('lots', c.lots)),
    priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
    ioc: io.bool('ioc', c.ioc),
    postOnly: io.bool('postOnly', c.postOnly),
    reduceOnly: io.bool('reduceOnly', c.reduceOnly),
    nonce: io.i64('nonce', c.nonce),
    expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
    clientId: io.optionalText('clientId', c.clientId),
    originator: io.optionalText('originator', c.originator) as Address | null,
    originatorFeePpm: ppm(io.uint('originatorFeePpm', c.originatorFeePpm)),
    triggerTicks: io.optionalUint('triggerTicks', c.triggerTicks) as PriceTicks | null,
    trailingPpm: io.optionalUint('trailingPpm', c.trailingPpm),
    periodMs: io.bool('timed', c.periodMs !== null) ? io.i64('periodMs', c.periodMs ?? 0n) : null,
    parent: io.optionalUint('parent', c.parent) as OrderId | null,
    attached: io.bool('attached', c.attached),
  };
}

function cancelOrder(io: FieldIo, atUs: TimeUs, c: CancelOrder): CancelOrder {
  return {
    kind: 'cancelOrder',
    timeUs: atUs,
    orderId: orderId(io.uint('orderId', c.orderId)),
  };
}

function tapeDepth(io: FieldIo, atUs: TimeUs, c: TapeDepth): TapeDepth {
  return {
    kind: 'tapeDepth',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    levels: io.levels('levels', c.levels),
  };
}

function tapeTrade(io: FieldIo, atUs: TimeUs, c: TapeTrade): TapeTrade {
  return {
    kind: 'tapeTrade',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
    lots: lots(io.int('lots', c.lots)),
  };
}

function setIndex(io: FieldIo, atUs: TimeUs, c: SetIndex): SetIndex {
  return {
    kind: 'setIndex',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
    text: io.text('text', c.text),
  };
}

function setMark(io: FieldIo, atUs: TimeUs, c: SetMark): SetMark {
  return {
    kind: 'setMark',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
  };
}

function cancelAll(io: FieldIo, atUs: TimeUs, c: CancelAll): CancelAll {
  return {
    kind: 'cancelAll',
    timeUs: atUs,
    subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
    market: io.optionalUint('market', c.market) as MarketId | null,
  };
}

function deposit(io: FieldIo, atUs: TimeUs, c: Deposit): Deposit {
  return {
    kind: 'deposit',
    timeUs: atUs,
    account: address(io.text('account', c.account)),
    subaccountIndex: io.uint('subaccountIndex', c.subaccountIndex),
    amount: quanta(io.i64('amount', c.amount)),
  };
}

function withdraw(io: FieldIo, atUs: TimeUs, c: Withdraw): Withdraw {
  return {
    kind: 'withdraw',
    timeUs: atUs,
    account: address(io.text('account', c.account)),
    subaccountIndex: io.uint('subaccountIndex', c.subaccountIndex),
    amount: quanta(io.i64('amount', c.amount)),
  };
}

function transfer(io: FieldIo, atUs: TimeUs, c: Transfer): Transfer {
  return {
    kind: 'transfer',
    timeUs: atUs,
    from: address(io.text('from', c.from)),
    fromIndex: io.uint('fromIndex', c.fromIndex),
    to: address(io.text('to', c.to)),
    toIndex: io.uint('toIndex', c.toIndex),
    amount: quanta(io.i64('amount', c.amount)),
    market: io.optionalUint('market', c.market) as MarketId | null,
    signer: address(io.text('signer', c.signer)),
    nonce: io.i64('nonce', c.nonce),
    expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
  };
}

function setSelfTradeMode(io: FieldIo, atUs: TimeUs, c: SetSelfTradeMode): SetSelfTradeMode {
  return {
    kind: 'setSelfTradeMode',
    timeUs: atUs,
    account: address(io.text('account', c.account)),
    mode: io.optionalUint('mode', c.mode) as SelfTradeMode | null,
  };
}

function tapeSnapshot(io: FieldIo, atUs: TimeUs, c: TapeSnapshot): TapeSnapshot {
  return {
    kind: 'tapeSnapshot',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    levels: io.levels('levels', c.levels),
  };
}

function tapeBar(io: FieldIo, atUs: TimeUs, c: TapeBar): TapeBar {
  return {
    kind: 'tapeBar',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    openTicks: priceTicks(io.uint('openTicks', c.openTicks)),
    highTicks: priceTicks(io.uint('highTicks', c.highTicks)),
    lowTicks: priceTicks(io.uint('lowTicks', c.lowTicks)),
    closeTicks: priceTicks(io.uint('closeTicks', c.closeTicks)),
    volumeLots: lots(io.uint('volumeLots', c.volumeLots)),
    quoteTicks: priceTicks(io.uint('quoteTicks', c.quoteTicks)),
    spreadTicks: io.uint('spreadTicks', c.spreadTicks),
    depthLots: lots(io.uint('depthLots', c.depthLots)),
    path: wordAt('bar path', BAR_PATHS, io.uint('path', BAR_PATHS.indexOf(c.path))),
    fill: wordAt('bar fill', BAR_FILLS, io.uint('fill', BAR_FILLS.indexOf(c.fill))),
  };
}

function tapeL3(io: FieldIo, atUs: TimeUs, c: TapeL3): TapeL3 {
  return {
    kind: 'tapeL3',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    action: wordAt(
      'order action',
      TAPE_L3_ACTIONS,
      io.uint('action', TAPE_L3_ACTIONS.indexOf(c.action)),
    ),
    ref: io.uint('ref', c.ref),
    side: io.bool('bid', c.side === 'bid') ? 'bid' : 'ask',
    priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
    lots: lots(io.uint('lots', c.lots)),
  };
}

function wordAt<T extends string>(what: string, words: readonly T[], index: number): T {
  const word = words[index];
  if (word === undefined) throw new BytesError(0, `${what} ${String(index)} is not known`);
  return word;
}

function listMarket(io: FieldIo, atUs: TimeUs, c: ListMarket | null): ListMarket {
  return { kind: 'listMarket', timeUs: atUs, spec: io.spec('spec', c?.spec ?? null) };
}

function updateMargin(io: FieldIo, atUs: TimeUs, c: UpdateMargin): UpdateMargin {
  return {
    kind: 'updateMargin',
    timeUs: atUs,
    subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
    market: marketId(io.uint('market', c.market)),
    isolated: io.bool('isolated', c.isolated),
    marginPpm: ppm(io.uint('marginPpm', c.marginPpm)),
    nonce: io.i64('nonce', c.nonce),
    expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
    delegate: io.optionalUint('delegate', c.delegate) as AccountId | null,
  };
}

function updateDelegate(io: FieldIo, atUs: TimeUs, c: UpdateDelegate): UpdateDelegate {
  return {
    kind: 'updateDelegate',
    timeUs: atUs,
    account: address(io.text('account', c.account)),
    subaccountIndex: io.uint('subaccountIndex', c.subaccountIndex),
    delegate: address(io.text('delegate', c.delegate)),
    delegated: io.bool('delegated', c.delegated),
    nonce: io.i64('nonce', c.nonce),
    expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
  };
}

function updateSigners(io: FieldIo, atUs: TimeUs, c: UpdateSigners): UpdateSigners {
  return {
    kind: 'updateSigners',
    timeUs: atUs,
    account: address(io.text('account', c.account)),
    signers: io.texts('signers', c.signers).map(address),
    quorum: io.uint('quorum', c.quorum),
    nonce: io.i64('nonce', c.nonce),
    expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
  };
}

function settleFunding(io: FieldIo, atUs: TimeUs, c: SettleFunding): SettleFunding {
  return {
    kind: 'settleFunding',
    timeUs: atUs,
    market: marketId(io.uint('market', c.market)),
    ratePpb: ppb(io.int('ratePpb', c.ratePpb)),
  };
}

function onlyLimit(index: number): 'limit' {
  const type = orderTypeAt(index);
  if (type !== 'limit') throw new BytesError(0, `a ${type} order comes in a group`);
  return type;
}

function orderTypeAt(index: number): NewOrder['orderType'] {
  const type = ORDER_TYPES[index];
  if (type === undefined) throw new BytesError(0, `order type ${String(index)} is not known`);
  return type;
}

const TAG_PLACE_ORDER = COMMAND_TAGS.placeOrder;
const TAG_CANCEL_ORDER = COMMAND_TAGS.cancelOrder;

/** Passes a command's fields through `io` in their order. */
function passFields(io: FieldIo, command: Command): void {
  switch (command.kind) {
    case 'placeOrder':
      placeOrder(io, command.timeUs, command);
      return;
    case 'placeOrders':
      placeOrders(io, command.timeUs, command);
      return;
    case 'cancelOrder':
      cancelOrder(io, command.timeUs, command);
      return;
    case 'advanceTime':
      return;
    case 'tapeDepth':
      tapeDepth(io, command.timeUs, command);
      return;
    case 'tapeTrade':
      tapeTrade(io, command.timeUs, command);
      return;
    case 'setIndex':
      setIndex(io, command.timeUs, command);
      return;
    case 'setMark':
      setMark(io, command.timeUs, command);
      return;
    case 'cancelAll':
      cancelAll(io, command.timeUs, command);
      return;
    case 'deposit':
      deposit(io, command.timeUs, command);
      return;
    case 'withdraw':
      withdraw(io, command.timeUs, command);
      return;
    case 'transfer':
      transfer(io, command.timeUs, command);
      return;
    case 'setSelfTradeMode':
      setSelfTradeMode(io, command.timeUs, command);
      return;
    case 'tapeSnapshot':
      tapeSnapshot(io, command.timeUs, command);
      return;
    case 'tapeGap':
      io.uint('market', command.market);
      return;
    case 'tapeBar':
      tapeBar(io, command.timeUs, command);
      return;
    case 'tapeL3':
      tapeL3(io, command.timeUs, command);
      return;
    case 'listMarket':
      listMarket(io, command.timeUs, command);
      return;
    case 'updateMargin':
      updateMargin(io, command.timeUs, command);
      return;
    case 'updateDelegate':
      updateDelegate(io, command.timeUs, command);
      return;
    case 'updateSigners':
      updateSigners(io, command.timeUs, command);
      return;
    case 'settleFunding':
      settleFunding(io, command.timeUs, command);
      return;
    default:
      unreachable(command);
  }
}

/** Appends the tag and the fields of a command; its time is in the frame. */
export function encodeCommand(writer: ByteWriter, command: Command): void {
  if (command.kind === 'placeOrder') writePlaceOrder(writer, TAG_PLACE_ORDER, command);
  else if (command.kind === 'cancelOrder') writeCancelOrder(writer, TAG_CANCEL_ORDER, command);
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
  if (tag === TAG_CANCEL_ORDER) return readCancelOrder(reader, atUs);
  if (tag === TAG_PLACE_ORDER) {
    const order = readPlaceOrder(reader, atUs);
    if (order !== null) return order;
  }
  reader.at = start;
  return decodeByFields(reader, atUs);
}

/** The same by the functions above, for every kind. */
export function decodeByFields(reader: ByteReader, atUs: TimeUs): Command {
  const start = reader.at;
  const tag = reader.u8();
  const io = new FieldReader(reader);
  switch (tag) {
    case COMMAND_TAGS.placeOrder:
      return placeOrder(io, atUs, EMPTY.placeOrder);
    case COMMAND_TAGS.placeOrders:
      return placeOrders(io, atUs, EMPTY.placeOrders);
    case COMMAND_TAGS.cancelOrder:
      return cancelOrder(io, atUs, EMPTY.cancelOrder);
    case COMMAND_TAGS.advanceTime:
      return { kind: 'advanceTime', timeUs: atUs };
    case COMMAND_TAGS.tapeDepth:
      return tapeDepth(io, atUs, EMPTY.tapeDepth);
    case COMMAND_TAGS.tapeTrade:
      return tapeTrade(io, atUs, EMPTY.tapeTrade);
    case COMMAND_TAGS.setIndex:
      return setIndex(io, atUs, EMPTY.setIndex);
    case COMMAND_TAGS.setMark:
      return setMark(io, atUs, EMPTY.setMark);
    case COMMAND_TAGS.cancelAll:
      return cancelAll(io, atUs, EMPTY.cancelAll);
    case COMMAND_TAGS.deposit:
      return deposit(io, atUs, EMPTY.deposit);
    case COMMAND_TAGS.withdraw:
      return withdraw(io, atUs, EMPTY.withdraw);
    case COMMAND_TAGS.transfer:
      return transfer(io, atUs, EMPTY.transfer);
    case COMMAND_TAGS.setSelfTradeMode:
      return setSelfTradeMode(io, atUs, EMPTY.setSelfTradeMode);
    case COMMAND_TAGS.tapeSnapshot:
      return tapeSnapshot(io, atUs, EMPTY.tapeSnapshot);
    case COMMAND_TAGS.tapeGap:
      return { kind: 'tapeGap', timeUs: atUs, market: marketId(io.uint('market', 0)) };
    case COMMAND_TAGS.tapeBar:
      return tapeBar(io, atUs, EMPTY.tapeBar);
    case COMMAND_TAGS.tapeL3:
      return tapeL3(io, atUs, EMPTY.tapeL3);
    case COMMAND_TAGS.listMarket:
      return listMarket(io, atUs, null);
    case COMMAND_TAGS.updateMargin:
      return updateMargin(io, atUs, EMPTY.updateMargin);
    case COMMAND_TAGS.updateDelegate:
      return updateDelegate(io, atUs, EMPTY.updateDelegate);
    case COMMAND_TAGS.updateSigners:
      return updateSigners(io, atUs, EMPTY.updateSigners);
    case COMMAND_TAGS.settleFunding:
      return settleFunding(io, atUs, EMPTY.settleFunding);
    default:
      throw new BytesError(start, `command tag ${String(tag)} is not known to this version`);
  }
}

/** The JSON form: every field by name; what may pass 2^53 is text. */
export function describeCommand(command: Command): Record<string, unknown> {
  const fields: Record<string, unknown> = { kind: command.kind, timeUs: command.timeUs };
  passFields(new FieldDescriber(fields), command);
  return fields;
}
