/**
 * Records one strategy's account: orders, fills, funding, liquidations, money, and equity over
 * time.
 */
import { must } from '../../base/assert.ts';
import type {
  EngineEvent,
  LiquidationStep,
  OrderFilled,
  PositionTransferred,
} from '../../engine/events.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { MarketView, OrderView } from '../../engine/read/views.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import type { OrderIds } from '../../gateway/order-ids.ts';
import type { AccountUpdate } from '../../strategy/strategy.ts';
import { absBig, maxBig } from '../../num/arithmetic.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { marketId, type OrderId, type SubaccountId } from '../../num/units.ts';
import {
  MARKOUT_HORIZONS_US,
  type EquityPoint,
  type FillRow,
  type FundingRow,
  type LiquidationRow,
  type LogRow,
  type OrderRow,
  type PlotOutput,
  type RefusalRow,
  type StrategySummary,
  type TransferRow,
} from '../output.ts';
import { Accounting, type AccountingState } from './accounting.ts';
import { noteCharge, takeCharge } from './clearing-charges.ts';
import type { Markouts } from './markouts.ts';
import { Plots } from './plots.ts';
import { addSample } from './sample-times.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Times of sending and arrival of a request, and the market's mids at both. */
export interface RequestTimes {
  readonly sentUs: number;
  readonly arrivedUs: number;
  readonly sentMids: readonly (number | null)[];
}

interface State {
  accounting: AccountingState;
  equityStart: bigint;
  upnlStart: bigint;
  highQuanta: bigint;
  maxDrawdown: bigint;
  makerFills: number;
  makerFees: bigint;
  rejectedOrders: number;
  refusedRequests: number;
  /** By request and status. */
  readonly refusals: Map<string, Mutable<RefusalRow>>;
  orderCount: number;
  turnover: bigint;
  pendingFunding: bigint;
  /** By market: fees and payments of a clearing that is about to close the position. */
  readonly charges: bigint[];
  /** By market: max |position|; lots filled. */
  readonly largest: number[];
  readonly volume: number[];
  readonly equity: EquityPoint[];
  readonly orders: Mutable<OrderRow>[];
  /** Indices in `orders` of open orders, by the engine's order number. */
  readonly live: Map<number, number>;
  readonly fills: FillRow[];
  readonly funding: FundingRow[];
  readonly liquidations: Mutable<LiquidationRow>[];
  readonly transfers: TransferRow[];
  readonly log: LogRow[];
  /** Tags by nonce. */
  readonly tags: Map<bigint, string>;
}

export interface RecorderPorts {
  readonly engine: Exchange;
  readonly ids: OrderIds;
  readonly mid: (market: number) => number | null;
  readonly markouts: Markouts;
  /** The request that the exchange is processing for this strategy, or null. */
  readonly request: () => RequestTimes | null;
}

export class StrategyRecorder {
  readonly subaccount: SubaccountId;
  private readonly ports: RecorderPorts;
  private readonly accounting = new Accounting();
  readonly plots = new Plots();
  private state: State;

  constructor(subaccount: SubaccountId, ports: RecorderPorts) {
    this.subaccount = subaccount;
    this.ports = ports;
    const markets = ports.engine.markets().length;
    this.state = {
      accounting: this.accounting.state,
      equityStart: 0n,
      upnlStart: 0n,
      highQuanta: 0n,
      maxDrawdown: 0n,
      makerFills: 0,
      makerFees: 0n,
      rejectedOrders: 0,
      refusedRequests: 0,
      refusals: new Map(),
      orderCount: 0,
      turnover: 0n,
      pendingFunding: 0n,
      charges: new Array<bigint>(markets).fill(0n),
      largest: new Array<number>(markets).fill(0),
      volume: new Array<number>(markets).fill(0),
      equity: [],
      orders: [],
      live: new Map(),
      fills: [],
      funding: [],
      liquidations: [],
      transfers: [],
      log: [],
      tags: new Map(),
    };
    this.begin();
  }

  /** Starts measurement at the end of the warm-up, which has no trades. */
  begin(): void {
    const margin = this.ports.engine.margin(this.subaccount);
    this.state.equityStart = margin.accountValueQuanta;
    this.state.upnlStart = margin.upnlQuanta;
    this.state.highQuanta = margin.accountValueQuanta;
  }

