/**
 * A command as its author would send it: a request of the contract, a simulation verb, or a command
 * that only a scenario can express (recorded liquidity, listings). Numbers become decimal text, and
 * ids become addresses, symbols and order ids.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Command, NewOrder, PlaceOrder, TapeBar, TapeLevel } from '../../engine/commands.ts';
import type { ExchangeView, MarketView } from '../../engine/read/views.ts';
import { priceText, sizeText, ZERO_ADDRESS } from '../../gateway/encode.ts';
import { formatDecimal } from '../../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  type AccountId,
  type Address,
  type MarketId,
  type OrderId,
  type SubaccountId,
} from '../../num/units.ts';

export type RequestForm =
  | {
      readonly kind: 'call';
      readonly endpoint: EndpointId;
      /** Account of the token, and the wallet that logged in for it. */
      readonly account: Address;
      readonly signer: Address;
      readonly request: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'money'; readonly verb: 'deposit' | 'withdraw'; readonly fields: MoneyFields }
  | {
      readonly kind: 'price';
      readonly verb: 'oracle' | 'mark' | 'fundingRate';
      readonly symbol: string;
      readonly value: string;
    }
  | {
      readonly kind: 'tape';
      readonly verb:
        | 'tapeDepth'
        | 'tapeSnapshot'
        | 'tapeQuotes'
        | 'tapeTrade'
        | 'tapeGap'
        | 'tapeBar'
        | 'tapeL3';
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'time' }
  /** Reason why only a journal can express it. */
  | { readonly kind: 'notExpressible'; readonly why: string };

export interface MoneyFields {
  readonly account: Address;
  readonly subaccountIndex: number;
  readonly amount: string;
}

/** Name of an order in requests: its id, or a reference to the reply with its id. */
export type OrderName = (id: OrderId) => string | null;

/** `view`: the exchange at the time of the command. */
export function actOf(command: Command, view: ExchangeView, nameOf: OrderName): RequestForm {
  switch (command.kind) {
    case 'placeOrder':
      return placing(view, command.subaccount, command.delegate, (owner) => {
        const request = orderRequest(view, owner, asNew(command), nameOf);
        return request === null ? null : { endpoint: 'submitOrder', request };
      });
    case 'placeOrders':
      return placing(view, command.subaccount, command.delegate, (owner) =>
        groupRequest(view, owner, command.orders, nameOf),
      );
    case 'cancelOrder': {
      const order = view.order(command.orderId);
      const orderId = nameOf(command.orderId);
      if (order === undefined || orderId === null)
        return notExpressible('cancels an order that never existed');
      const account = view.addressOf(view.subaccount(order.subaccount).account);
      return call('cancelOrder', account, { account, orderId });
    }
    case 'cancelAll':
      return placing(view, command.subaccount, null, ({ account, subaccountIndex }) => {
        const symbol = command.market === null ? {} : { symbol: symbolOf(view, command.market) };
        return { endpoint: 'cancelAllOrders', request: { account, subaccountIndex, ...symbol } };
      });
    case 'updateMargin':
      return placing(view, command.subaccount, command.delegate, (owner) => ({
        endpoint: 'updateMargin',
        request: {
          ...owner,
          symbol: symbolOf(view, command.market),
          isolated: command.isolated,
          margin: formatDecimal(BigInt(command.marginPpm), 6),
          ...authority(command),
        },
      }));
    case 'transfer':
      return call('transfer', command.signer, {
        accountFrom: command.from,
        subaccountIndexFrom: command.fromIndex,
        accountTo: command.to,
        subaccountIndexTo: command.toIndex,
        amount: money(command.amount),
        feedId: feedOf(view, command.market),
        target: command.signer,
        ...authority(command),
      });
    case 'updateDelegate': {
      const { account, subaccountIndex, delegate, delegated } = command;
      const request = { account, subaccountIndex, delegate, delegated, ...authority(command) };
      return call('updateDelegates', account, request);
    }
    case 'updateSigners': {
      const { account, signers, quorum } = command;
      return call('updateSigners', account, { account, signers, quorum, ...authority(command) });
    }
    case 'deposit':
    case 'withdraw': {
      const { account, subaccountIndex } = command;
      const fields = { account, subaccountIndex, amount: money(command.amount) };
      return { kind: 'money', verb: command.kind, fields };
    }
    case 'setIndex':
      return price(view, 'oracle', command.market, command.priceTicks);
    case 'setMark':
      return price(view, 'mark', command.market, command.priceTicks);
    case 'settleFunding': {
      const symbol = symbolOf(view, command.market);
      const value = formatDecimal(BigInt(command.ratePpb), 9);
      return { kind: 'price', verb: 'fundingRate', symbol, value };
    }
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes': {
      const market = marketOf(view, command.market);
      if (market === null) return notExpressible('names a market that is not listed');
      const side = (name: TapeLevel['side']): string[][] =>
        command.levels
          .filter((level) => level.side === name)
          .map(({ priceTicks, lots }) => [priceText(market, priceTicks), sizeText(market, lots)]);
      const fields = { symbol: market.spec.symbol, bids: side('bid'), asks: side('ask') };
      return { kind: 'tape', verb: command.kind, fields };
    }
    case 'tapeTrade': {
      const market = marketOf(view, command.market);
      if (market === null) return notExpressible('names a market that is not listed');
      const fields = {
        symbol: market.spec.symbol,
        price: priceText(market, command.priceTicks),
        quantity: sizeText(market, command.lots),
      };
      return { kind: 'tape', verb: 'tapeTrade', fields };
    }
    case 'tapeGap':
      return { kind: 'tape', verb: 'tapeGap', fields: { symbol: symbolOf(view, command.market) } };
    case 'tapeBar': {
      const market = marketOf(view, command.market);
      if (market === null) return notExpressible('names a market that is not listed');
      return { kind: 'tape', verb: 'tapeBar', fields: barFields(market, command) };
    }
    case 'tapeL3': {
      const market = marketOf(view, command.market);
      if (market === null) return notExpressible('names a market that is not listed');
      const fields = {
        symbol: market.spec.symbol,
        action: command.action,
        ref: command.ref,
        side: command.side,
        price: priceText(market, command.priceTicks),
        quantity: sizeText(market, command.lots),
      };
      return { kind: 'tape', verb: 'tapeL3', fields };
    }
    case 'advanceTime':
      return { kind: 'time' };
    case 'listMarket':
      return notExpressible('lists a market');
    case 'setSelfTradeMode':
      return notExpressible('sets a self-trade mode');
    case 'setMarketTerms':
    case 'setMarketStatus':
    case 'delistMarket':
      return notExpressible('is an operator command');
  }
}

