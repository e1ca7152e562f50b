/**
 * A backtest: recorded history and a strategy meet in the real exchange (DESIGN §6, §7).
 *
 * One loop over virtual time. The next thing to happen is the tape's next command, a scheduled entry (an order
 * arriving, an answer or a feed update being delivered, a strategy's timer) or the engine's own next timer, whichever is
 * first; at one instant in that order of priorities. Everything that reaches the exchange is journalled, so the journal
 * replays without the strategy.
 *
 * Look-ahead is impossible by construction: a strategy hears of an event a feed latency after it, reads see the exchange as it is when
 * the request arrives, and nothing else is handed to it.
 */
import { must } from '../base/assert.ts';
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { OrderView } from '../engine/views.ts';
import { money, priceText, sizeText } from '../gateway/encode.ts';
import { Gateway } from '../gateway/gateway.ts';
import { TrustOrderIds } from '../gateway/order-ids.ts';
import type { Keccak } from '../gateway/ports.ts';
import { absBig, maxBig } from '../num/arithmetic.ts';
import {
  lots,
  marketId,
  timeUs,
  type Address,
  type OrderId,
  type Quanta,
  type SubaccountId,
  type TimeUs,
} from '../num/units.ts';
import type { LatencyModel } from '../sim/latency.ts';
import { RecordedExchange } from '../sim/recorded-exchange.ts';
import { PRIORITY, Scheduler } from '../sim/scheduler.ts';
import { Accounting } from './accounting.ts';
import type { BacktestSummary, FillRow, SeriesPoint } from './result.ts';
import { VirtualClient } from './virtual-client.ts';
import type { Strategy, StrategyContext, TouchUpdate } from './strategy.ts';

export interface BacktestInput {
  readonly config: ExchangeConfig;
  readonly spec: MarketSpec;
  readonly strategy: Strategy;
  readonly account: Address;
  readonly deposit: Quanta;
  readonly latency: LatencyModel;
  /** Commands of the tape in time order, in batches. */
  readonly tape: AsyncIterable<readonly Command[]>;
  readonly keccak: Keccak;
  /** Lets pending promise callbacks run: a macrotask of the platform. */
  readonly yieldMacrotask: () => Promise<void>;
  /** Time between two samples of the curves, µs. */
  readonly sampleUs: number;
  readonly onProgress?: () => void;
  readonly cancelled?: () => boolean;
}

export interface BacktestOutput {
  readonly summary: BacktestSummary;
  readonly series: readonly SeriesPoint[];
  readonly fills: readonly FillRow[];
  readonly journal: Uint8Array;
  readonly engine: Exchange;
  readonly cancelled: boolean;
}

const MARKET = marketId(0);

/** Rejects when the strategy throws, or awaits something outside virtual time. */
export async function runBacktest(input: BacktestInput): Promise<BacktestOutput> {
  const run = new Run(input);
  return run.complete();
}

class Run {
  private readonly input: BacktestInput;
  private readonly scheduler: Scheduler;
  private readonly exchange: RecordedExchange;
  private readonly client: VirtualClient;
  private readonly ids: TrustOrderIds;
  private readonly context: StrategyContext;
  private readonly subaccount: SubaccountId;
  private readonly accounting: Accounting;

  private pendingHandlers = 0;
  private sleeping = 0;
  private strategyError: unknown = null;
  private nonce = 0;
  private lastTouch = '';
  private firstUs: TimeUs;
  private nextSampleUs: number;

  private readonly series: SeriesPoint[] = [];
  private readonly fills: FillRow[] = [];
  private makerFills = 0;
  private orders = 0;
  private rejectedOrders = 0;
  private volumeLots = 0;
  private tickLots = 0n;
  private maxPosition = 0;
  private highQuanta: bigint;
  private maxDrawdown = 0n;

