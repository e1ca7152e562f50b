/**
 * What the generator knows of the exchange that it drives: marks, who holds what, which orders live. Kept up from events, so that making
 * a command costs no scan; a belief that is wrong (an engine under test may lie) only makes a command less apt.
 */
import type { MarketSpec, MarketStatus } from '../engine/config.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import type { AccountId, Address, MarketId, OrderId, SubaccountId } from '../num/units.ts';

/** What expires after this (about the year 2128) never does, for a run. */
const FAR_MS = 5_000_000_000_000n;
const MOST_EDGES = 32;
const MOST_REVOKED = 8;

export interface KnownMarket {
  readonly id: MarketId;
  /** In force, and what was asked for last. */
  spec: MarketSpec;
  asked: MarketSpec;
  status: MarketStatus;
  /** Where it opened: prices are drawn back towards it. */
  readonly openingTicks: number;
  indexTicks: number;
  markTicks: number;
  /** When the oracle spoke last. */
  indexUs: number;
}

export interface KnownSubaccount {
  readonly id: SubaccountId;
  readonly account: AccountId;
  readonly address: Address;
  readonly index: number;
  /** Quanta as a double: for sizes only. */
  cash: number;
  /** Signed lots by market id. */
  readonly positions: number[];
  /** Whether margin is isolated, by market id. */
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
  /** Users' subaccounts. */
  readonly subaccounts: KnownSubaccount[] = [];
  readonly live: LiveOrder[] = [];
  readonly grants: Grant[] = [];
  /** Those that were revoked last. */
  readonly revoked: Grant[] = [];
  /** Instants at which something that was told of lately ends, in µs: expiries, lock-ups, pauses, the freshness of an index. */
  readonly edges: number[] = [];
  private readonly byId: (KnownSubaccount | null | undefined)[] = [];
  private readonly places = new Map<OrderId, number>();
  private edgesSeen = 0;
  private readonly openingTicks: readonly number[];

  constructor(view: ExchangeView, openingTicks: readonly number[]) {
    this.view = view;
    this.openingTicks = openingTicks;
  }

  readonly observe = (event: EngineEvent): void => {
    switch (event.kind) {
      case 'orderAccepted':
        if (event.expiresAtMs < FAR_MS) this.edge(Number(event.expiresAtMs) * 1000);
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
        market.indexUs = event.timeUs;
        this.edge(event.timeUs + this.view.config.indexStaleUs);
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
        this.list(event.market, event.spec, event.timeUs);
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

  /** Takes in markets that were listed before anyone listened. */
  knowMarkets(): void {
    for (const { id, spec } of this.view.markets()) this.list(id, spec, this.view.nowUs);
  }

  /** null for the exchange's own. */
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

  private edge(atUs: number): void {
    this.edges[this.edgesSeen % MOST_EDGES] = atUs;
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

  private list(id: MarketId, spec: MarketSpec, nowUs: number): void {
    const openingTicks = this.openingTicks[id] ?? 1000;
    this.markets[id] = {
      id,
      spec,
      asked: spec,
      status: 'open',
      openingTicks,
      indexTicks: openingTicks,
      markTicks: openingTicks,
      indexUs: nowUs,
    };
  }

  private grant(account: AccountId, index: number, delegate: AccountId, granted: boolean): void {
    const place = this.grants.findIndex(
      (known) => known.account === account && known.index === index && known.delegate === delegate,
    );
    if (granted && place < 0) this.grants.push({ account, index, delegate });
    if (granted || place < 0) return;
    this.revoked.push(...this.grants.splice(place, 1));
    if (this.revoked.length > MOST_REVOKED) this.revoked.shift();
  }
}

interface LiveOrderEvent {
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
}