  onEvent(event: EngineEvent): void {
    switch (event.kind) {
      case 'orderAccepted':
      case 'orderRejected':
        this.onOrder(event.orderId, event.timeUs);
        return;
      case 'orderRested':
        this.onRested(event.orderId, event.timeUs);
        return;
      case 'orderEnded':
        this.onEnded(event.orderId, event.timeUs);
        return;
      case 'orderFilled':
        this.onFill(event);
        return;
      case 'balanceChanged':
      case 'isolatedMarginChanged':
        this.accounting.onEvent(event);
        if (event.reason === 'funding') this.state.pendingFunding += event.deltaQuanta;
        noteCharge(event, this.ports.engine, this.state);
        if (event.reason === 'transferIn' || event.reason === 'transferOut') {
          const { timeUs, reason, deltaQuanta } = event;
          this.state.transfers.push({ timeUs, reason, amount: money(deltaQuanta) });
        }
        return;
      case 'liquidationStep':
        this.onLiquidation(event);
        return;
      case 'positionTransferred':
        this.onTransferred(event);
        return;
      default:
    }
  }

  /** Records a funding settlement; returns this strategy's payment. */
  onFunding(market: MarketView, timeUs: number, ratePpb: number): string {
    const payment = this.state.pendingFunding;
    this.state.pendingFunding = 0n;
    const position = this.positionLots(market.id);
    if (position !== 0 || payment !== 0n) {
      this.state.funding.push({
        timeUs,
        symbol: market.spec.symbol,
        rate: formatDecimal(BigInt(ratePpb), 9),
        payment: money(payment),
        position: sizeText(market, position),
      });
    }
    return money(payment);
  }

  onRefused(request: string, status: number, message: string): void {
    const { state } = this;
    state.refusedRequests += 1;
    const key = `${request} ${String(status)}`;
    const known = state.refusals.get(key);
    if (known !== undefined) known.count += 1;
    else state.refusals.set(key, { request, status, count: 1, message });
  }

  onLog(timeUs: number, text: string): void {
    this.state.log.push({ timeUs, text });
  }

  onTag(nonce: number | bigint, text: string): void {
    this.state.tags.set(BigInt(nonce), text);
  }

  /** Protective orders have the nonce of their parent; those of the engine have no tag. */
  private tagOf({ nonce, attached }: OrderView): string | null {
    const tag = attached === 'engine' ? undefined : this.state.tags.get(nonce);
    return tag ?? null;
  }

  /** The last liquidation step, of the event that was recorded last. */
  get lastLiquidation(): LiquidationRow | undefined {
    return this.state.liquidations.at(-1);
  }

  /** The account as an update for the strategy. */
  account(timeUs: number): AccountUpdate {
    const { engine } = this.ports;
    const { accountValueQuanta, balanceQuanta } = engine.margin(this.subaccount);
    return {
      timeUs,
      equity: money(accountValueQuanta),
      balance: money(balanceQuanta),
      positions: engine.positions(this.subaccount).map(({ market: id, lots }) => {
        const market = engine.market(id);
        const { markTicks } = market;
        return {
          symbol: market.spec.symbol,
          quantity: sizeText(market, lots),
          mark: markTicks === null ? null : priceText(market, markTicks),
        };
      }),
    };
  }

  positionLots(market: number): number {
    return this.ports.engine.positionLots(this.subaccount, marketId(market));
  }

  sample(timeUs: number, marks: readonly (number | null)[]): void {
    const { engine } = this.ports;
    const margin = engine.margin(this.subaccount);
    const equity = Number(margin.accountValueQuanta) / 1e6;
    this.noteEquity(margin.accountValueQuanta);
    const { transfers } = this.accounting.state;
    const positions = marks.map(() => 0);
    let exposure = 0;
    for (const { market, lots } of engine.positions(this.subaccount)) {
      const size = Number(sizeText(engine.market(market), lots));
      positions[market] = size;
      exposure += Math.abs(size) * (marks[market] ?? 0);
    }
    const over = (amount: bigint): number => (equity > 0 ? Number(amount) / 1e6 / equity : 0);
    addSample(this.state.equity, {
      timeUs,
      equity,
      ...(transfers === 0n ? {} : { transfers: Number(transfers) / 1e6 }),
      balance: Number(margin.balanceQuanta) / 1e6,
      positions,
      exposure,
      leverage: equity > 0 ? exposure / equity : 0,
      marginUsage: over(margin.initialRequirementQuanta),
      maintenanceUsage: over(margin.maintenanceRequirementQuanta),
    });
  }

  /** Money that transfers bring is no gain. */
  private noteEquity(value: bigint): void {
    const { state } = this;
    const equity = value - maxBig(0n, this.accounting.state.transfers);
    state.highQuanta = maxBig(state.highQuanta, equity);
    state.maxDrawdown = maxBig(state.maxDrawdown, state.highQuanta - equity);
  }

