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
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
  type AccountId,
  type Address,
  type MarketId,
  type OrderId,
  type PriceTicks,
  type TimeUs,
} from '../../num/units.ts';
import { archiveSpec } from '../../engine/config-archive.ts';
import { ArchiveReader, ArchiveWriter } from '../../base/archive.ts';
import { must, unreachable } from '../../base/assert.ts';
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
  TapeDepth,
  TapeLevel,
  TapeSnapshot,
  TapeTrade,
  Transfer,
  Withdraw,
} from '../../engine/commands.ts';
import type { MarketSpec, SelfTradeMode } from '../../engine/config.ts';
import { BytesError, type ByteReader, type ByteWriter } from './bytes.ts';

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
};

/** What a command's fields are passed through. Names serve the JSON form and error messages. */
interface FieldIo {
  uint(name: string, value: number): number;
  int(name: string, value: number): number;
  i64(name: string, value: bigint): bigint;
  bool(name: string, value: boolean): boolean;
  text(name: string, value: string): string;
  optionalUint(name: string, value: number | null): number | null;
  optionalText(name: string, value: string | null): string | null;
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

function listMarket(io: FieldIo, atUs: TimeUs, c: ListMarket | null): ListMarket {
  return { kind: 'listMarket', timeUs: atUs, spec: io.spec('spec', c?.spec ?? null) };
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

const ANY_TIME = timeUs(0);
const NOBODY = address('');

const EMPTY_ORDER: NewOrder = {
  market: marketId(0),
  orderType: 'limit',
  lots: lots(0),
  priceTicks: priceTicks(0),
  ioc: false,
  postOnly: false,
  reduceOnly: false,
  nonce: 0n,
  expiresAtMs: 0n,
  clientId: null,
  originator: null,
  originatorFeePpm: ppm(0),
  triggerTicks: null,
  trailingPpm: null,
  periodMs: null,
  parent: null,
  attached: false,
};

/** Stand-ins whose values a reader ignores. */
const EMPTY = {
  placeOrder: {
    kind: 'placeOrder',
    timeUs: ANY_TIME,
    subaccount: subaccountId(0),
    market: marketId(0),
    orderType: 'limit',
    lots: lots(0),
    priceTicks: priceTicks(0),
    ioc: false,
    postOnly: false,
    reduceOnly: false,
    nonce: 0n,
    expiresAtMs: 0n,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  } satisfies PlaceOrder,
  placeOrders: {
    kind: 'placeOrders',
    timeUs: ANY_TIME,
    subaccount: subaccountId(0),
    delegate: null,
    orders: [],
  } satisfies PlaceOrders,
  cancelOrder: {
    kind: 'cancelOrder',
    timeUs: ANY_TIME,
    orderId: orderId(0),
  } satisfies CancelOrder,
  tapeDepth: {
    kind: 'tapeDepth',
    timeUs: ANY_TIME,
    market: marketId(0),
    levels: [],
  } satisfies TapeDepth,
  tapeTrade: {
    kind: 'tapeTrade',
    timeUs: ANY_TIME,
    market: marketId(0),
    priceTicks: priceTicks(0),
    lots: lots(0),
  } satisfies TapeTrade,
  setIndex: {
    kind: 'setIndex',
    timeUs: ANY_TIME,
    market: marketId(0),
    priceTicks: priceTicks(0),
    text: '',
  } satisfies SetIndex,
  setMark: {
    kind: 'setMark',
    timeUs: ANY_TIME,
    market: marketId(0),
    priceTicks: priceTicks(0),
  } satisfies SetMark,
  cancelAll: {
    kind: 'cancelAll',
    timeUs: ANY_TIME,
    subaccount: subaccountId(0),
    market: null,
  } satisfies CancelAll,
  deposit: {
    kind: 'deposit',
    timeUs: ANY_TIME,
    account: NOBODY,
    subaccountIndex: 0,
    amount: quanta(0n),
  } satisfies Deposit,
  withdraw: {
    kind: 'withdraw',
    timeUs: ANY_TIME,
    account: NOBODY,
    subaccountIndex: 0,
    amount: quanta(0n),
  } satisfies Withdraw,
  transfer: {
    kind: 'transfer',
    timeUs: ANY_TIME,
    from: NOBODY,
    fromIndex: 0,
    to: NOBODY,
    toIndex: 0,
    amount: quanta(0n),
    market: null,
    signer: NOBODY,
    nonce: 0n,
    expiresAtMs: 0n,
  } satisfies Transfer,
  setSelfTradeMode: {
    kind: 'setSelfTradeMode',
    timeUs: ANY_TIME,
    account: NOBODY,
    mode: null,
  } satisfies SetSelfTradeMode,
  tapeSnapshot: {
    kind: 'tapeSnapshot',
    timeUs: ANY_TIME,
    market: marketId(0),
    levels: [],
  } satisfies TapeSnapshot,
} as const;

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
    case 'listMarket':
      listMarket(io, command.timeUs, command);
      return;
    default:
      unreachable(command);
  }
}

/** Appends the tag and the fields of a command; its time is in the frame. */
export function encodeCommand(writer: ByteWriter, command: Command): void {
  writer.u8(COMMAND_TAGS[command.kind]);
  passFields(new FieldWriter(writer), command);
}

/** Reads what `encodeCommand` wrote. Throws `BytesError`. */
export function decodeCommand(reader: ByteReader, atUs: TimeUs): Command {
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
    case COMMAND_TAGS.listMarket:
      return listMarket(io, atUs, null);
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

class FieldWriter implements FieldIo {
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
    this.out.u8(value === null ? 0 : 1);
    if (value !== null) this.out.text(value);
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

class FieldReader implements FieldIo {
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
    const byte = this.source.u8();
    if (byte > 1) throw new BytesError(this.source.at - 1, `${name} is neither 0 nor 1`);
    return byte === 1;
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
  levels(name: string, _value: readonly TapeLevel[]): readonly TapeLevel[] {
    const length = this.source.uint();
    if (length > this.source.end - this.source.at) {
      throw new BytesError(this.source.at, `${name} has more entries than its frame has bytes`);
    }
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
    const length = this.source.uint();
    if (length > this.source.end - this.source.at) {
      throw new BytesError(this.source.at, `${name} has more entries than its frame has bytes`);
    }
    const entries: T[] = [];
    for (let i = 0; i < length; i++) entries.push(pass(this, empty));
    return entries;
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

class FieldDescriber implements FieldIo {
  private readonly fields: Record<string, unknown>;
  constructor(fields: Record<string, unknown>) {
    this.fields = fields;
  }
  uint(name: string, value: number): number {
    this.fields[name] = name === 'orderType' ? ORDER_TYPES[value] : value;
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
