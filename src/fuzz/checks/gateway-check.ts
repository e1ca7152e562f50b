/**
 * The gateway beside the exchange: each command as the request of its author must become the same
 * command again, and what the exchange accepts must not be refused. Reads are compared with the
 * exchange's views, page by page.
 */
import { sha256Hex } from '../../base/sha256.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Command, NewOrder } from '../../engine/commands.ts';
import type { Engine, ExchangeView } from '../../engine/read/views.ts';
import type { Outcome } from '../../engine/refusals.ts';
import type { Reply } from '../../gateway/context.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { TrustOrderIds } from '../../gateway/order-ids.ts';
import { describeCommand } from '../../journal/format/codec.ts';
import { priceTicks, subaccountId, type Address } from '../../num/units.ts';
import type { Checker, Violation } from '../checker.ts';
import { actOf } from '../report/request-form.ts';
import { betweenTicksFault, boundFault, readBoundFault } from './bounds.ts';
import { expectedRead, SYSTEM, type ExpectedRead } from './reads.ts';
import { differingField } from './differing-field.ts';
import { steps, type Fields } from './records.ts';
import { PreviewCheck } from './preview-check.ts';
import { rightsFault } from './rights.ts';
import {
  callerOf,
  opensGateway,
  sendRequest,
  type CallForm,
  type ReadOnlyGateway,
} from './request-command.ts';
import { unknownSubaccountFault, writeFault } from './write-rights.ts';

/** Replies of missing rights: a request of the fuzzer has no valid login for every account. */
const WITHOUT_RIGHTS: readonly number[] = [401, 403];
const MAX_PAGES = 80;

