/** The order ticket's fields, the request that they make, and its preview by the server. */
import { computed, effect, signal } from '@preact/signals';
import { fixed } from '../exact-text.ts';
import { decimalsOf } from './book-state.ts';
import { stats, type Order, type Position, type Stats } from './account-state.ts';
import { book, bookVersion, market, price, symbol } from './markets.ts';
import { newClientId, send, withNonce } from './outbox.ts';
import { ask, messageOf, NoAnswer, Refused } from './requests.ts';
import { account, subaccountIndex, token } from './session.ts';

export const KINDS = [
  'limit',
  'market',
  'stopLoss',
  'takeProfit',
  'trailingStop',
  'twap',
  'iceberg',
] as const;
export type Kind = (typeof KINDS)[number];
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

export const ZERO = `0x${'0'.repeat(40)}`;
/** A market order accepts prices up to this fraction beyond the best. */
const SLIPPAGE = 0.02;
const PREVIEW_AFTER_MS = 250;

/** Whether fields of a kind are shown. */
export const hasTrigger = (kind: Kind): boolean =>
  kind === 'stopLoss' || kind === 'takeProfit' || kind === 'trailingStop';
export const isSliced = (kind: Kind): boolean => kind === 'twap' || kind === 'iceberg';
export const needsPrice = (kind: Kind): boolean => kind === 'limit' || isSliced(kind);

type Body = Readonly<Record<string, unknown>>;

export interface Made {
  readonly endpoint: 'submitOrder' | 'submitOrders';
  readonly body: Body;
}

const isNumber = (text: string): boolean => /^\d+(\.\d+)?$|^\.\d+$/.test(text.trim());

/** A price that the best level and this much slippage allow, on the tick. */
export function marketBound(side: 'buy' | 'sell'): string | null {
  if (bookVersion.value < 0) return null;
  const best = book.side(side === 'buy' ? 'ask' : 'bid', 1)[0]?.price ?? price.value?.mark ?? null;
  const tick = market.value?.tickSize;
  if (best === null || tick === undefined) return null;
  const bound = Number(best) * (side === 'buy' ? 1 + SLIPPAGE : 1 - SLIPPAGE);
  return (Math.round(bound / Number(tick)) * Number(tick)).toFixed(decimalsOf(tick));
}

export const onTick = (value: number): string => {
  const tick = market.value?.tickSize ?? '0.1';
  return (Math.round(value / Number(tick)) * Number(tick)).toFixed(decimalsOf(tick));
};

/** The request; null until the fields that it needs are numbers. */
export const made = computed((): Made | null => {
  const kind = form.kind.value;
  const side = form.side.value;
  const size = form.size.value.trim();
  if (!isNumber(size) || symbol.value === '') return null;
  const typed = form.price.value.trim();
  const trigger = form.trigger.value.trim();
  if (needsPrice(kind) && !isNumber(typed)) return null;
  const anyPrice = !needsPrice(kind) && !isNumber(typed);
  if ((kind === 'stopLoss' || kind === 'takeProfit') && !isNumber(trigger)) return null;
  // Without a limit, a triggered order takes prices near its trigger.
  const near = isNumber(trigger)
    ? onTick(Number(trigger) * (side === 'buy' ? 1 + SLIPPAGE : 1 - SLIPPAGE))
    : marketBound(side);
  const limit = kind === 'market' ? marketBound(side) : anyPrice ? near : typed;
  if (limit === null) return null;
  const quantity = side === 'sell' ? `-${size}` : size;
  const order: Body = {
    account: account.value ?? ZERO,
    subaccountIndex: subaccountIndex.value,
    symbol: symbol.value,
    orderType: kind === 'market' ? 'limit' : kind,
    price: limit,
    quantity,
    originator: ZERO,
    originatorFee: 0,
    flags: {
      ioc: kind === 'market' || (hasTrigger(kind) && anyPrice),
      postOnly: form.postOnly.value && (kind === 'limit' || kind === 'iceberg'),
      reduceOnly: form.reduceOnly.value,
    },
    ...(hasTrigger(kind) && isNumber(trigger) ? { triggerPrice: trigger } : {}),
    ...(kind === 'trailingStop' ? { trailingPercent: form.trailing.value.trim() } : {}),
  };
  if (isSliced(kind)) return { endpoint: 'submitOrders', body: { orders: slicesOf(order, size) } };
  if (!form.bracket.value || (kind !== 'limit' && kind !== 'market')) {
    return { endpoint: 'submitOrder', body: order };
  }
  const leg = (text: string): Body | undefined =>
    isNumber(text.trim()) ? { triggerPrice: text.trim() } : undefined;
  const takeProfit = leg(form.takeProfit.value);
  const stopLoss = leg(form.stopLoss.value);
  return {
    endpoint: 'submitOrder',
    body: {
      ...order,
      ...(takeProfit === undefined ? {} : { takeProfit }),
      ...(stopLoss === undefined ? {} : { stopLoss }),
    },
  };
});