interface Owner {
  readonly account: Address;
  readonly subaccountIndex: number;
}

function placing(
  view: ExchangeView,
  subaccount: SubaccountId,
  delegate: AccountId | null,
  make: (
    owner: Owner,
  ) => { readonly endpoint: EndpointId; readonly request: Record<string, unknown> } | null,
): RequestForm {
  const owner = ownerOf(view, subaccount);
  if (owner === null) return notExpressible('comes from an unknown account');
  const made = make(owner);
  if (made === null) return notExpressible('names an unknown market or order');
  const signer = delegate === null ? owner.account : addressOf(view, delegate);
  if (signer === null) return notExpressible('is signed by an unknown account');
  return {
    kind: 'call',
    endpoint: made.endpoint,
    account: owner.account,
    signer,
    request: made.request,
  };
}

const call = (
  endpoint: EndpointId,
  account: Address,
  request: Readonly<Record<string, unknown>>,
): RequestForm => ({ kind: 'call', endpoint, account, signer: account, request });

const notExpressible = (why: string): RequestForm => ({ kind: 'notExpressible', why });

/** A group as one submit with its attached orders, or as a batch. */
function groupRequest(
  view: ExchangeView,
  owner: Owner,
  orders: readonly NewOrder[],
  nameOf: OrderName,
): { endpoint: EndpointId; request: Record<string, unknown> } | null {
  const [first, ...others] = orders;
  if (first === undefined) return { endpoint: 'submitOrders', request: { orders: [] } };
  const own = orderRequest(view, owner, first, nameOf);
  if (own === null) return null;
  if (others.some(({ attached }) => attached)) {
    const market = marketOf(view, first.market);
    if (market === null) return null;
    const legs = others.map((leg): [string, unknown] => [leg.orderType, attachedLeg(market, leg)]);
    return { endpoint: 'submitOrder', request: { ...own, ...Object.fromEntries<unknown>(legs) } };
  }
  if (others.length === 0) return { endpoint: 'submitOrder', request: own };
  const requests = orders.map((order) => orderRequest(view, owner, order, nameOf));
  if (requests.includes(null)) return null;
  return { endpoint: 'submitOrders', request: { orders: requests } };
}