  constructor(input: BacktestInput) {
    this.input = input;
    const { config, spec, account, deposit } = input;
    const startUs = config.genesisTimeUs;
    this.firstUs = startUs;
    this.nextSampleUs = startUs;
    this.scheduler = new Scheduler(startUs);
    this.exchange = new RecordedExchange(config, { checkpointEvery: 5000 });
    const listed = this.exchange.submit({ kind: 'listMarket', timeUs: startUs, spec });
    if (listed !== 'ok') throw new Error(`market ${spec.symbol} cannot be listed: ${listed}`);
    this.exchange.submit({
      kind: 'deposit',
      timeUs: startUs,
      account,
      subaccountIndex: 0,
      amount: deposit,
    });
    const { engine } = this.exchange;
    this.subaccount = must(engine.subaccountIdOf(account, 0), 'a deposit opens the subaccount');
    this.accounting = new Accounting(this.subaccount);
    this.highQuanta = deposit;
    this.exchange.onEvent((event) => {
      this.onEvent(event);
    });
    const gateway = new Gateway({
      engine,
      submit: (command) => this.exchange.submit(command),
      nowUs: () => this.scheduler.nowUs,
      keccak: input.keccak,
      signatures: 'trust',
    });
    this.ids = new TrustOrderIds(engine, input.keccak);
    this.client = new VirtualClient(
      this.scheduler,
      gateway,
      { account, signer: account },
      input.latency,
      (atUs) => {
        this.exchange.advanceTo(atUs);
      },
    );
    this.context = this.makeContext();
  }

  async complete(): Promise<BacktestOutput> {
    const { input, scheduler, exchange } = this;
    this.deliver(scheduler.nowUs, () => input.strategy.onStart?.(this.context));
    let cancelled = false;
    for await (const batch of input.tape) {
      for (const command of batch) {
        await this.advance(command.timeUs, PRIORITY.tape);
        scheduler.advanceTo(command.timeUs);
        exchange.submit(command);
        this.afterCommand();
      }
      input.onProgress?.();
      if (input.cancelled?.() === true) {
        cancelled = true;
        break;
      }
    }
    const endUs = exchange.engine.nowUs;
    this.sample();
    if (!cancelled) {
      this.deliver(endUs, () => input.strategy.onStop?.(this.context));
      // Answers that are still on their way come in; nothing new of the market does.
      await this.drain();
    }
    const journal = exchange.finish();
    return {
      summary: this.summary(endUs),
      series: this.series,
      fills: this.fills,
      journal,
      engine: exchange.engine,
      cancelled,
    };
  }

  /** Runs everything that is due before a time and priority. */
  private async advance(untilUs: TimeUs, priority: number): Promise<void> {
    const { scheduler, exchange } = this;
    for (;;) {
      const entryUs = scheduler.nextUs();
      const timerUs = exchange.engine.nextTimerUs();
      const entryIsDue =
        entryUs < untilUs || (entryUs === untilUs && scheduler.nextPriority() < priority);
      if (timerUs < untilUs && (!entryIsDue || timerUs < entryUs)) {
        const atUs = timeUs(timerUs);
        scheduler.advanceTo(atUs);
        exchange.advanceTo(atUs);
        this.afterCommand();
        continue;
      }
      if (!entryIsDue) return;
      scheduler.runNext();
      this.afterCommand();
      if (this.pendingHandlers > 0) await this.settle();
      this.throwStrategyError();
    }
  }

  private async drain(): Promise<void> {
    while (this.client.outstanding > 0 || this.sleeping > 0 || this.scheduler.nextUs() < Infinity) {
      if (!this.scheduler.runNext()) break;
      if (this.pendingHandlers > 0) await this.settle();
      this.throwStrategyError();
    }
    if (this.pendingHandlers > 0) await this.settle();
    this.throwStrategyError();
  }

  /** Lets promise callbacks run, and fails when a handler can never go on. */
  private async settle(): Promise<void> {
    await this.input.yieldMacrotask();
    this.throwStrategyError();
    if (this.pendingHandlers > 0 && this.client.outstanding === 0 && this.sleeping === 0) {
      throw new Error(
        `strategy '${this.input.strategy.name}' awaits something outside virtual time`,
      );
    }
  }

  private throwStrategyError(): void {
    if (this.strategyError === null) return;
    const error = this.strategyError;
    throw error instanceof Error ? error : new Error('the strategy rejected without an Error');
  }

  /** Runs a handler of the strategy. */
  private handle(handler: () => void | Promise<void> | undefined): void {
    const result = handler();
    if (result === undefined) return;
    this.pendingHandlers += 1;
    result.then(
      () => {
        this.pendingHandlers -= 1;
      },
      (error: unknown) => {
        this.pendingHandlers -= 1;
        this.strategyError ??= error;
      },
    );
  }

