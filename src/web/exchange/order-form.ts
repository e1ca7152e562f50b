/** The order ticket's fields, the request that they make, and its preview by the server. */
import { computed, effect, signal } from '@preact/signals';
import { decimalsOf } from './book-state.ts';
import { openOrders, stats, type Position, type Stats } from './account-state.ts';
import type { Order } from './order-list.ts';
import { book, bookVersion, exchangeTime, market, markets, price, symbol } from './markets.ts';
import {
  boundOf,
  effectOf,
  FAR_MS,
  isPlainIoc,
  moveFault,
  movedTerms,
  needsPrice,
  orderRequest,
  ZERO,
  type Body,
  type FieldProblem,
  type Kind,
  type Made,
  type Result,
  soonMs,
  type Typed,
} from './order-request.ts';
import { cancelOrder, isSending, newClientId, refuse, send, withNonce } from './outbox.ts';
import { ask, messageOf, NoAnswer, Refused } from './requests.ts';
import { account, subaccountIndex, token } from './session.ts';

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  limit: 'Limit',
  market: 'Market',
  stopLoss: 'Stop',
  takeProfit: 'Take profit',
  trailingStop: 'Trailing stop',
  twap: 'TWAP',
  iceberg: 'Iceberg',
};

export const form = {
  kind: signal<Kind>('limit'),
  side: signal<'buy' | 'sell'>('buy'),
  price: signal(''),
  size: signal(''),
  trigger: signal(''),
  trailing: signal('1'),
  slices: signal('5'),
  periodS: signal('60'),
  postOnly: signal(false),
  reduceOnly: signal(false),
  bracket: signal(false),
  takeProfit: signal(''),
  stopLoss: signal(''),
};

/** A price that an immediate closing order accepts, as a fraction beyond the mark. */
const SLIPPAGE = 0.02;
const PREVIEW_AFTER_MS = 250;

/** A price that the best level and the slippage allow, on the tick. */
export function marketBound(side: 'buy' | 'sell'): string | null {
  const best = bestOf(side);
  const tick = market.value?.tickSize;
  return best === null || tick === undefined ? null : boundOf(best, side, tick);
}

function bestOf(side: 'buy' | 'sell'): string | null {
  if (bookVersion.value < 0) return null;
  return book.side(side === 'buy' ? 'ask' : 'bid', 1)[0]?.price ?? price.value?.mark ?? null;
}

export const onTick = (value: number): string => {
  const tick = market.value?.tickSize ?? '0.1';
  return (Math.round(value / Number(tick)) * Number(tick)).toFixed(decimalsOf(tick));
};

const typed = computed((): Typed => ({
  kind: form.kind.value,
  side: form.side.value,
  price: form.price.value,
  size: form.size.value,
  trigger: form.trigger.value,
  trailing: form.trailing.value,
  slices: form.slices.value,
  periodS: form.periodS.value,
  postOnly: form.postOnly.value,
  reduceOnly: form.reduceOnly.value,
  bracket: form.bracket.value,
  takeProfit: form.takeProfit.value,
  stopLoss: form.stopLoss.value,
}));

const read = computed((): Result => {
  const { value: of } = market;
  if (of === undefined) return { made: null, fault: null };
  const { kind } = typed.value;
  return orderRequest(typed.value, {
    account: account.value ?? ZERO,
    subaccountIndex: subaccountIndex.value,
    symbol: of.symbol,
    tickSize: of.tickSize,
    lotSize: of.lotSize,
    best: needsPrice(kind) ? null : bestOf(form.side.value),
  });
});

/** The request; null until the fields that it needs are numbers. */
export const made = computed((): Made | null => read.value.made);

interface Risk {
  readonly stats: Stats;
  readonly positions: readonly Position[];
}

export interface Preview {
  readonly refusal: { readonly status: number; readonly message: string } | null;
  readonly orders: readonly Order[];
  readonly fills: readonly { readonly price: string; readonly quantity: string }[];
  readonly fee: string;
  readonly before: Risk | null;
  readonly after: Risk | null;
}

