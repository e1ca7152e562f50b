/**
 * Changes since the last publication, collected from engine events. Orders, positions and balances
 * are published in their final state, trades and fills one by one.
 */
import type {
  BalanceChanged,
  EngineEvent,
  LiquidationStep,
  OrderFilled,
  PositionTransferred,
  TradePrinted,
} from '../../engine/events.ts';
import type { MarketId, OrderId, SubaccountId } from '../../num/units.ts';

export class Changes {
  readonly trades: TradePrinted[] = [];
  readonly fills: (OrderFilled | PositionTransferred)[] = [];
  /** Public events of liquidations. */
  readonly liquidations: (LiquidationStep | PositionTransferred | BalanceChanged)[] = [];
  /** Markets with changed terms or status. */
  readonly terms = new Set<MarketId>();
  readonly orders = new Map<OrderId, SubaccountId>();
  /** Markets with changed positions, by subaccount. */
  readonly positions = new Map<SubaccountId, Set<MarketId>>();
  readonly balances = new Set<SubaccountId>();
  /** Markets whose book, price or summary may have changed. */
  readonly markets = new Set<MarketId>();
  /** True if delegates or signers of any account changed. */
  rights = false;
  private readonly shortfall: SubaccountId;

  constructor(shortfall: SubaccountId) {
    this.shortfall = shortfall;
  }

  note(event: EngineEvent): void {
    switch (event.kind) {
      case 'tradePrinted':
        this.trades.push(event);
        this.markets.add(event.market);
        return;
      case 'orderFilled':
        this.fills.push(event);
        this.noteOrder(event.orderId, event.subaccount, event.market);
        return;
      case 'orderAccepted':
      case 'orderRejected':
      case 'orderRested':
      case 'orderPending':
      case 'orderReleased':
      case 'orderEnded':
        this.noteOrder(event.orderId, event.subaccount, event.market);
        return;
      case 'positionTransferred':
        this.fills.push(event);
        this.liquidations.push(event);
        this.markets.add(event.market);
        return;
      case 'liquidationStep':
        if (event.step !== 'cancelOrders' && event.step !== 'safe') this.liquidations.push(event);
        return;
      case 'positionChanged':
      case 'isolatedMarginChanged':
        this.notePosition(event.subaccount, event.market);
        this.markets.add(event.market);
        return;
      case 'balanceChanged':
        this.balances.add(event.subaccount);
        if (event.subaccount === this.shortfall) this.liquidations.push(event);
        return;
      case 'delegateChanged':
      case 'signersChanged':
        this.rights = true;
        return;
      case 'marketListed':
      case 'marketFrozen':
      case 'marketStatusChanged':
      case 'marketTermsChanged':
      case 'marketDelisted':
        this.terms.add(event.market);
        this.markets.add(event.market);
        return;
      case 'markChanged':
      case 'oracleSet':
      case 'tapeApplied':
      case 'fundingSettled':
        this.markets.add(event.market);
        return;
      default:
    }
  }

  /** Removes what a replay publishes event by event. */
  takeOrdered(): Pick<Changes, 'trades' | 'fills' | 'orders'> {
    const taken = {
      trades: this.trades.splice(0),
      fills: this.fills.splice(0),
      orders: new Map(this.orders),
    };
    this.orders.clear();
    return taken;
  }

  private noteOrder(id: OrderId, subaccount: SubaccountId, market: MarketId): void {
    this.orders.set(id, subaccount);
    this.markets.add(market);
  }

  private notePosition(subaccount: SubaccountId, market: MarketId): void {
    let markets = this.positions.get(subaccount);
    if (markets === undefined) {
      markets = new Set();
      this.positions.set(subaccount, markets);
    }
    markets.add(market);
  }
}
