/**
 * The life of an order over the commands of a run: its events, the queue before it when it first
 * rested, and what became of that queue until its first fill. Sizes are exact decimal text.
 */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { priceText, sizeText } from '../../gateway/encode.ts';
import type { MarketId, OrderId, SubaccountId } from '../../num/units.ts';
import { subaccountName } from './account-names.ts';
import { eventTree, type EventAt } from './event-tree.ts';

export interface OrderMoment {
  readonly seq: number;
  readonly timeUs: number;
  /** An event of the order; null: the queue before it changed. */
  readonly event: EventAt | null;
  /** How the queue changed; empty for an event of the order. */
  readonly text: string;
  /** After the command; null if it does not rest. */
  readonly ahead: string | null;
}

export interface QueueOwner {
  readonly name: string;
  /** Null: all orders of the account. */
  readonly orderId: number | null;
  readonly size: string;
}

/** The order's wait on the book, until its first fill or its end. */
export interface OrderWait {
  readonly seq: number;
  readonly timeUs: number;
  readonly price: string;
  readonly ahead: string;
  /** Orders ahead of it when it first rested; recorded liquidity has no order. */
  readonly owners: readonly QueueOwner[];
  /** Of the size ahead: what traded, and what was withdrawn. */
  readonly traded: string;
  readonly withdrawn: string;
  /** Trades at better prices of its side, by account; the rest is recorded liquidity. */
  readonly better: string;
  readonly betterOwners: readonly QueueOwner[];
  /** Time in which a price of its side was better. */
  readonly behindUs: number;
  readonly endUs: number;
}

export interface OrderLifeView {
  readonly moments: readonly OrderMoment[];
  /** Null if it never rested. */
  readonly wait: OrderWait | null;
  /** First fill; null without one. */
  readonly filled: { readonly seq: number; readonly timeUs: number } | null;
}

interface Wait {
  readonly seq: number;
  readonly timeUs: number;
  readonly market: MarketId;
  /** 1 buys, −1 sells. */
  readonly side: 1 | -1;
  readonly ticks: number;
  readonly aheadLots: number;
  readonly owners: ReadonlyMap<number, { readonly name: string; readonly lots: number }>;
  tradedLots: number;
  withdrawnLots: number;
  betterLots: number;
  readonly betterByOwner: Map<string, number>;
  behindUs: number;
  /** As after the last command. */
  ahead: number;
  atUs: number;
  isBest: boolean;
}

const MOST_MOMENTS = 500;
const MOST_OWNERS = 8;

export class OrderLife {
  private readonly id: OrderId;
  private readonly moments: OrderMoment[] = [];
  private wait: Wait | null = null;
  private filled: OrderLifeView['filled'] = null;
  private ended = false;

  constructor(orderId: number) {
    this.id = orderId as OrderId;
  }

  /** After each command with its events; false once the order has ended. */
  after(view: ExchangeView, events: readonly EngineEvent[]): boolean {
    const { id, wait } = this;
    if (this.ended || view.lastOrderId < id) return !this.ended;
    const own = events.filter((event) => 'orderId' in event && event.orderId === id);
    const ahead = view.queueAhead(id);
    if (wait !== null && this.filled === null) this.follow(view, wait, events, own, ahead);
    for (const event of own) this.note(event);
    if (own.length > 0) this.addEvents(view, events, ahead);
    if (this.wait === null && this.filled === null && ahead !== null) {
      this.wait = waitOf(view, id, ahead);
    }
    return !this.ended;
  }

  private note(event: EngineEvent): void {
    if (event.kind === 'orderFilled') this.filled ??= { seq: event.seq, timeUs: event.timeUs };
    if (event.kind === 'orderEnded' || event.kind === 'orderRejected') this.ended = true;
  }

  private addEvents(
    view: ExchangeView,
    events: readonly EngineEvent[],
    ahead: number | null,
  ): void {
    const shown = this.sizeOf(view, ahead);
    for (const event of eventTree(view, events)) {
      if (event.orderId !== this.id) continue;
      this.add({ seq: view.seq, timeUs: event.timeUs, event, text: '', ahead: shown });
    }
  }

  private add(moment: OrderMoment): void {
    if (this.moments.length < MOST_MOMENTS) this.moments.push(moment);
  }

  private sizeOf(view: ExchangeView, ahead: number | null): string | null {
    const order = view.order(this.id);
    if (ahead === null || order === undefined) return null;
    return sizeText(view.market(order.market), ahead);
  }