/** Equal slices in whole lots; the last is smaller. */
function slicesOf(order: Body, size: string): Body[] {
  const count = Math.min(100, Math.max(1, Math.floor(Number(form.slices.value) || 1)));
  const lot = market.value?.lotSize ?? '1';
  const decimals = decimalsOf(lot);
  const lots = Math.round(Number(size) / Number(lot));
  const each = Math.ceil(lots / count);
  const sign = form.side.value === 'sell' ? '-' : '';
  const sliced: Body[] = [];
  for (let left = lots; left > 0 && sliced.length < count; left -= each) {
    const quantity = `${sign}${(Math.min(each, left) * Number(lot)).toFixed(decimals)}`;
    sliced.push({
      ...order,
      quantity,
      ...(form.kind.value === 'twap'
        ? { period: Math.round(Number(form.periodS.value) * 1000) || 0 }
        : {}),
    });
  }
  return sliced;
}

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

export interface FieldProblem {
  readonly field: string;
  readonly text: string;
}

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
      if (latest !== null) void readPreview(latest.request, latest.text);
    }, PREVIEW_AFTER_MS);
  });
}

/** Effect of the button, such as `Buy 0.500 at 61,284.5`. */
export const actionText = computed((): string => {
  const verb = form.side.value === 'buy' ? 'Buy' : 'Sell';
  const kind = form.kind.value;
  if (made.value === null) return `${verb} ${symbol.value}`;
  const size = fixed(form.size.value, decimalsOf(market.value?.lotSize ?? '1'));
  const at = form.price.value.trim();
  if (kind === 'market') return `${verb} ${size} at market`;
  if (kind === 'twap') return `${verb} ${size} in ${form.slices.value} parts`;
  if (kind === 'iceberg') return `${verb} ${size} at ${at}, ${form.slices.value} parts`;
  if (kind === 'trailingStop') return `${verb} ${size}, trailing ${form.trailing.value} %`;
  if (hasTrigger(kind)) return `${verb} ${size} when mark reaches ${form.trigger.value}`;
  return `${verb} ${size} at ${at}`;
});

/** Sends the order of the form. */
export function submit(): void {
  const { value: request } = made;
  if (request === null || token.value === null) return;
  const orders = request.body['orders'] as readonly Body[] | undefined;
  const body =
    orders === undefined
      ? { ...request.body, clientId: newClientId() }
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
  void send('submitOrder', 'Order', order, `Close ${quantity} ${of}`);
}

/** Places the order again at another price or trigger, then cancels the old one. */
export async function moveOrder(order: Order, to: string): Promise<boolean> {
  const isTriggered = order.triggerPrice !== null;
  const body = {
    account: order.account,
    subaccountIndex: order.subaccountIndex,
    symbol: order.symbol,
    orderType: order.orderType,
    price: isTriggered ? (order.flags.ioc ? onTick(Number(order.price)) : order.price) : to,
    quantity: order.remaining,
    originator: order.originator,
    originatorFee: order.originatorFee,
    flags: {
      ioc: order.flags.ioc,
      postOnly: order.flags.postOnly,
      reduceOnly: order.flags.reduceOnly,
    },
    clientId: newClientId(),
    ...(isTriggered ? { triggerPrice: to } : {}),
    ...(order.parentOrderId === null ? {} : { parentOrderId: order.parentOrderId }),
  };
  return send('submitOrder', 'Order', body, `Move ${order.orderType} to ${to}`);
}
