/**
 * The generator's model of the exchange: marks, holdings and live orders. Updated from events, so a
 * draw needs no scan. A wrong entry only makes a command less useful.
 */
import type { MarketSpec, MarketStatus } from '../engine/config.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import type { Dice } from './dice.ts';
import { UsedNonces } from './used-nonces.ts';
import type { AccountId, Address, MarketId, OrderId, SubaccountId } from '../num/units.ts';

/** Expiry times beyond this (about the year 2128) count as never. */
const FAR_MS = 5_000_000_000_000n;
const MAX_EDGES = 32;
const MAX_REVOKED = 8;

export interface KnownMarket {
  readonly id: MarketId;
  /** Terms in effect, and the last ones requested. */
  spec: MarketSpec;
  asked: MarketSpec;
  status: MarketStatus;
  /** Opening price, to which drawn prices revert. */
  readonly openingTicks: number;
  indexTicks: number;
  markTicks: number;
  /** Whether its source is stale, and whether it has a mark. */
  frozen: boolean;
  priced: boolean;
}

export interface KnownSubaccount {
  readonly id: SubaccountId;
  readonly account: AccountId;
  readonly address: Address;
  readonly index: number;
  /** Quanta as a double, used for sizes only. */
  cash: number;
  /** Signed lots by market id. */
  readonly positions: number[];
  /** True if margin is isolated, by market id. */
  readonly isolated: boolean[];
  /** Vault shares in 1e-6, as a double. */
  shares: number;
}

export interface LiveOrder {
  readonly id: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
}

export interface Grant {
  readonly account: AccountId;
  readonly index: number;
  readonly delegate: AccountId;
}

export class World {
  readonly view: ExchangeView;
  readonly markets: KnownMarket[] = [];
  /** Subaccounts of users. */
  readonly subaccounts: KnownSubaccount[] = [];
  readonly live: LiveOrder[] = [];
  readonly grants: Grant[] = [];
  /** Recently revoked delegates. */
  readonly revoked: Grant[] = [];
  /** Upcoming end times from recent events, in µs: expiries, lock-ups, pauses, index freshness. */
  readonly edges: number[] = [];
  private readonly byId: (KnownSubaccount | null | undefined)[] = [];
  private readonly places = new Map<OrderId, number>();
  private edgesSeen = 0;
  private readonly nonces = new UsedNonces();
  private readonly openingTicks: readonly number[];

  constructor(view: ExchangeView, openingTicks: readonly number[]) {
    this.view = view;
    this.openingTicks = openingTicks;
  }

  readonly observe = (event: EngineEvent): void => {
    switch (event.kind) {
      case 'orderAccepted':
        if (event.expiresAtMs < FAR_MS) this.edge(Number(event.expiresAtMs) * 1000);
        this.nonces.note(event);
        break;
      case 'orderRejected':
        this.nonces.note(event);
        break;
      case 'liquidationStep':
        if (event.step === 'order') this.edge(event.timeUs + this.view.config.liquidationPauseUs);
        break;
      case 'orderRested':
      case 'orderPending':
        this.add(event);
        break;
      case 'orderEnded':
        this.remove(event.orderId);
        break;
      case 'balanceChanged': {
        const owner = this.owner(event.subaccount);
        if (owner !== null) owner.cash = Number(event.balanceQuanta);
        break;
      }
      case 'positionChanged': {
        const owner = this.owner(event.subaccount);
        if (owner !== null) owner.positions[event.market] = event.lots;
        break;
      }
      case 'markChanged': {
        const market = this.markets[event.market];
        if (market === undefined) break;
        market.markTicks = event.markTicks;
        market.priced = true;
        if (event.indexTicks !== null) market.indexTicks = event.indexTicks;
        if (market.spec.markSource === 'external') {
          this.edge(event.timeUs + this.view.config.indexStaleUs);
        }
        break;
      }
      case 'oracleSet': {
        const market = this.markets[event.market];
        if (market === undefined) break;
        market.indexTicks = event.indexTicks;
        this.edge(event.timeUs + this.view.config.indexStaleUs);
        break;
      }
      case 'marketFrozen': {
        const market = this.markets[event.market];
        if (market !== undefined) market.frozen = event.frozen;
        break;
      }
      case 'marginChanged': {
        const owner = this.owner(event.subaccount);
        if (owner !== null) owner.isolated[event.market] = event.isolated;
        break;
      }
      case 'vaultSharesChanged': {
        const owner = this.owner(event.subaccount);
        if (owner !== null) owner.shares = Number(event.shares);
        this.edge(event.lockupEndsAtUs);
        break;
      }
      case 'marketListed':
        this.list(event.market, event.spec);
        break;
      case 'marketTermsChanged': {
        const market = this.markets[event.market];
        if (market === undefined) break;
        market.spec = event.spec;
        market.asked = event.nextSpec ?? event.spec;
        if (event.effectiveUs !== null) this.edge(event.effectiveUs);
        break;
      }
      case 'marketStatusChanged':
      case 'marketDelisted': {
        const market = this.markets[event.market];
        if (market === undefined) break;
        market.status = event.kind === 'marketDelisted' ? 'delisted' : event.status;
        break;
      }
      case 'delegateChanged':
        this.grant(event.account, event.subaccountIndex, event.delegate, event.delegated);
        break;
      default:
    }
  };

