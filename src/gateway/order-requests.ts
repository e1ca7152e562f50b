/**
 * Reads and cancels orders (contract, "Orders"). GET finds an ended order, DELETE does not
 * . A caller without access to a subaccount finds none of its orders.
 */
import type { EndpointId } from '../contract/endpoints.ts';
import { invalidField, MESSAGES } from '../contract/messages.ts';
import { ORDER_TYPE_WORDS } from '../contract/words.ts';
import type { OrderType } from '../engine/commands.ts';
import type { OrderStatus, OrderView } from '../engine/read/views.ts';
import type { Address } from '../num/units.ts';
import { mustAct, rightsOf, subaccountOrEmpty, type Rights } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { encodeOrder } from './encode.ts';
import { Fields } from './fields.ts';
import { mustSucceed } from './refusal-reply.ts';
import { retentionStart, Page, Paging } from './paging.ts';
import { RequestError } from './request-error.ts';
import { must } from '../base/assert.ts';

const MAX_BATCH_CANCEL = 500;
const LIVE: readonly OrderStatus[] = ['new', 'partiallyFilled', 'pending'];

export function getOrder(context: Context, input: unknown, caller: Caller): unknown {
  return encodeOrder(context.engine, context.ids, findOrder(context, 'getOrder', input, caller));
}

export function cancelOrder(context: Context, input: unknown, caller: Caller): unknown {
  const order = findOrder(context, 'cancelOrder', input, caller);
  return encodeOrder(context.engine, context.ids, cancelOne(context, order));
}

/** POST /account/orders/cancel: cancels each order independently. */
export function cancelOrders(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'clientIds', 'orderIds'], false);
  const account = fields.has('account')
    ? fields.address('account', context.keccak)
    : caller.account;
  const clientIds = fields.has('clientIds') ? fields.texts('clientIds', MAX_BATCH_CANCEL) : [];
  const orderIds = fields.has('orderIds') ? fields.texts('orderIds', MAX_BATCH_CANCEL) : [];
  const rights = mustAct(context, 'cancelOrders', caller, account, null);
  const cancelled: unknown[] = [];
  const failed: { clientId: string; orderId: string; reason: string }[] = [];
  const attempt = (clientId: string, orderId: string, find: () => OrderView | undefined): void => {
    const order = find();
    if (
      order === undefined ||
      !isOf(context, order, account, rights) ||
      !LIVE.includes(order.status)
    ) {
      failed.push({ clientId, orderId, reason: MESSAGES.orderNotFound.message });
      return;
    }
    cancelled.push(encodeOrder(context.engine, context.ids, cancelOne(context, order)));
  };
  for (const text of orderIds) {
    const digest = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1]?.toLowerCase();
    attempt('', text, () => (digest === undefined ? undefined : context.ids.find(digest)));
  }
  const id = context.engine.accountIdOf(account);
  for (const text of clientIds) {
    attempt(text, '', () =>
      id === undefined ? undefined : context.engine.liveOrderByClientId(id, text),
    );
  }
  return { cancelled, failed };
}

export function cancelAllOrders(context: Context, input: unknown, caller: Caller): unknown {
  const fields = new Fields(input, ['account', 'subaccountIndex', 'symbol'], true);
  const account = fields.address('account', context.keccak);
  const index = fields.subaccountIndex('subaccountIndex');
  const symbol = fields.has('symbol') ? fields.symbol('symbol') : null;
  const market = symbol === null ? null : context.engine.marketIdOf(symbol);
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  mustAct(context, 'cancelAllOrders', caller, account, index);
  const subaccount = subaccountOrEmpty(context, account, index);
  if (subaccount === null) return cancelledAll(0);
  const before = context.engine.openOrders(subaccount).length;
  const outcome = context.submit({
    kind: 'cancelAll',
    timeUs: context.nowUs(),
    subaccount,
    market,
  });
  mustSucceed(outcome);
  const ended = before - context.engine.openOrders(subaccount).length;
  return cancelledAll(ended);
}

const cancelledAll = (count: number): unknown => ({
  message: `Cancelled ${String(count)} ${count === 1 ? 'order' : 'orders'}`,
});

const FILTER_FIELDS = [
  'account',
  'subaccountIndex',
  'orderType',
  'status',
  'symbol',
  'createdFrom',
  'createdTo',
  'updatedFrom',
  'updatedTo',
  'submitted-on-or-after',
  'submitted-before',
  'updated-on-or-after',
  'updated-before',
  'limit',
  'cursor',
];

/** Order states of each filter word. */
const FILTER_STATES = {
  open: LIVE,
  active: ['new', 'partiallyFilled'],
  filled: ['filled'],
  closed: ['filled', 'cancelled', 'expired', 'rejected'],
} as const satisfies Record<string, readonly OrderStatus[]>;