  private onOrder(id: OrderId, timeUs: number): void {
    const { engine, ids, mid, request } = this.ports;
    const order = mustOrder(engine, id);
    const market = engine.market(order.market);
    const times = order.attached === 'engine' ? null : request();
    const ended = order.status === 'rejected';
    const { state } = this;
    state.orderCount += 1;
    if (ended) state.rejectedOrders += 1;
    else state.live.set(id, state.orders.length);
    state.orders.push({
      orderId: ids.digestOf(order),
      orderNumber: id,
      clientId: order.clientId,
      tag: this.tagOf(order),
      symbol: market.spec.symbol,
      orderType: order.orderType,
      side: order.lots > 0 ? 'buy' : 'sell',
      price: priceText(market, order.priceTicks),
      triggerPrice: order.triggerTicks === null ? null : priceText(market, order.triggerTicks),
      size: sizeText(market, Math.abs(order.lots)),
      ioc: order.ioc,
      postOnly: order.postOnly,
      reduceOnly: order.reduceOnly,
      sentUs: times?.sentUs ?? timeUs,
      arrivedUs: times?.arrivedUs ?? timeUs,
      sentMid: times === null ? mid(order.market) : (times.sentMids[order.market] ?? null),
      arrivalMid: mid(order.market),
      restedUs: null,
      queueAhead: null,
      endedUs: ended ? timeUs : null,
      status: order.status,
      reason: order.reason,
      filled: '0',
    });
  }

  private rowOf(id: OrderId): Mutable<OrderRow> | undefined {
    const place = this.state.live.get(id);
    return place === undefined ? undefined : this.state.orders[place];
  }

  private onRested(id: OrderId, timeUs: number): void {
    const row = this.rowOf(id);
    if (row === undefined || row.restedUs !== null) return;
    const { engine } = this.ports;
    const market = engine.market(mustOrder(engine, id).market);
    row.restedUs = timeUs;
    row.queueAhead = sizeText(market, engine.queueAhead(id) ?? 0);
    row.status = 'new';
  }

  private onEnded(id: OrderId, timeUs: number): void {
    const row = this.rowOf(id);
    if (row === undefined) return;
    const { engine } = this.ports;
    const order = mustOrder(engine, id);
    row.endedUs = timeUs;
    row.status = order.status;
    row.reason = order.reason;
    row.filled = sizeText(engine.market(order.market), Math.abs(order.settledLots));
    this.state.live.delete(id);
  }

  private onFill(event: OrderFilled): void {
    const { engine, markouts, mid } = this.ports;
    const { state } = this;
    const order = mustOrder(engine, event.orderId);
    const market = engine.market(event.market);
    const row = this.rowOf(event.orderId);
    const size = Math.abs(event.lots);
    const liquidation = order.attached === 'engine';
    const position = this.positionLots(event.market);
    if (event.role === 'maker') {
      state.makerFills += 1;
      state.makerFees += event.feeQuanta;
    }
    state.volume[event.market] = (state.volume[event.market] ?? 0) + size;
    state.largest[event.market] = Math.max(state.largest[event.market] ?? 0, Math.abs(position));
    state.turnover +=
      BigInt(size) * BigInt(event.priceTicks) * BigInt(market.spec.quantaPerTickLot);
    if (row !== undefined) {
      row.filled = sizeText(market, Math.abs(order.settledLots));
      row.status = order.status;
    }
    const marks: (number | null)[] = MARKOUT_HORIZONS_US.map(() => null);
    const restedUs = row?.restedUs ?? null;
    state.fills.push({
      fillId: event.tradeId,
      seq: event.seq,
      timeUs: event.timeUs,
      symbol: market.spec.symbol,
      orderId: row?.orderId ?? this.ports.ids.digestOf(order),
      orderNumber: event.orderId,
      tag: this.tagOf(order),
      side: event.lots > 0 ? 'buy' : 'sell',
      role: event.role,
      price: priceText(market, event.priceTicks),
      size: sizeText(market, size),
      fee: money(event.feeQuanta),
      originatorFee: money(event.originatorFeeQuanta),
      realizedPnl: money(event.realizedPnlQuanta),
      realizedFunding: money(event.realizedFundingQuanta),
      position: sizeText(market, position),
      liquidation,
      sentUs: row?.sentUs ?? event.timeUs,
      arrivedUs: row?.arrivedUs ?? event.timeUs,
      arrivalMid: row?.arrivalMid ?? null,
      queueWaitUs: event.role === 'maker' && restedUs !== null ? event.timeUs - restedUs : 0,
      midBefore: mid(event.market),
      markouts: marks,
    });
    markouts.watch(event.timeUs, event.market, marks);
  }

