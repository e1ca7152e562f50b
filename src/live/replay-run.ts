/**
 * Runs a strategy against a replay on a virtual clock (`orrery serve --replay`) over HTTP and
 * WebSocket, so that it equals a backtest on the same recording. The run moves the exchange's
 * clock: to the next request, delivery, timer or sample, or to the first update before it. The
 * latencies are those of a backtest and pass in virtual time only.
 */
import { addSample, nextSample } from '../backtest/recording/sample-times.ts';
import { StrategyRun } from '../backtest/strategy-run.ts';
import { VirtualClient, type SentRequest } from '../backtest/virtual-client.ts';
import type { LogRow } from '../backtest/output.ts';
import { must } from '../base/assert.ts';
import { ENDPOINTS, type EndpointId, type ResponseOf } from '../contract/endpoints.ts';
import type { OrderRecordShape } from '../contract/schemas.ts';
import type { Reply } from '../gateway/context.ts';
import type { FeedClient } from '../http-client/feed-client.ts';
import { quanta, timeUs, type Address, type SubaccountId } from '../num/units.ts';
import { strategyTerms, type RunTerms } from '../run-plan/run-terms.ts';
import { readLatencyRows } from '../run-plan/latency-rows.ts';
import { parseLatency } from '../run-plan/models.ts';
import { StrategyError } from '../strategy/definition.ts';
import type { FillUpdate, OrderUpdate } from '../strategy/strategy.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import { barLengths } from '../strategy/bars.ts';
import { Scheduler } from '../virtual-time/scheduler.ts';
import { readEquity, readMarkets } from './exchange-facts.ts';
import { createdLive } from './live-hooks.ts';
import { RunNotes } from './run-notes.ts';
import type { LiveOrder, LiveRecord, LiveRecorder } from './live-record.ts';
import { LiveUpdates, type RecordedBar } from './live-updates.ts';
import type { Data, Message, ReplayRunOptions } from './replay-options.ts';

/** Time after the end in which responses arrive, as in a backtest. */
const DRAIN_US = 60_000_000;
/** A token is valid for 24 hours of the exchange's time; it is renewed after this. */
const RENEW_US = 12 * 3_600_000_000;

export class ReplayRun implements LiveRecorder {
  private readonly options: ReplayRunOptions;
  private readonly scheduler: Scheduler;
  private readonly feeds: FeedClient;
  private readonly lingerUs: number;
  private readonly orders: LiveOrder[] = [];
  private readonly known = new Set<string>();
  private readonly fills: FillUpdate[] = [];
  private readonly ends = new Map<string, OrderUpdate>();
  private readonly equity: LiveRecord['equity'][number][] = [];
  private readonly log: LogRow[] = [];
  private readonly notes = new RunNotes(() => this.scheduler.nowUs);
  /** Roles of its fills whose update follows. */
  private readonly roles: FillUpdate['role'][] = [];
  /** Orders of other accounts, which a backtest does not have. */
  private foreignOrders = 0;
  private terms: RunTerms = {};
  private readonly inbox: Message[] = [];
  private receivedUs: number | null = null;
  /** Time of the exchange; everything up to it was played. */
  private reachedUs: number;
  private touched = false;
  private request: Promise<void> | null = null;
  /** Time of sending of the request at the exchange. */
  private sentUs: number | null = null;
  private tradeFromUs = 0;
  private readonly sampleUs: number;
  private readonly earlyUs: number;
  private nextSampleUs = Infinity;
  private renewUs: number;
  private hasEnded = false;
  /** True once the data have ended. */
  private isOver = false;
  private feedError: Error | null = null;
  private run: StrategyRun | null = null;
  private updates: LiveUpdates | null = null;
  private latency: ReturnType<typeof parseLatency>;

  constructor(options: ReplayRunOptions) {
    const { status, latency, id, seed } = options;
    this.options = options;
    this.scheduler = new Scheduler(timeUs(status.timeUs));
    this.reachedUs = status.timeUs - 1;
    this.renewUs = status.timeUs + RENEW_US;
    this.sampleUs = options.sampleUs ?? status.sampleUs;
    this.earlyUs = status.barsEmitted === 'nextOpen' ? 1 : 0;
    this.feeds = options.client.feeds();
    this.latency = parseLatency(latency, {
      random: new RandomStreams(seed).stream(`latency ${id}`),
      rows: readLatencyRows,
      minRecordedUs: status.minRecordedUs,
    });
    this.lingerUs = this.latency.minFeedUs ?? 0;
  }