/** GET /account/orders: newest first, at most `limit`; `total` counts all pages. */
export function listOrders(context: Context, input: unknown, caller: Caller): Page {
  const fields = new Fields(input, FILTER_FIELDS, true);
  const account = fields.address('account', context.keccak);
  const index = fields.subaccountIndex('subaccountIndex');
  const types = fields.has('orderType') ? filterTypes(fields) : null;
  const states = fields.has('status') ? filterStates(fields) : null;
  const symbol = fields.has('symbol') ? fields.symbol('symbol') : null;
  const created = timeRange(
    fields,
    'createdFrom',
    'createdTo',
    'submitted-on-or-after',
    'submitted-before',
  );
  const updated = timeRange(
    fields,
    'updatedFrom',
    'updatedTo',
    'updated-on-or-after',
    'updated-before',
  );
  if (created !== null && updated !== null) throw new RequestError(MESSAGES.createdAndUpdated);
  const paging = new Paging('listOrders', fields, 2);
  const market = symbol === null ? null : context.engine.marketIdOf(symbol);
  if (market === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  mustAct(context, 'listOrders', caller, account, index);
  const subaccount = subaccountOrEmpty(context, account, index);
  if (subaccount === null) return new Page({ asks: [], bids: [], total: 0 }, null, null);

  const filter = {
    types,
    statuses: states,
    market,
    createdFromUs: created?.fromUs ?? 0,
    createdToUs: created?.toUs ?? Infinity,
    updatedFromUs: updated?.fromUs ?? 0,
    updatedToUs: updated?.toUs ?? Infinity,
  };
  const [updatedAtUs, orderId] = paging.after ?? [];
  const found = context.engine.findOrders(
    subaccount,
    filter,
    paging.limit + 1,
    updatedAtUs === undefined || orderId === undefined ? undefined : { updatedAtUs, orderId },
  );
  const shown = found.items.slice(0, paging.limit);
  const last = shown.at(-1);
  const more = last !== undefined && found.items.length > shown.length;
  const encode = (order: OrderView): unknown => encodeOrder(context.engine, context.ids, order);
  // All live orders are retained, and an order created in a range was also updated in or after it.
  const ended = states?.some((state) => !LIVE.includes(state)) !== false;
  const fromUs = Math.max(filter.createdFromUs, filter.updatedFromUs);
  return new Page(
    {
      asks: shown.filter((order) => order.lots < 0).map(encode),
      bids: shown.filter((order) => order.lots > 0).map(encode),
      total: found.total,
    },
    more ? paging.cursorAt([last.updatedAtUs, last.orderId]) : null,
    ended ? retentionStart(fromUs, found.keptSinceUs) : null,
  );
}

function filterTypes(fields: Fields): readonly OrderType[] {
  return fields.words('orderType').flatMap((text) => {
    const type = ORDER_TYPE_WORDS.find((word) => word.toLowerCase() === text.toLowerCase());
    if (type === undefined) {
      fields.fail('orderType', `must be among ${ORDER_TYPE_WORDS.join(', ')}`);
    }
    // No stored order has the type `unsupported`.
    return type === 'unsupported' ? [] : [type];
  });
}

function filterStates(fields: Fields): readonly OrderStatus[] {
  const text = fields.text('status').toLowerCase();
  const states = Object.entries(FILTER_STATES).find(([word]) => word === text);
  if (states === undefined) fields.fail('status', 'must be open, active, filled or closed');
  return states[1];
}

/** Microseconds, from inclusive, to exclusive. */
interface Range {
  readonly fromUs: number;
  readonly toUs: number;
}

/** A range in ms, from inclusive, to exclusive; by its name or the contract's hyphenated one. */
function timeRange(
  fields: Fields,
  fromName: string,
  toName: string,
  fromAlias: string,
  toAlias: string,
): Range | null {
  const read = (name: string, alias: string): bigint | null => {
    if (fields.has(name) && fields.has(alias)) {
      throw new RequestError(invalidField(alias, `means the same as ${name}; give one of them`));
    }
    if (fields.has(name)) return fields.int64(name);
    return fields.has(alias) ? fields.int64(alias) : null;
  };
  const from = read(fromName, fromAlias);
  const to = read(toName, toAlias);
  if (from === null && to === null) return null;
  // Beyond 2^53 a rounding error of a microsecond lies after every order.
  return { fromUs: Number(from ?? 0n) * 1000, toUs: to === null ? Infinity : Number(to) * 1000 };
}

/** The order of the query parameters; a lone id is searched in all accessible subaccounts. */
function findOrder(
  context: Context,
  endpoint: EndpointId,
  input: unknown,
  caller: Caller,
): OrderView {
  const { engine, ids } = context;
  const fields = new Fields(input, ['orderId', 'clientId', 'account'], true);
  const digest = fields.has('orderId') ? fields.orderId('orderId') : null;
  const clientId = fields.has('clientId') ? fields.clientId('clientId') : null;
  const account = fields.has('account') ? fields.address('account', context.keccak) : null;
  if (digest === null) {
    if (clientId === null || account === null) throw new RequestError(MESSAGES.orderIdOrClientId);
    const { may } = mustAct(context, endpoint, caller, account, null);
    const id = engine.accountIdOf(account);
    const order = id === undefined ? undefined : engine.orderByClientId(id, clientId, may);
    if (order === undefined) throw new RequestError(MESSAGES.orderNotFound);
    return order;
  }
  if (account !== null) mustAct(context, endpoint, caller, account, null);
  const order = ids.find(digest);
  const owner = order === undefined ? undefined : ownerOf(context, order);
  if (order === undefined || owner === undefined || (account !== null && owner !== account)) {
    throw new RequestError(MESSAGES.orderNotFound);
  }
  if (!isOf(context, order, owner, rightsOf(context, caller, owner))) {
    throw new RequestError(MESSAGES.orderNotFound);
  }
  return order;
}

function ownerOf(context: Context, order: OrderView): Address {
  return context.engine.addressOf(context.engine.subaccount(order.subaccount).account);
}

/** True if the order belongs to this account and to a subaccount that the caller may act for. */
function isOf(context: Context, order: OrderView, account: Address, { may }: Rights): boolean {
  const { index } = context.engine.subaccount(order.subaccount);
  return ownerOf(context, order) === account && may(index);
}

function cancelOne(context: Context, order: OrderView): OrderView {
  const outcome = context.submit({
    kind: 'cancelOrder',
    timeUs: context.nowUs(),
    orderId: order.orderId,
  });
  mustSucceed(outcome);
  return must(context.engine.order(order.orderId), 'an order just cancelled is known');
}