  private deliver(atUs: TimeUs, handler: () => void | Promise<void> | undefined): void {
    this.scheduler.at(atUs, PRIORITY.delivery, () => {
      this.handle(handler);
    });
  }

  private makeContext(): StrategyContext {
    const { scheduler, input } = this;
    return {
      client: this.client,
      account: input.account,
      subaccountIndex: 0,
      symbol: input.spec.symbol,
      now: () => scheduler.nowUs,
      setTimer: (name, afterUs) => {
        const atUs = timeUs(scheduler.nowUs + Math.max(1, Math.floor(afterUs)));
        scheduler.at(atUs, PRIORITY.timer, () => {
          this.handle(() => input.strategy.onTimer?.(name, this.context));
        });
      },
      sleep: (us) => {
        this.sleeping += 1;
        return new Promise((resolve) => {
          const atUs = timeUs(scheduler.nowUs + Math.max(1, Math.floor(us)));
          scheduler.at(atUs, PRIORITY.timer, () => {
            this.sleeping -= 1;
            resolve();
          });
        });
      },
      nextNonce: () => this.nonce++,
    };
  }

  /** After anything that reached the exchange: a changed touch goes out, and the curves are sampled. */
  private afterCommand(): void {
    const market = this.exchange.engine.market(MARKET);
    const { bestBid, bestAsk } = market;
    const key = `${String(bestBid?.priceTicks)} ${String(bestBid?.lots)} ${String(bestAsk?.priceTicks)} ${String(bestAsk?.lots)}`;
    if (key !== this.lastTouch) {
      this.lastTouch = key;
      const level = (side: typeof bestBid): TouchUpdate['bid'] =>
        side === null
          ? null
          : { price: priceText(market, side.priceTicks), size: sizeText(market, side.lots) };
      const update: TouchUpdate = {
        symbol: market.spec.symbol,
        timeUs: this.scheduler.nowUs,
        bid: level(bestBid),
        ask: level(bestAsk),
        tickSize: market.spec.tickSize,
        bidTicks: bestBid?.priceTicks ?? null,
        askTicks: bestAsk?.priceTicks ?? null,
      };
      this.publish((strategy) => strategy.onBook?.(update, this.context));
    }
    if (this.exchange.engine.nowUs >= this.nextSampleUs) this.sample();
  }

  /** Delivers a feed update after the feed latency. */
  private publish(handler: (strategy: Strategy) => void | Promise<void> | undefined): void {
    const { strategy, latency } = this.input;
    this.deliver(timeUs(this.scheduler.nowUs + latency.feedUs), () => handler(strategy));
  }

  private onEvent(event: EngineEvent): void {
    this.accounting.onEvent(event);
    const { engine } = this.exchange;
    switch (event.kind) {
      case 'tradePrinted': {
        if (this.input.strategy.onTrade === undefined) return;
        const market = engine.market(event.market);
        const update = {
          symbol: market.spec.symbol,
          timeUs: event.timeUs,
          price: priceText(market, event.priceTicks),
          quantity: sizeText(market, event.lots),
        };
        this.publish((strategy) => strategy.onTrade?.(update, this.context));
        return;
      }
      case 'orderAccepted':
        if (event.subaccount === this.subaccount) this.orders += 1;
        return;
      case 'orderFilled':
        if (event.subaccount === this.subaccount) this.onFill(event);
        return;
      case 'orderRejected':
        if (event.subaccount !== this.subaccount) return;
        this.orders += 1;
        this.rejectedOrders += 1;
        this.publishEnd(event.orderId, event.timeUs, 'rejected', event.reason);
        return;
      case 'orderEnded':
        if (event.subaccount !== this.subaccount) return;
        this.publishEnd(event.orderId, event.timeUs, event.status, event.reason);
        return;
      default:
    }
  }