  /** Counts the changes of the queue before the order, and the trades at better prices. */
  private follow(
    view: ExchangeView,
    wait: Wait,
    events: readonly EngineEvent[],
    own: readonly EngineEvent[],
    ahead: number | null,
  ): void {
    const { market, side, ticks } = wait;
    if (!wait.isBest) wait.behindUs += view.nowUs - wait.atUs;
    wait.atUs = view.nowUs;
    let tradedHere = 0;
    const names: string[] = [];
    for (const event of events) {
      if (event.kind === 'tradePrinted' && event.market === market && event.lots * side < 0) {
        const by = (event.priceTicks - ticks) * side;
        if (by > 0) wait.betterLots += Math.abs(event.lots);
        else if (by === 0) tradedHere += Math.abs(event.lots);
      } else if (event.kind === 'orderFilled' && event.market === market) {
        if (event.role !== 'maker' || event.lots * side < 0) continue;
        const by = (event.priceTicks - ticks) * side;
        if (event.orderId === this.id) tradedHere -= Math.abs(event.lots);
        else if (by > 0) {
          const name = subaccountName(view, event.subaccount);
          const { betterByOwner } = wait;
          betterByOwner.set(name, (betterByOwner.get(name) ?? 0) + Math.abs(event.lots));
        } else if (by === 0) names.push(nameOf(view, event));
      } else if (event.kind === 'orderEnded' && wait.owners.has(event.orderId)) {
        if (event.status !== 'filled') names.push(nameOf(view, event));
      }
    }
    // A fill of the order itself shows that nothing was ahead of it any more.
    const isFilled = own.some(({ kind }) => kind === 'orderFilled');
    const left = isFilled ? 0 : (ahead ?? wait.ahead);
    const gone = Math.max(0, wait.ahead - left);
    const traded = Math.min(gone, Math.max(0, tradedHere));
    wait.tradedLots += traded;
    wait.withdrawnLots += gone - traded;
    wait.ahead = left;
    wait.isBest = isBest(view, wait);
    if (gone > 0 && own.length === 0) {
      const spec = view.market(market);
      const parts = [
        ...(traded > 0 ? [`${sizeText(spec, traded)} ahead of it traded`] : []),
        ...(gone > traded ? [`${sizeText(spec, gone - traded)} ahead of it was withdrawn`] : []),
      ];
      const by = names.length === 0 ? '' : ` (${[...new Set(names)].slice(0, 3).join(', ')})`;
      const text = `${parts.join(', ')}${by}`;
      const shown = sizeText(spec, left);
      this.add({ seq: view.seq, timeUs: view.nowUs, event: null, text, ahead: shown });
    }
  }

  /** What is known so far; `view`: the exchange after the last command. */
  view(view: ExchangeView): OrderLifeView {
    const { moments, wait, filled } = this;
    return { moments, wait: wait === null ? null : shownWait(view, wait), filled };
  }
}

function nameOf(
  view: ExchangeView,
  event: { readonly orderId: number; readonly subaccount: SubaccountId },
): string {
  return `order ${String(event.orderId)} of ${subaccountName(view, event.subaccount)}`;
}

const isBest = (view: ExchangeView, { market, side, ticks }: Wait): boolean =>
  view.depth(market, side === 1 ? 'bid' : 'ask', 1)[0]?.priceTicks === ticks;

function waitOf(view: ExchangeView, id: OrderId, aheadLots: number): Wait | null {
  const order = view.order(id);
  if (order === undefined) return null;
  const { market, priceTicks: ticks } = order;
  const side = order.lots > 0 ? 1 : -1;
  const owners = new Map<number, { readonly name: string; readonly lots: number }>();
  for (let i = 0; aheadLots > 0 && i < view.subaccountCount; i++) {
    for (const other of view.openOrders(i as SubaccountId)) {
      if (other.market !== market || other.priceTicks !== ticks || other.lots * side < 0) continue;
      const place = other.orderId === id ? null : view.queueAhead(other.orderId);
      if (place === null || place >= aheadLots) continue;
      const name = subaccountName(view, other.subaccount);
      owners.set(other.orderId, { name, lots: Math.abs(other.remainingLots) });
    }
  }
  const wait: Wait = {
    seq: view.seq,
    timeUs: view.nowUs,
    market,
    side,
    ticks,
    aheadLots,
    owners,
    tradedLots: 0,
    withdrawnLots: 0,
    betterLots: 0,
    betterByOwner: new Map(),
    behindUs: 0,
    ahead: aheadLots,
    atUs: view.nowUs,
    isBest: true,
  };
  wait.isBest = isBest(view, wait);
  return wait;
}

function shownWait(view: ExchangeView, wait: Wait): OrderWait {
  const market = view.market(wait.market);
  const size = (lots: number): string => sizeText(market, lots);
  const byLots = [...wait.betterByOwner].sort(([, a], [, b]) => b - a);
  return {
    seq: wait.seq,
    timeUs: wait.timeUs,
    price: priceText(market, wait.ticks),
    ahead: size(wait.aheadLots),
    owners: [...wait.owners]
      .slice(0, MOST_OWNERS)
      .map(([orderId, { name, lots }]) => ({ name, orderId, size: size(lots) })),
    traded: size(wait.tradedLots),
    withdrawn: size(wait.withdrawnLots),
    better: size(wait.betterLots),
    betterOwners: byLots
      .slice(0, MOST_OWNERS)
      .map(([name, lots]) => ({ name, orderId: null, size: size(lots) })),
    behindUs: wait.behindUs,
    endUs: wait.atUs,
  };
}