  async complete(): Promise<LiveRecord> {
    const { feeds } = this;
    try {
      await this.begin();
      await this.playAll();
      const endUs = this.reachedUs;
      if (this.scheduler.nowUs < this.tradeFromUs) {
        throw new StrategyError('the replay ends before the warm-up: no time to trade');
      }
      // As in a backtest, bars that end right after the data are complete.
      if (this.hasEnded && (this.updates?.barDueUs ?? Infinity) <= endUs + 1)
        this.moveTo(endUs + 1);
      this.isOver = true;
      this.run?.stop();
      await this.drain(endUs + DRAIN_US);
      await this.sample(endUs);
    } finally {
      await feeds.close();
    }
    return this.record(null);
  }

  record(failure: string | null): LiveRecord {
    const { definition, parameters, status } = this.options;
    return {
      orrery: 'live',
      version: 1,
      clock: 'replay',
      strategy: definition.name,
      parameters,
      startedUs: status.timeUs,
      endedUs: this.reachedUs,
      orders: this.orders,
      fills: this.fills,
      ends: [...this.ends.values()],
      equity: this.equity,
      log: this.log,
      failure,
      ...this.notes.output(),
      foreignOrders: this.foreignOrders,
      terms: this.terms,
    };
  }

  private async begin(): Promise<void> {
    const { feeds, options } = this;
    const { client, account, subaccountIndex, definition, parameters, status } = options;
    feeds.onNotice((method, data) => {
      this.inbox.push({ kind: method as Message['kind'], data });
    });
    // The driver of the replay gets the time of each update.
    const ordersBefore = await this.advance(0);
    const { markets, symbols } = await readMarkets(client, options.symbols);
    const { marketDataTimeUnit } = await client.call('getConfig', {});
    const held = await client.call('getPositions', { account, subaccountIndex });
    const barsUs = barLengths(definition, parameters);
    const random = new RandomStreams(options.seed);
    const warmUpUs = options.warmUpUs ?? definition.warmUpUs?.(parameters) ?? 0;
    this.tradeFromUs = Math.max(status.timeUs, options.tradeFromUs ?? status.timeUs + warmUpUs);
    this.nextSampleUs = this.tradeFromUs;
    const stats = await client.call('getStats', { account, subaccountIndex });
    this.terms = {
      ...status.terms,
      ...strategyTerms({
        strategy: definition.name,
        bundle: options.bundle,
        parameters,
        symbols,
        seed: options.seed,
        id: options.id,
        latency: this.latency.words,
        faults: 'none',
        balance: stats.accountValue,
        ordersBefore,
        startUs: status.timeUs,
        tradeFromUs: this.tradeFromUs,
        sampleUs: this.sampleUs,
        traders: 1,
      }),
    };
    const touch = (): void => {
      this.touched = true;
    };
    const run = new StrategyRun(
      0,
      {
        id: options.id,
        name: definition.name,
        parameters,
        strategy: createdLive(definition, parameters, options.onWarning),
        account: account as Address,
        subaccountIndex,
        deposit: quanta(0n),
        latency: this.latency,
        faults: null,
        symbols,
        barsUs,
        bookDepth: definition.bookDepth ?? 1,
        ...(definition.keeps === undefined ? {} : { keeps: definition.keeps }),
        reports: true,
        bindClock: options.bindClock,
      },
      0 as SubaccountId,
      {
        scheduler: this.scheduler,
        client: new VirtualClient(
          {
            scheduler: this.scheduler,
            latency: this.latency,
            faults: null,
            warmingUp: () => this.isWarmingUp,
            arrive: (sent, reply) => {
              this.request = this.send(sent, reply);
            },
            sent: () => undefined,
            refused: (endpoint, reply, isSent) => {
              if (!isSent) this.noteAnswer(endpoint, reply, this.scheduler.nowUs);
            },
            settled: touch,
          },
          () => [],
        ),
        random: random.stream(`strategy ${options.id}`),
        markets: markets.map(({ terms }) => terms),
        warmingUp: () => this.isWarmingUp,
        log: (text) => {
          this.log.push({ timeUs: this.scheduler.nowUs, text });
          options.onLog(text);
        },
        plot: this.notes.plot,
        tag: this.notes.tag,
        touch,
        promises: options.promises.count,
      },
    );
    this.run = run;
    this.updates = new LiveUpdates(
      markets.map(({ terms }) => ({
        terms,
        fundingIntervalUs: Infinity,
        position: held.find(({ symbol }) => symbol === terms.symbol)?.quantity ?? '0',
      })),
      {
        timeUnitUs: marketDataTimeUnit === 's' ? 1_000_000 : 1000,
        depth: definition.bookDepth ?? 1,
        barsUs,
        replay: { startUs: status.timeUs, barsEmitted: status.barsEmitted },
      },
      {
        onBook: (update) => {
          this.publish('onBook', update, this.receivedUs);
        },
        onTrade: (update) => {
          this.publish('onTrade', update, this.receivedUs);
        },
        onBar: (update, recordedUs) => {
          this.publish('onBar', update, this.receivedUs ?? recordedUs);
        },
        onFill: (update) => {
          this.fills.push(update);
          this.publish('onFill', update, null);
        },
        onOrder: (update) => {
          this.ends.set(update.orderId, update);
          this.publish('onOrder', update, null);
        },
        onPrice: () => undefined,
        fundingDue: () => undefined,
      },
    );
    run.start();
    const own = { account, subaccountIndices: [subaccountIndex] };
    for (const source of ['order', 'fill', 'trade', 'book'] as const) {
      const params = source === 'order' || source === 'fill' ? own : { symbols };
      await feeds.listen(source, params, {
        onUpdate: (data: Data) => {
          this.inbox.push({ kind: source, data });
        },
        onError: (error) => {
          this.feedError ??= error;
        },
      });
    }
  }