export const preview = signal<Preview | null>(null);
export const previewProblem = signal<string | null>(null);
/** Text of the request that `preview` belongs to. */
let previewed = '';

const REASONS: Readonly<Record<string, FieldProblem>> = {
  insufficientMargin: { field: 'quantity', text: 'Free collateral does not cover it' },
  postOnlyWouldCross: { field: 'price', text: 'Post only, but this price would trade at once' },
  priceBand: { field: 'price', text: 'The price is outside the price band' },
  reduceOnly: { field: 'quantity', text: 'Reduce only, but there is no position to reduce' },
  openInterest: { field: 'quantity', text: 'The market’s limit of open interest is reached' },
  openOrders: { field: 'quantity', text: 'Too many open orders in this market' },
  noMarkPrice: { field: 'market', text: 'The market has no mark price yet' },
  staleIndex: { field: 'market', text: 'The market is frozen: its index is stale' },
  halted: { field: 'market', text: 'The market’s status does not allow this order' },
  delisted: { field: 'market', text: 'The market is delisted' },
};

/** Why the request would be refused or rejected now, and the field at fault; null: it would not. */
export const problem = computed((): FieldProblem | null => {
  if (read.value.fault !== null) return read.value.fault;
  const { value: shown } = preview;
  if (shown === null) return null;
  if (shown.refusal !== null) {
    const { message } = shown.refusal;
    const [, field = 'request'] =
      /^(?:orders\[\d+\]\.)?([a-z][A-Za-z]*(?:\.[A-Za-z]+)?)(?=[: ])/.exec(message) ?? [];
    return { field, text: message };
  }
  const rejected = shown.orders.find(({ status }) => status === 'rejected');
  if (rejected === undefined) return null;
  const reason = rejected.reason ?? '';
  const known = REASONS[reason] ?? { field: 'request', text: 'The order would be rejected' };
  return { field: known.field, text: `${known.text} (${reason})` };
});

async function readPreview({ endpoint, body }: Made, text: string): Promise<void> {
  const orders = body['orders'] as readonly Body[] | undefined;
  const request =
    orders === undefined ? withNonce(body) : { orders: orders.map((one) => withNonce(one)) };
  const path = endpoint === 'submitOrder' ? '/preview/order' : '/preview/orders';
  try {
    const answer = await ask<Preview>('POST', path, { body: request, token: token.value });
    if (previewed !== text) return;
    preview.value = answer.body;
    previewProblem.value = null;
  } catch (error) {
    if (previewed !== text) return;
    preview.value = null;
    const status = error instanceof Refused ? error.status : 0;
    if (error instanceof Refused && status < 500 && status !== 429 && status !== 401) {
      preview.value = {
        refusal: { status, message: error.message },
        orders: [],
        fills: [],
        fee: '0',
        before: null,
        after: null,
      };
    }
    previewProblem.value = error instanceof NoAnswer ? 'No connection' : messageOf(error);
  }
}

/** Asks for a preview when the fields change, and again as the market moves. */
export function followForm(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest: { readonly request: Made; readonly text: string } | null = null;
  let isAsking = false;
  // One at a time, as the server allows, and then the newest.
  const readLatest = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    let done: typeof latest = null;
    while (latest !== null && latest !== done) {
      done = latest;
      await readPreview(done.request, done.text);
    }
    isAsking = false;
  };
  effect(() => {
    const { value: request } = made;
    const isIn = token.value !== null;
    // A preview holds until the account or the market's status changes.
    const state = [stats.value?.freeCollateral, market.value?.status, price.value?.frozen];
    const text = request === null || !isIn ? '' : JSON.stringify([request, state]);
    if (text === previewed) return;
    previewed = text;
    if (request === null || text === '') {
      latest = null;
      preview.value = null;
      previewProblem.value = null;
      return;
    }
    latest = { request, text };
    // Not put off by further changes: those of a market order never end.
    timer ??= setTimeout(() => {
      timer = undefined;
      void readLatest();
    }, PREVIEW_AFTER_MS);
  });
}