export function gatewayCheck(every: number): Checker {
  const turns = { reads: 0 };
  let opened: ReadOnlyGateway | null = null;
  let ids: TrustOrderIds | null = null;
  let refused: Reply | null = null;
  let isWhole = true;
  let fault: string | null = null;
  const previews = new PreviewCheck();
  const open = (engine: Engine): ReadOnlyGateway => {
    ids ??= new TrustOrderIds(engine, sha256Hex);
    opened ??= opensGateway(engine, sha256Hex, ids);
    return opened;
  };
  const read = (engine: Engine): Violation | null => {
    turns.reads += 1;
    const gateway = open(engine);
    gateway.nowUs = engine.nowUs;
    const wanted = expectedRead(engine, turns.reads);
    const found =
      (wanted === null ? null : readFault(gateway.gateway, engine, wanted)) ??
      otherFault(engine, turns.reads);
    return found === null ? null : broken(engine, found);
  };
  /** In turn: bounds of reads, and rights. */
  const otherFault = (engine: Engine, turn: number): string | null => {
    const [market] = engine.markets();
    if (market === undefined || engine.subaccountCount <= SYSTEM || ids === null) return null;
    const owner = subaccountId(SYSTEM + ((turn >> 1) % (engine.subaccountCount - SYSTEM)));
    const opened = open(engine);
    if (turn % 2 === 0) return rightsFault({ opened, engine, ids }, owner, turn >> 1);
    const { account, index } = engine.subaccount(owner);
    const fields = { account: engine.addressOf(account), subaccountIndex: index };
    return readBoundFault(opened, engine, market.spec.symbol, fields, turn >> 1);
  };
  const between = Math.max(1, every >> 6);
  const boundsOf = (engine: Engine, act: CallForm, command: Command): string | null => {
    if (command.kind === 'placeOrder' && (every === 1 || engine.seq % 4 === 0)) {
      const found = betweenTicksFault(open(engine), engine, act, command);
      if (found !== null) return found;
    }
    const count = every === 1 ? ALL_BOUNDS : engine.seq % 2;
    for (let i = 0; i < count; i += 1) {
      const found = boundFault(open(engine), engine, act, (engine.seq >> 1) + i);
      if (found !== null) return found;
    }
    return null;
  };
  return {
    onEvent: previews.observe,
    before: (engine, command) => {
      refused = null;
      fault = null;
      previews.clear();
      // A timer in between may change what the request is checked against.
      if (command.timeUs > engine.nowUs && engine.nextTimerUs() <= command.timeUs) return;
      const gateway = open(engine);
      gateway.nowUs = command.timeUs;
      const share = hasOriginator(command) ? PREVIEW_EVERY >> 3 : PREVIEW_EVERY;
      const previewed = every === 1 || engine.seq % share === 0;
      previews.operator(engine, command);
      const act = actOf(command, engine, (id) => {
        const order = engine.order(id);
        return order === undefined ? null : (ids?.digestOf(order) ?? null);
      });
      if (act.kind !== 'call' || hasNoOwnFeed(command, engine)) return;
      const result = sendRequest(gateway, engine, act);
      if ('command' in result) {
        const sent = withoutPrices(command, engine);
        const field = differing(sent, result.command, signsItself(engine, act));
        fault = field === null ? null : `${command.kind} of a request has ${field}`;
        fault ??= boundsOf(engine, act, result.command);
        // A request may leave out what has no effect, such as the price of a leg at market.
        if (previewed && isSame(command, result.command) && ids !== null) {
          previews.order(engine, command, act, callerOf(engine, act), ids);
        }
        const callers = every === 1 ? ALL_CALLERS : engine.seq % 2;
        for (let i = 0; i < callers; i += 1) {
          fault ??= writeFault(gateway, engine, act, (engine.seq >> 1) + i);
        }
        if (every === 1 || engine.seq % UNKNOWN_EVERY === 0) {
          fault ??= unknownSubaccountFault(gateway, engine, act, engine.seq);
        }
      } else if (
        !WITHOUT_RIGHTS.includes(result.reply.status) &&
        !isOwners(engine, command, act) &&
        !hasForeignLegs(command)
      ) {
        refused = result.reply;
        // A request without a price is not refused for that price.
        isWhole = isSame(withoutPrices(command, engine), command);
      }
    },
    after: (engine, command, outcome) => {
      fault ??= previews.fault(engine, outcome);
      if (fault !== null) return broken(engine, fault);
      const limit = refused === null ? null : limitOf(outcome);
      if (refused !== null && isWhole && limit !== null && !names(refused, limit)) {
        const text = JSON.stringify(refused.body);
        return broken(engine, `${command.kind} is refused by ${text}, not by ${limit.value}`);
      }
      if (refused !== null && outcome === 'ok') {
        const { status, body } = refused;
        return broken(engine, `${command.kind} is refused: ${String(status)} ${String(body)}`);
      }
      return engine.seq % between === 0 ? read(engine) : null;
    },
    end: (engine) => {
      const reads = every === 1 ? ALL_READS : END_READS;
      for (let i = 0; i < reads; i += 1) {
        const found = read(engine);
        if (found !== null) return found;
      }
      return null;
    },
  };
}

/** One order in so many is previewed; more of the few orders whose fees have two parts. */
const PREVIEW_EVERY = 16;

const hasOriginator = (command: Command): boolean =>
  'originator' in command && command.originator !== null;

const isSame = (one: Command, other: Command): boolean =>
  differingField(describeCommand(one), describeCommand(other)) === null;

/** Bounds of each request of a short run. */
const ALL_BOUNDS = 80;

/** Callers of each request of a short run. */
const ALL_CALLERS = 12;

/** One request in so many is sent for a subaccount that does not exist. */
const UNKNOWN_EVERY = 3;

/** Reads after the last command of a run; of a short one, every list in many ways. */
const END_READS = 60;
const ALL_READS = 1200;

/** The field in which a command from a request differs; null if there is none. */
function differing(command: Command, made: Command, asOwner: boolean): string | null {
  const [one, other] = [plainOf(command), plainOf(made)];
  if (one === null || other === null) return null;
  // A delegate that is also a signer of the account acts as its owner.
  return differingField(asOwner && isPlacing(command) ? { ...one, delegate: null } : one, other);
}