  private get isWarmingUp(): boolean {
    return this.scheduler.nowUs < this.tradeFromUs;
  }

  private publish(
    handler: 'onBook' | 'onTrade' | 'onBar' | 'onFill' | 'onOrder' | 'onFunding',
    update: { readonly symbol: string },
    receivedUs: number | null,
  ): void {
    if (this.run?.wants(handler, update.symbol) === true) {
      this.run.publish(handler, update, receivedUs);
    }
  }

  private async playAll(): Promise<void> {
    const { scheduler, options } = this;
    const { firstUs, lastUs } = options.status;
    while (!options.stop.aborted) {
      const entryUs = scheduler.nextUs();
      const dueUs = Math.min(entryUs, this.nextSampleUs, this.updates?.barDueUs ?? Infinity);
      if (dueUs > this.reachedUs) {
        if (this.hasEnded || this.reachedUs >= options.untilUs) return;
        await this.advance(Math.min(dueUs, this.renewUs, options.untilUs));
        this.takeAll();
        options.onProgress((this.reachedUs - firstUs) / (lastUs - firstUs));
      } else if (entryUs < this.nextSampleUs + (this.equity.length === 0 ? 0 : 1)) {
        // The first sample precedes trading at its time, the others follow it.
        await this.runNext();
      } else {
        await this.sample(this.nextSampleUs);
        this.nextSampleUs = nextSample(this.nextSampleUs, this.sampleUs, this.earlyUs);
      }
    }
  }

  private async drain(untilUs: number): Promise<void> {
    while (this.scheduler.nextUs() <= untilUs) await this.runNext();
  }

  private async runNext(): Promise<void> {
    this.scheduler.runNext();
    await this.request;
    this.request = null;
    if (!this.touched) return;
    this.touched = false;
    const { promises } = this.options;
    await promises.drain();
    for (const error of promises.lost?.() ?? []) {
      this.run?.fail('a promise that is not awaited', error);
    }
    this.run?.check();
  }

  /** Moves the exchange; its updates are in the inbox then. Returns the number of orders so far. */
  private async advance(untilUs: number, pastEnd = false): Promise<number> {
    if (this.feedError !== null) throw this.feedError;
    if (this.reachedUs >= this.renewUs) {
      this.renewUs += RENEW_US;
      await this.feeds.renewToken();
    }
    const { simToken: token } = this.options;
    const answer = await this.feeds.advance({
      token,
      untilUs: Math.min(untilUs, Number.MAX_SAFE_INTEGER),
      lingerUs: this.lingerUs,
      pastEnd,
    });
    if (untilUs > 0) this.reachedUs = answer.timeUs;
    this.hasEnded = answer.ended;
    return answer.orders;
  }

  private takeAll(): void {
    const messages = this.inbox.splice(0);
    for (const message of messages) this.take(message);
    // Bars that end after the last update are as late as their trades.
    this.receivedUs = null;
    this.moveTo(this.reachedUs);
  }

  private moveTo(atUs: number): void {
    const { scheduler, updates } = this;
    if (updates === null) return;
    for (;;) {
      const { barDueUs } = updates;
      // As in a backtest, no bar ends after the data.
      if (barDueUs > atUs || this.isOver) break;
      scheduler.advanceTo(timeUs(Math.max(scheduler.nowUs, barDueUs)));
      updates.finishBars(barDueUs);
    }
    if (atUs > scheduler.nowUs) scheduler.advanceTo(timeUs(atUs));
    updates.exactUs = scheduler.nowUs;
  }