/** Effect of the button, such as `Buy 0.500 at 61284.5`: the figures of the request itself. */
export const actionText = computed((): string => {
  const { value: request } = made;
  const { value: of } = market;
  if (request !== null && of !== undefined) return effectOf(request, typed.value, of.lotSize);
  return `${form.side.value === 'buy' ? 'Buy' : 'Sell'} ${symbol.value}`;
});

/** An immediate order that waits for a connection must not trade at the prices of later. */
const soon = (order: Body): Body =>
  isPlainIoc(order) ? { expiresAt: soonMs(exchangeTime.value, Date.now()) } : {};

/** Sends the order of the form. */
export function submit(): void {
  const { value: request } = made;
  if (request === null || token.value === null || isSending.value) return;
  const orders = request.body['orders'] as readonly Body[] | undefined;
  const body =
    orders === undefined
      ? { ...request.body, ...soon(request.body), clientId: newClientId() }
      : { orders: orders.map((one) => ({ ...one, clientId: newClientId() })) };
  const what = `${actionText.value} · ${symbol.value}`;
  preview.value = null;
  void send(request.endpoint, 'Order', body, what).then(() => {
    const { value: next } = made;
    if (next === null || token.value === null) return;
    previewed = `after ${what} ${String(Date.now())}`;
    void readPreview(next, previewed);
  });
}

/** Closes a position: an immediate order against it that only reduces. */
export function closePosition({ symbol: of, quantity, markPrice }: Position): void {
  const isLong = !quantity.startsWith('-');
  const bound = Number(markPrice) * (isLong ? 1 - SLIPPAGE : 1 + SLIPPAGE);
  const order = {
    account: account.value ?? ZERO,
    subaccountIndex: subaccountIndex.value,
    symbol: of,
    orderType: 'limit',
    price: bound.toPrecision(12).replace(/\.?0+$/, ''),
    quantity: isLong ? `-${quantity}` : quantity.slice(1),
    originator: ZERO,
    originatorFee: 0,
    flags: { ioc: true, postOnly: false, reduceOnly: true },
    clientId: newClientId(),
  };
  void send('submitOrder', 'Order', { ...order, ...soon(order) }, `Close ${quantity} ${of}`);
}

/**
 * Cancels the order, then places what remained of it at another price or trigger. Both orders are
 * never open together, and lots that fill in between are not ordered again.
 */
export async function moveOrder(order: Order, to: string): Promise<void> {
  const what = `Move ${order.orderType} to ${to}`;
  const tick = markets.value.find((one) => one.symbol === order.symbol)?.tickSize;
  const terms = tick === undefined ? null : movedTerms(order, to, tick);
  const fault = isSending.value
    ? 'another request is on its way'
    : moveFault(order, openOrders.value);
  if (terms === null || fault !== null) {
    refuse(what, fault ?? 'its limit price would not be positive');
    return;
  }
  const ended = await cancelOrder(order.orderId, `${what}: cancel`);
  if (ended === null) return;
  if (!/[1-9]/.test(ended.remaining)) {
    refuse(what, 'it is filled');
    return;
  }
  const body = {
    account: order.account,
    subaccountIndex: order.subaccountIndex,
    symbol: order.symbol,
    orderType: order.orderType,
    quantity: ended.remaining,
    expiresAt: Math.min(order.expiresAt, FAR_MS),
    originator: order.originator,
    originatorFee: order.originatorFee,
    flags: {
      ioc: order.flags.ioc,
      postOnly: order.flags.postOnly,
      reduceOnly: order.flags.reduceOnly,
    },
    clientId: newClientId(),
    ...terms,
  };
  const isPlaced = await send('submitOrder', 'Order', body, what);
  if (!isPlaced) refuse(what, 'the old order is cancelled, and no new one is confirmed');
}