/** Without a price a protective order takes any book price within the band. */
function attachedLeg(market: MarketView, leg: NewOrder): Record<string, unknown> {
  return {
    triggerPrice: priceText(market, leg.triggerTicks ?? 1),
    ...(leg.ioc ? {} : { price: priceText(market, leg.priceTicks) }),
    ...(leg.clientId === null ? {} : { clientId: leg.clientId }),
  };
}

function orderRequest(
  view: ExchangeView,
  owner: Owner,
  order: NewOrder,
  nameOf: OrderName,
): Record<string, unknown> | null {
  const market = marketOf(view, order.market);
  const parent = order.parent === null ? '' : nameOf(order.parent);
  if (market === null || parent === null) return null;
  return {
    ...owner,
    symbol: market.spec.symbol,
    orderType: order.orderType,
    price: priceText(market, order.priceTicks),
    quantity: sizeText(market, order.lots),
    originator: order.originator ?? ZERO_ADDRESS,
    originatorFee: order.originatorFeePpm,
    flags: { ioc: order.ioc, postOnly: order.postOnly, reduceOnly: order.reduceOnly },
    ...authority(order),
    ...(order.clientId === null ? {} : { clientId: order.clientId }),
    ...(order.triggerTicks === null ? {} : { triggerPrice: priceText(market, order.triggerTicks) }),
    ...(order.trailingPpm === null
      ? {}
      : { trailingPercent: formatDecimal(BigInt(order.trailingPpm), 4) }),
    ...(order.periodMs === null ? {} : { period: order.periodMs }),
    ...(parent === '' ? {} : { parentOrderId: parent }),
  };
}

const authority = ({
  nonce,
  expiresAtMs,
}: {
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
}): Record<string, unknown> => ({ nonce, expiresAt: expiresAtMs, signatures: [] });

function asNew(command: PlaceOrder): NewOrder {
  const none = { triggerTicks: null, trailingPpm: null, periodMs: null, parent: null };
  return { ...command, ...none, attached: false };
}

function price(
  view: ExchangeView,
  verb: 'oracle' | 'mark',
  id: MarketId,
  ticks: number,
): RequestForm {
  const market = marketOf(view, id);
  if (market === null) return notExpressible('names a market that is not listed');
  return { kind: 'price', verb, symbol: market.spec.symbol, value: priceText(market, ticks) };
}

function barFields(market: MarketView, bar: TapeBar): Record<string, unknown> {
  return {
    symbol: market.spec.symbol,
    open: priceText(market, bar.openTicks),
    high: priceText(market, bar.highTicks),
    low: priceText(market, bar.lowTicks),
    close: priceText(market, bar.closeTicks),
    volume: sizeText(market, bar.volumeLots),
    quote: priceText(market, bar.quoteTicks),
    spreadTicks: bar.spreadTicks,
    depth: sizeText(market, bar.depthLots),
    path: bar.path,
    fill: bar.fill,
  };
}

const money = (amount: bigint): string => formatDecimal(amount, COLLATERAL_DECIMALS);

function marketOf(view: ExchangeView, id: MarketId): MarketView | null {
  return view.markets()[id] ?? null;
}

const symbolOf = (view: ExchangeView, id: MarketId): string =>
  marketOf(view, id)?.spec.symbol ?? 'UNKNOWN';

const feedOf = (view: ExchangeView, market: MarketId | null): string =>
  (market === null ? undefined : marketOf(view, market)?.spec.feedId) ?? view.config.cashFeedId;

function ownerOf(view: ExchangeView, id: SubaccountId): Owner | null {
  try {
    const { account, index } = view.subaccount(id);
    return { account: view.addressOf(account), subaccountIndex: index };
  } catch {
    return null;
  }
}

function addressOf(view: ExchangeView, id: AccountId): Address | null {
  try {
    return view.addressOf(id);
  } catch {
    return null;
  }
}