/** A request names a market by its feed, which no market has, or two share. */
function hasNoOwnFeed(command: Command, engine: ExchangeView): boolean {
  if (command.kind !== 'transfer' || command.market === null) return false;
  const feeds = engine.markets().map(({ spec }) => spec.feedId);
  return feeds.filter((feed) => feed === feeds[command.market ?? 0]).length !== 1;
}

/** A request attaches take-profit and stop-loss orders only: others are unknown fields of it. */
const hasForeignLegs = (command: Command): boolean =>
  command.kind === 'placeOrders' &&
  command.orders.some(
    ({ attached, orderType }) => attached && orderType !== 'takeProfit' && orderType !== 'stopLoss',
  );

const isPlacing = ({ kind }: Command): boolean =>
  kind === 'placeOrder' || kind === 'placeOrders' || kind === 'updateMargin';

const signsItself = (engine: ExchangeView, { account, signer }: CallForm): boolean =>
  signer === account || engine.signersOf(account).signers.includes(signer);

/** Whether a delegate's command is a request of the owner, whose nonces have another floor. */
const isOwners = (engine: ExchangeView, command: Command, act: CallForm): boolean =>
  'delegate' in command &&
  isPlacing(command) &&
  command.delegate !== null &&
  signsItself(engine, act);

/** A request has no price of an attached order that takes any price: the worst one is meant. */
function withoutPrices(command: Command, view: ExchangeView): Command {
  if (command.kind !== 'placeOrders') return command;
  const orders = command.orders.map((order) => {
    if (!order.attached || !order.ioc) return order;
    const market = view.markets()[order.market];
    // A request has one market: another one of a leg is no part of it.
    if (market === undefined) return order;
    return { ...order, priceTicks: priceTicks(order.lots < 0 ? 1 : market.spec.maxPriceTicks) };
  });
  return { ...command, orders };
}

/**
 * Comparable fields. A group of one is a single order. Attached protective orders are not compared
 * if they are not reduce-only.
 */
function plainOf(command: Command): Fields | null {
  if (command.kind !== 'placeOrder' && command.kind !== 'placeOrders') {
    return describeCommand(command);
  }
  const orders = command.kind === 'placeOrder' ? [command] : command.orders;
  if (command.kind === 'placeOrders' && isOddGroup(command.orders)) return null;
  return {
    kind: 'placeOrders',
    subaccount: command.subaccount,
    delegate: command.delegate,
    orders: orders.map((order) => orderFields(order as NewOrder)),
  };
}

/** Whether one submit cannot express a group with attached orders. */
function isOddGroup([first, ...legs]: readonly NewOrder[]): boolean {
  if (first === undefined || !legs.some(({ attached }) => attached)) return false;
  const types = new Set(legs.map(({ orderType }) => orderType));
  const isOdd = (leg: NewOrder): boolean =>
    !leg.attached ||
    !leg.reduceOnly ||
    leg.postOnly ||
    leg.lots + first.lots !== 0 ||
    leg.nonce !== first.nonce ||
    leg.market !== first.market ||
    leg.expiresAtMs !== first.expiresAtMs ||
    leg.periodMs !== null ||
    leg.trailingPpm !== null ||
    leg.parent !== null ||
    leg.originator !== null;
  return first.attached || types.size < legs.length || legs.some(isOdd);
}

function orderFields(order: NewOrder): Fields {
  return {
    market: order.market,
    orderType: order.orderType,
    lots: order.lots,
    priceTicks: order.priceTicks,
    ioc: order.ioc,
    postOnly: order.postOnly,
    reduceOnly: order.reduceOnly,
    nonce: order.nonce,
    expiresAtMs: order.expiresAtMs,
    clientId: order.clientId,
    originator: order.originator,
    originatorFeePpm: order.originatorFeePpm,
    triggerTicks: order.triggerTicks ?? null,
    trailingPpm: order.trailingPpm ?? null,
    periodMs: order.periodMs ?? null,
    parent: order.parent ?? null,
  };
}

interface Limit {
  readonly field: 'quantity' | 'price';
  /** Decimal text. */
  readonly value: string;
}

