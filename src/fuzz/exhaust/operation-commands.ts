/**
 * Commands of a world's operations: orders, groups, quotes, money, time and terms, each as a
 * function of the state.
 */
import type { Command, NewOrder, PlaceOrder, Transfer } from '../../engine/commands.ts';
import type { MarketSpec, MarketStatus } from '../../engine/config.ts';
import {
  accountId,
  lots,
  orderId,
  ppm,
  priceTicks,
  quanta,
  timeUs,
  type Address,
  type MarketId,
  type OrderId,
} from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import type { ExploredExchange } from './explored-exchange.ts';
import { ANN, CAT, SPEC_X, W, X, type User } from './setting.ts';

export type Operation = (exchange: ExploredExchange) => Command | null;

export const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
export const DAY_US = 24 * HOUR_US;
export const USD = 1_000_000n;

/** Accounts 0 to 5 are those of the exchange. */
export const CAT_ACCOUNT = accountId(8);

/** Terms that differ from a limit order of X that rests until cancelled. */
type Terms = Partial<Omit<PlaceOrder, 'kind' | 'timeUs' | 'subaccount' | 'orderType'>>;

/** Commands differ only in time and nonce; one literal gives all the same hidden class. */
export const limit =
  (owner: User, size: number, ticks: number, terms: Terms = {}): Operation =>
  (exchange) => ({
    kind: 'placeOrder',
    timeUs: exchange.nowUs,
    subaccount: owner.id,
    market: terms.market ?? X,
    orderType: 'limit',
    lots: lots(size),
    priceTicks: priceTicks(ticks),
    ioc: terms.ioc ?? false,
    postOnly: terms.postOnly ?? false,
    reduceOnly: terms.reduceOnly ?? false,
    nonce: terms.nonce ?? exchange.nextOrderNonce(owner.id),
    expiresAtMs: terms.expiresAtMs ?? NEVER_MS,
    delegate: terms.delegate ?? null,
    clientId: terms.clientId ?? null,
    originator: terms.originator ?? null,
    originatorFeePpm: terms.originatorFeePpm ?? ppm(0),
  });

/** An order of a group; its nonce follows from its place. */
type Member = Partial<NewOrder> & Pick<NewOrder, 'lots'>;

const memberOf = (member: Member, nonce: bigint): NewOrder => ({
  market: member.market ?? X,
  orderType: member.orderType ?? 'limit',
  lots: member.lots,
  priceTicks: member.priceTicks ?? priceTicks(1),
  ioc: member.ioc ?? false,
  postOnly: false,
  reduceOnly: member.reduceOnly ?? false,
  nonce,
  expiresAtMs: NEVER_MS,
  clientId: null,
  originator: null,
  originatorFeePpm: ppm(0),
  triggerTicks: member.triggerTicks ?? null,
  trailingPpm: member.trailingPpm ?? null,
  periodMs: member.periodMs ?? null,
  parent: member.parent ?? null,
  attached: member.attached ?? false,
});

export const group =
  (owner: User, members: readonly Member[]): Operation =>
  (exchange) => {
    const first = exchange.nextOrderNonce(owner.id);
    return {
      kind: 'placeOrders',
      timeUs: exchange.nowUs,
      subaccount: owner.id,
      delegate: null,
      orders: members.map((member, i) =>
        memberOf(member, member.attached === true ? first : first + BigInt(i)),
      ),
    };
  };

/** A take-profit or stop-loss, at any price within the band. */
export const leg = (
  orderType: 'takeProfit' | 'stopLoss',
  size: number,
  trigger: number,
): Member => ({
  orderType,
  lots: lots(size),
  priceTicks: priceTicks(size > 0 ? trigger * 2 : 1),
  triggerTicks: priceTicks(trigger),
  ioc: true,
  reduceOnly: true,
});

/** The same pair below a live order of Cat in X. */
export const protectOldest: Operation = (exchange) => {
  const parent: OrderId | null = exchange.oldestOrder(CAT.id, X);
  if (parent === null) return null;
  const size = -(exchange.order(parent)?.lots ?? 0);
  const away = size > 0 ? 1 : -1;
  return group(CAT, [
    { ...leg('takeProfit', size, 1000 - away * 60), parent },
    { ...leg('stopLoss', size, 1000 + away * 60), parent },
  ])(exchange);
};