  private onLiquidation(event: LiquidationStep): void {
    const market = event.market === null ? null : this.ports.engine.market(event.market);
    const price = (ticks: number | null): string | null =>
      ticks === null || market === null ? null : priceText(market, ticks);
    this.state.liquidations.push({
      timeUs: event.timeUs,
      symbol: market?.spec.symbol ?? null,
      step: event.step,
      equity: money(event.equityQuanta),
      maintenance: money(event.maintenanceQuanta),
      size: market === null ? '0' : sizeText(market, event.lots),
      limitPrice: price(event.limitTicks),
      bankruptcyPrice: price(event.bankruptcyTicks),
      amount: money(event.amountQuanta),
    });
  }

  /** Records a position transferred outside the book, from or to this account. */
  private onTransferred(event: PositionTransferred): void {
    const market = this.ports.engine.market(event.market);
    const taken = event.from === this.subaccount;
    this.state.liquidations.push({
      timeUs: event.timeUs,
      symbol: market.spec.symbol,
      step: taken ? `${event.reason}From` : `${event.reason}To`,
      equity: '0',
      maintenance: '0',
      size: sizeText(market, taken ? -event.lots : event.lots),
      limitPrice: priceText(market, event.priceTicks),
      bankruptcyPrice: null,
      amount: money(taken ? -event.moneyQuanta : event.moneyQuanta),
      realizedPnl: money(taken ? event.fromRealizedQuanta : event.toRealizedQuanta),
      realizedFunding: money(taken ? event.fromFundingQuanta : event.toFundingQuanta),
      fillsBefore: this.state.fills.length,
      ...(taken ? takeCharge(this.state.charges, event.market) : {}),
    });
  }

  summary(): StrategySummary {
    const { engine } = this.ports;
    const { state } = this;
    const margin = engine.margin(this.subaccount);
    const end = margin.accountValueQuanta;
    this.noteEquity(end);
    const change = end - state.equityStart;
    const trading = this.accounting.trading(change, margin.upnlQuanta - state.upnlStart);
    const { fees, originatorFees, funding, liquidation, transfers } = this.accounting.state;
    return {
      equityStart: money(state.equityStart),
      equityEnd: money(end),
      pnl: money(change - transfers),
      pnlTrading: money(trading),
      pnlFees: money(fees + originatorFees),
      feesMaker: money(-state.makerFees),
      feesTaker: money(fees + state.makerFees),
      feesOriginator: money(originatorFees),
      pnlFunding: money(funding),
      pnlLiquidation: money(liquidation),
      transfers: money(transfers),
      fills: state.fills.length,
      makerFills: state.makerFills,
      orders: state.orderCount,
      rejectedOrders: state.rejectedOrders,
      refusedRequests: state.refusedRequests,
      refusals: [...state.refusals.values()].sort((a, b) => b.count - a.count),
      turnover: money(absBig(state.turnover)),
      positions: engine.markets().map((market) => ({
        symbol: market.spec.symbol,
        final: sizeText(market, this.positionLots(market.id)),
        largest: sizeText(market, state.largest[market.id] ?? 0),
        volume: sizeText(market, state.volume[market.id] ?? 0),
      })),
      maxDrawdown: money(state.maxDrawdown),
    };
  }

  rows(): Pick<State, 'equity' | 'orders' | 'fills' | 'funding' | 'liquidations' | 'transfers'> & {
    readonly log: readonly LogRow[];
    readonly plots: readonly PlotOutput[];
  } {
    const { equity, orders, fills, funding, liquidations, transfers, log } = this.state;
    const plots = this.plots.output();
    return { equity, orders, fills, funding, liquidations, transfers, log, plots };
  }

  save(): unknown {
    return [this.state, this.plots.save()];
  }

  load(saved: unknown): void {
    const [state, plots] = saved as [Omit<State, 'refusals' | 'charges'>, unknown];
    // Checkpoints of earlier versions have no refusals and no charges.
    this.state = { refusals: new Map(), charges: [], ...state };
    this.plots.load(plots);
    this.accounting.state = this.state.accounting;
  }
}

function mustOrder(engine: Exchange, id: OrderId): OrderView {
  return must(engine.order(id), 'an order is known while its events are delivered');
}