  private take({ kind, data }: Message): void {
    const { updates } = this;
    switch (kind) {
      case 'instant':
        this.receivedUs = null;
        this.moveTo(Number(data['timeUs']));
        this.receivedUs = data['receivedUs'] === null ? null : Number(data['receivedUs']);
        return;
      case 'accepted':
        if (!this.isOwn(data)) this.foreignOrders += 1;
        return;
      case 'role':
        if (this.isOwn(data)) this.roles.push(data['role'] as FillUpdate['role']);
        return;
      case 'funding':
        this.takeFunding(data);
        return;
      case 'bar':
        updates?.recordedBar(data as unknown as RecordedBar, this.receivedUs);
        return;
      case 'order':
        this.takeOrder(data);
        updates?.order(data);
        return;
      case 'fill':
        updates?.fill(data, this.roleOf(data));
        return;
      case 'trade':
        updates?.trade(data, this.receivedUs);
        return;
      case 'book':
        // As in a backtest, no book follows the data.
        if (!this.isOver) updates?.book(data);
        return;
      default:
        throw new StrategyError(`the replay sent an unknown message: ${kind as string}`);
    }
  }

  private isOwn(owner: Data): boolean {
    const { account, subaccountIndex } = this.options;
    return owner['account'] === account && owner['subaccountIndex'] === subaccountIndex;
  }

  /** Null for a position that is transferred: it has no order. */
  private roleOf({ order_id: orderId }: Data): FillUpdate['role'] | null {
    return orderId === null ? null : must(this.roles.shift(), 'the role of a fill precedes it');
  }

  private takeFunding({ symbol, rate, payments }: Data): void {
    const own = (payments as readonly Data[]).find((paid) => this.isOwn(paid));
    const update = {
      symbol: String(symbol),
      timeUs: this.scheduler.nowUs,
      rate: String(rate),
      payment: typeof own?.['payment'] === 'string' ? own['payment'] : '0',
    };
    this.publish('onFunding', update, null);
  }

  /** Records orders that have no request, such as those of a liquidation. */
  private takeOrder(data: Data): void {
    const order = data as unknown as OrderRecordShape;
    const { nowUs: answeredUs } = this.scheduler;
    this.noteOrder({ sentUs: this.sentUs ?? answeredUs, answeredUs, order, refusal: null });
  }

  private noteOrder(noted: LiveOrder): void {
    const id = noted.order?.orderId;
    if (id !== undefined && this.known.has(id)) return;
    if (id !== undefined) this.known.add(id);
    this.orders.push(noted);
  }

  /** A request at its arrival: its updates precede the response, except for those of the book. */
  private async send(sent: SentRequest, reply: (reply: Reply) => void): Promise<void> {
    const { endpoint, request, sentUs, arrivalUs } = sent;
    while (arrivalUs > this.reachedUs) {
      // After the end of the data only requests move the clock.
      await this.advance(arrivalUs, true);
      this.takeAll();
    }
    const renewed = this.withNonce(endpoint, request) as never;
    const answer = await this.options.client.reply(endpoint, renewed);
    this.noteAnswer(endpoint, answer, sentUs);
    if (ENDPOINTS[endpoint].method === 'GET') {
      reply(answer);
      return;
    }
    await this.advance(this.reachedUs, true);
    const messages = this.inbox.splice(0);
    const ofBook = messages.findIndex(({ kind }) => kind === 'book');
    const own = ofBook < 0 ? messages.length : ofBook;
    this.sentUs = sentUs;
    for (const message of messages.slice(0, own)) this.take(message);
    this.sentUs = null;
    reply(answer);
    for (const message of messages.slice(own)) this.take(message);
  }

  private noteAnswer(endpoint: EndpointId, { status, body }: Reply, sentUs: number): void {
    if (endpoint !== 'submitOrder' && endpoint !== 'submitOrders') return;
    const answeredUs = Math.max(this.reachedUs, sentUs);
    if (status !== 200) {
      this.noteOrder({ sentUs, answeredUs, order: null, refusal: String(body) });
      return;
    }
    const orders =
      endpoint === 'submitOrder'
        ? (body as ResponseOf<'submitOrder'>)
        : (body as ResponseOf<'submitOrders'>).orders;
    for (const order of orders) this.noteOrder({ sentUs, answeredUs, order, refusal: null });
  }

  /** A backtest counts nonces from 0; an account of a served exchange may have used them. */
  private withNonce(endpoint: EndpointId, request: unknown): unknown {
    const fresh = (body: unknown): unknown => {
      const signed = typeof body === 'object' && body !== null && 'nonce' in body;
      return signed ? { ...body, nonce: this.options.client.nextNonce() } : body;
    };
    if (endpoint !== 'submitOrders') return fresh(request);
    const batch = request as { readonly orders: readonly unknown[] };
    return { ...batch, orders: batch.orders.map(fresh) };
  }

  private async sample(atUs: number): Promise<void> {
    addSample(this.equity, { timeUs: atUs, ...(await readEquity(this.options)) });
  }
}