  /** Adds markets that were listed before events were observed. */
  knowMarkets(): void {
    for (const { id, spec } of this.view.markets()) this.list(id, spec);
  }

  /** null for a system account. */
  owner(id: SubaccountId): KnownSubaccount | null {
    const known = this.byId[id];
    if (known !== undefined) return known;
    const { system, account, index } = this.view.subaccount(id);
    const owner: KnownSubaccount | null = system
      ? null
      : {
          id,
          account,
          address: this.view.addressOf(account),
          index,
          cash: 0,
          positions: [],
          isolated: [],
          shares: 0,
        };
    while (this.byId.length < id) this.byId.push(undefined);
    this.byId[id] = owner;
    if (owner !== null) this.subaccounts.push(owner);
    return owner;
  }

  /** A nonce of orders at an edge of a window of this subaccount; null if none was used. */
  nonceEdge(owner: SubaccountId, dice: Dice): bigint | null {
    return this.nonces.edge(owner, dice);
  }

  /** The nonces of orders that an identity of this subaccount has used, ascending. */
  noncesOf(owner: SubaccountId, delegate: AccountId | null): readonly bigint[] {
    return this.nonces.of(owner, delegate);
  }

  /** An identity with a full window; null if there is none. */
  fullWindow(): ReturnType<UsedNonces['fullest']> {
    return this.nonces.fullest();
  }

  private edge(atUs: number): void {
    this.edges[this.edgesSeen % MAX_EDGES] = atUs;
    this.edgesSeen += 1;
  }

  private add({ orderId: id, subaccount, market }: LiveOrderEvent): void {
    if (this.places.has(id)) return;
    this.places.set(id, this.live.length);
    this.live.push({ id, subaccount, market });
  }

  private remove(id: OrderId): void {
    const place = this.places.get(id);
    if (place === undefined) return;
    this.places.delete(id);
    const last = this.live.pop();
    if (last === undefined || last.id === id) return;
    this.live[place] = last;
    this.places.set(last.id, place);
  }

  private list(id: MarketId, spec: MarketSpec): void {
    const openingTicks = this.openingTicks[id] ?? 1000;
    this.markets[id] = {
      id,
      spec,
      asked: spec,
      status: 'open',
      openingTicks,
      indexTicks: openingTicks,
      markTicks: openingTicks,
      frozen: false,
      priced: spec.initialMarkTicks !== null,
    };
  }

  private grant(account: AccountId, index: number, delegate: AccountId, granted: boolean): void {
    const place = this.grants.findIndex(
      (known) => known.account === account && known.index === index && known.delegate === delegate,
    );
    if (granted && place < 0) this.grants.push({ account, index, delegate });
    if (granted || place < 0) return;
    this.revoked.push(...this.grants.splice(place, 1));
    if (this.revoked.length > MAX_REVOKED) this.revoked.shift();
  }
}

interface LiveOrderEvent {
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
}