  private onFill(event: Extract<EngineEvent, { kind: 'orderFilled' }>): void {
    const { engine } = this.exchange;
    const market = engine.market(event.market);
    const size = Math.abs(event.lots);
    if (event.role === 'maker') this.makerFills += 1;
    this.volumeLots += size;
    this.tickLots += BigInt(size) * BigInt(event.priceTicks);
    this.fills.push({
      timeUs: event.timeUs,
      side: event.lots > 0 ? 'buy' : 'sell',
      role: event.role,
      price: priceText(market, event.priceTicks),
      size: sizeText(market, size),
      fee: money(event.feeQuanta + event.originatorFeeQuanta),
      realizedPnl: money(event.realizedPnlQuanta),
      orderNumber: event.orderId,
    });
    const positionLots = this.positionLots();
    this.maxPosition = Math.max(this.maxPosition, Math.abs(positionLots));
    const orderId = this.idOf(event.orderId);
    const update = {
      symbol: market.spec.symbol,
      timeUs: event.timeUs,
      orderId,
      role: event.role,
      price: priceText(market, event.priceTicks),
      quantity: sizeText(market, event.lots),
      remaining: sizeText(market, event.remainingLots),
      position: sizeText(market, positionLots),
    };
    this.publish((strategy) => strategy.onFill?.(update, this.context));
  }

  private publishEnd(
    id: OrderId,
    atUs: TimeUs,
    status: 'filled' | 'cancelled' | 'expired' | 'rejected',
    reason: string | null,
  ): void {
    if (this.input.strategy.onOrder === undefined) return;
    const orderId = this.idOf(id);
    const update = { symbol: this.input.spec.symbol, timeUs: atUs, orderId, status, reason };
    this.publish((strategy) => strategy.onOrder?.(update, this.context));
  }

  private idOf(id: OrderId): string {
    const order: OrderView = must(
      this.exchange.engine.order(id),
      'an order is known while its events are told',
    );
    return this.ids.digestOf(order);
  }

  private positionLots(): number {
    const [position] = this.exchange.engine.positions(this.subaccount);
    return position?.lots ?? 0;
  }

  private sample(): void {
    const { engine } = this.exchange;
    const { sampleUs } = this.input;
    this.nextSampleUs = Math.floor(engine.nowUs / sampleUs) * sampleUs + sampleUs;
    const market = engine.market(MARKET);
    if (market.bestBid === null || market.bestAsk === null || market.markTicks === null) return;
    if (this.series.at(-1)?.timeUs === engine.nowUs) return;
    const margin = engine.margin(this.subaccount);
    const equity = margin.accountValueQuanta;
    this.highQuanta = maxBig(this.highQuanta, equity);
    const fallen = this.highQuanta - equity;
    this.maxDrawdown = maxBig(this.maxDrawdown, fallen);
    this.series.push({
      timeUs: engine.nowUs,
      mid: Number(priceText(market, market.bestBid.priceTicks + market.bestAsk.priceTicks)) / 2,
      mark: Number(priceText(market, market.markTicks)),
      equity: Number(money(equity)),
      drawdown: 0 - Number(money(fallen)),
      position: Number(sizeText(market, this.positionLots())),
      leverage: equity > 0n ? Number(margin.crossNotionalQuanta) / Number(equity) : 0,
    });
  }

  private summary(endUs: TimeUs): BacktestSummary {
    const { engine } = this.exchange;
    const market = engine.market(MARKET);
    const margin = engine.margin(this.subaccount);
    const start = this.input.deposit;
    const end = margin.accountValueQuanta;
    const trading = this.accounting.trading(start, end, 0n, margin.upnlQuanta);
    return {
      symbol: market.spec.symbol,
      strategy: this.input.strategy.name,
      firstUs: this.firstUs,
      lastUs: endUs,
      equityStart: money(start),
      equityEnd: money(end),
      pnl: money(end - start),
      pnlTrading: money(trading),
      pnlFees: money(this.accounting.fees),
      pnlFunding: money(this.accounting.funding),
      fills: this.fills.length,
      makerFills: this.makerFills,
      orders: this.orders,
      rejectedOrders: this.rejectedOrders,
      volume: sizeText(market, this.volumeLots),
      turnover: money(absBig(this.tickLots * BigInt(market.spec.quantaPerTickLot))),
      finalPosition: sizeText(market, lots(this.positionLots())),
      maxDrawdown: money(this.maxDrawdown),
      maxPosition: sizeText(market, this.maxPosition),
      commands: engine.seq,
      chainHash: engine.chainHash(),
      stateHash: engine.stateHash(),
    };
  }
}