export const cancelOldest =
  (owner: User): Operation =>
  (exchange) => {
    const id = exchange.oldestOrder(owner.id);
    return id === null
      ? null
      : { kind: 'cancelOrder', timeUs: exchange.nowUs, orderId: orderId(id) };
  };

export const cancelAll =
  (owner: User, market: MarketId | null): Operation =>
  ({ nowUs }) => ({ kind: 'cancelAll', timeUs: nowUs, subaccount: owner.id, market });

export const index =
  (market: MarketId, ticks: number): Operation =>
  ({ nowUs }) => ({
    kind: 'setIndex',
    timeUs: nowUs,
    market,
    priceTicks: priceTicks(ticks),
    text: String(ticks),
  });

export const wait =
  (us: number): Operation =>
  ({ nowUs }) => ({ kind: 'advanceTime', timeUs: timeUs(nowUs + us) });

/** The recorded book of W: prices, and lots by side. */
export const book =
  (...levels: readonly (readonly [price: number, size: number])[]): Operation =>
  ({ nowUs }) => ({
    kind: 'tapeSnapshot',
    timeUs: nowUs,
    market: W,
    levels: levels.map(([price, size]) => ({
      side: size > 0 ? 'bid' : 'ask',
      priceTicks: priceTicks(price),
      lots: lots(Math.abs(size)),
    })),
  });

/** To the start of the next hour. */
export const nextHour: Operation = ({ nowUs }) => ({
  kind: 'advanceTime',
  timeUs: timeUs((Math.floor(nowUs / HOUR_US) + 1) * HOUR_US),
});

export const deposit =
  (account: Address, whole: bigint): Operation =>
  ({ nowUs }) => ({
    kind: 'deposit',
    timeUs: nowUs,
    account,
    subaccountIndex: 0,
    amount: quanta(whole * USD),
  });

/** All that may leave; one quantum where nothing may. */
export const withdrawAll =
  (owner: User): Operation =>
  (exchange) => {
    const most = exchange.margin(owner.id).withdrawableQuanta;
    return {
      kind: 'withdraw',
      timeUs: exchange.nowUs,
      account: owner.address,
      subaccountIndex: 0,
      amount: most > 0n ? most : quanta(1n),
    };
  };

type Move = Pick<Transfer, 'from' | 'to' | 'amount' | 'signer'> & Partial<Transfer>;

export const transfer =
  (move: (exchange: ExploredExchange) => Move): Operation =>
  (exchange) => {
    const fields = move(exchange);
    return {
      kind: 'transfer',
      timeUs: exchange.nowUs,
      fromIndex: 0,
      toIndex: 0,
      market: null,
      nonce: exchange.nextNonce(fields.signer),
      expiresAtMs: NEVER_MS,
      ...fields,
    };
  };

export const margin =
  (owner: User, market: MarketId, isolated: boolean, rate: number): Operation =>
  (exchange) => ({
    kind: 'updateMargin',
    timeUs: exchange.nowUs,
    subaccount: owner.id,
    market,
    isolated,
    marginPpm: ppm(rate),
    nonce: exchange.nextNonce(owner.address),
    expiresAtMs: NEVER_MS,
    delegate: null,
  });

export const delegation =
  (delegated: boolean): Operation =>
  (exchange) => ({
    kind: 'updateDelegate',
    timeUs: exchange.nowUs,
    account: ANN.address,
    subaccountIndex: 0,
    delegate: CAT.address,
    delegated,
    nonce: exchange.nextNonce(ANN.address),
    expiresAtMs: NEVER_MS,
  });

/** A restriction, or its end where there is one. */
export const restrict =
  (market: MarketId, status: Exclude<MarketStatus, 'delisted'>): Operation =>
  (exchange) => ({
    kind: 'setMarketStatus',
    timeUs: exchange.nowUs,
    market,
    status: exchange.market(market).status === status ? 'open' : status,
  });

/** Changed terms of X; one record, so that it is hashed once. */
export const terms = (change: Partial<MarketSpec>): Operation => {
  const spec = { ...SPEC_X, ...change };
  return ({ nowUs }) => ({ kind: 'setMarketTerms', timeUs: nowUs, market: X, spec });
};