/** The limit that the reply to a refused request must name; null for none. */
function limitOf(outcome: Outcome): Limit | null {
  if (outcome === 'ok') return null;
  switch (outcome.code) {
    case 'quantity_below_minimum':
      return { field: 'quantity', value: steps(BigInt(outcome.minLots), outcome.lotSize) };
    case 'quantity_above_maximum':
      return { field: 'quantity', value: steps(BigInt(outcome.maxLots), outcome.lotSize) };
    case 'price_too_high':
      return { field: 'price', value: steps(BigInt(outcome.maxTicks), outcome.tickSize) };
    default:
      return null;
  }
}

/**
 * Whether an error about the field ends in its limit. A request with several faults may be refused
 * for another one than its command.
 */
function names({ body }: Reply, { field, value }: Limit): boolean {
  const text = String(body);
  return !text.toLowerCase().includes(field) || text.endsWith(` ${value}`);
}

function readFault(gateway: Gateway, engine: ExchangeView, wanted: ExpectedRead): string | null {
  const { endpoint, request, expected, pageOf } = wanted;
  const account = wanted.as ?? ((request['account'] ?? engine.config.clsAccount) as Address);
  const [signer = account] = engine.signersOf(account).signers;
  const handle = (fields: Fields): Reply => gateway.handle(endpoint, fields, { account, signer });
  const where = `${endpoint} ${JSON.stringify(request)}`;
  if (pageOf === null) {
    const { status, body } = handle(request);
    if (WITHOUT_RIGHTS.includes(status)) return null;
    if (status !== 200) return `${where} is refused: ${String(status)} ${String(body)}`;
    const differs = differingField(expected, body, 'body');
    return differs === null ? null : `${where}: ${differs}`;
  }
  const entries: unknown[] = [];
  const { length } = expected as readonly unknown[];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const asked: Fields = { ...request, limit: pageOf, ...(cursor === null ? {} : { cursor }) };
    const { status, body, page: info } = handle(asked);
    if (WITHOUT_RIGHTS.includes(status)) return null;
    if (status !== 200) return `${where} is refused: ${String(status)} ${String(body)}`;
    if (wanted.keptSinceMs !== undefined && info?.keptSinceMs !== wanted.keptSinceMs) {
      const [found, kept] = [String(info?.keptSinceMs), String(wanted.keptSinceMs)];
      return `${where} says that ${found} is the start of what is kept, not ${kept}`;
    }
    const list = entriesOf(body);
    if (list.length > pageOf) return `${where}: a page has ${String(list.length)} entries`;
    if (list.length === 0 && cursor !== null) return `${where}: a cursor leads to an empty page`;
    if (wanted.backward === true) entries.unshift(...list);
    else entries.push(...list);
    cursor = info?.next ?? null;
    if (page === 0 && cursor !== null && hasRange(endpoint)) {
      const other = { ...request, from: Number(request['from'] ?? 0) + 1, limit: pageOf, cursor };
      const reply = handle(other);
      if (reply.status !== 400) return `${where}: its cursor is accepted from another time on`;
    }
    if (cursor === null || entries.length >= length + pageOf) break;
  }
  const part = wanted.backward === true ? entries.slice(-length) : entries.slice(0, length);
  const differs = differingField(expected, wanted.partial === true ? part : entries, 'pages');
  return differs === null ? null : `${where} in pages of ${String(pageOf)}: ${differs}`;
}

/** Whether a list takes a range of time: another one does not take its cursor. */
const hasRange = (endpoint: EndpointId): boolean =>
  ['getTransfers', 'getClsHistory', 'getTrades', 'getCandles'].includes(endpoint);

/** The entries of a page; orders come in two lists. */
function entriesOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body as readonly unknown[];
  const { bids, asks } = body as Readonly<Record<'bids' | 'asks', readonly unknown[]>>;
  return [...bids, ...asks];
}

function broken({ seq }: Engine, what: string): Violation {
  return {
    invariant: 'gateway',
    rule: 'R-11.1',
    says: 'requests become the commands of their authors, and replies show the state',
    detail: `after command ${String(seq)}: ${what}`,
  };
}
