/** Converts a strategy's order to an API request. */
import type { RequestOf } from '../contract/endpoints.ts';
import { ZERO_ADDRESS } from '../gateway/encode.ts';
import type { MarketTerms, OrderIntent } from './strategy.ts';

/** Later than any recording: orders do not expire by default. */
const NEVER_MS = 9_007_199_254_740;

const FIELDS: Readonly<Record<keyof OrderIntent, true>> = {
  ...{ side: true, size: true, price: true, symbol: true, orderType: true, ioc: true },
  ...{ postOnly: true, reduceOnly: true, clientId: true, triggerPrice: true },
  ...{ trailingPercent: true, periodMs: true, parentOrderId: true, takeProfit: true },
  ...{ stopLoss: true, expiresAt: true, tag: true },
};

const TEXTS = [
  'size',
  'price',
  'triggerPrice',
  'trailingPercent',
  'takeProfit',
  'stopLoss',
] as const;

export interface Sender {
  readonly account: string;
  readonly subaccountIndex: number;
}

/** Without a price, the order is `ioc` at a limit that crosses every price within the band. */
export function orderRequest(
  intent: OrderIntent,
  market: MarketTerms,
  sender: Sender,
  nonce: number | bigint,
): RequestOf<'submitOrder'> {
  const { side, size, price, orderType = 'limit' } = intent;
  mustKnowFields(intent);
  mustDirection(side, size);
  for (const name of TEXTS) mustText(name, intent[name]);
  const unpriced = price === undefined;
  if (unpriced) mustNotRest(intent);
  const leg = (triggerPrice: string): { triggerPrice: string } => ({ triggerPrice });
  return {
    account: sender.account,
    subaccountIndex: sender.subaccountIndex,
    symbol: market.symbol,
    orderType,
    price: price ?? (side === 'sell' ? market.tickSize : market.maxPrice),
    quantity: side === 'buy' ? size : `-${size}`,
    nonce,
    expiresAt: intent.expiresAt ?? NEVER_MS,
    originator: ZERO_ADDRESS,
    originatorFee: 0,
    flags: {
      ioc: intent.ioc ?? unpriced,
      postOnly: intent.postOnly ?? false,
      reduceOnly: intent.reduceOnly ?? false,
    },
    signatures: [],
    ...(intent.clientId === undefined ? {} : { clientId: intent.clientId }),
    ...(intent.triggerPrice === undefined ? {} : { triggerPrice: intent.triggerPrice }),
    ...(intent.trailingPercent === undefined ? {} : { trailingPercent: intent.trailingPercent }),
    ...(intent.periodMs === undefined ? {} : { period: intent.periodMs }),
    ...(intent.parentOrderId === undefined ? {} : { parentOrderId: intent.parentOrderId }),
    ...(intent.takeProfit === undefined ? {} : { takeProfit: leg(intent.takeProfit) }),
    ...(intent.stopLoss === undefined ? {} : { stopLoss: leg(intent.stopLoss) }),
  };
}

/** The exchange would name flags and prices that the strategy did not give. */
function mustNotRest({ postOnly, ioc }: OrderIntent): void {
  if (postOnly !== true && ioc !== false) return;
  const flag = postOnly === true ? 'postOnly' : 'ioc: false';
  throw new RangeError(`an order with ${flag} needs a price: without one it never rests`);
}

/** A misspelled `price` would make a market order. */
function mustKnowFields(intent: OrderIntent): void {
  for (const name of Object.keys(intent)) {
    if (Object.hasOwn(FIELDS, name)) continue;
    throw new RangeError(`an order has no ${name}; it has ${Object.keys(FIELDS).join(', ')}`);
  }
}

/** A strategy without types, such as JavaScript, can give any value. */
function mustDirection(side: unknown, size: unknown): void {
  if (side !== 'buy' && side !== 'sell') {
    throw new RangeError(`the side of an order must be buy or sell, got ${String(side)}`);
  }
  if (typeof size === 'string' && size.startsWith('-')) {
    throw new RangeError(
      `the size of an order must be positive, got ${size}; its side says which way`,
    );
  }
}

/** The exchange would name fields of its own, and a sale would make text of any size. */
function mustText(name: (typeof TEXTS)[number], value: unknown): void {
  if (typeof value === 'string' || (value === undefined && name !== 'size')) return;
  const got = typeof value === 'object' && value !== null ? 'an object' : String(value);
  const maker = name === 'size' ? 'size' : 'price';
  const hint = name === 'trailingPercent' ? '' : `: context.market().${maker}(number) makes it`;
  throw new RangeError(`the ${name} of an order must be text, got ${got}${hint}`);
}
