/**
 * Runs a strategy against an exchange over HTTP and WebSocket: same file and context as a backtest,
 * in real time. Updates come from feeds. Requests use the typed client, which logs in, signs and
 * retries idempotent requests.
 */
import { once } from 'node:events';
import { barLengths } from '../strategy/bars.ts';
import { actionsOf, termsIn } from '../strategy/actions.ts';
import type { ParameterValues, StrategyDefinition } from '../strategy/definition.ts';
import type { LogRow } from '../backtest/output.ts';
import { Observations } from '../strategy/observations.ts';
import { StrategyFault, withoutGuest } from '../strategy/strategy-fault.ts';
import type { VirtualClock } from '../backtest/strategy-run.ts';
import type {
  FillUpdate,
  FundingUpdate,
  MarketTerms,
  OrderUpdate,
  Strategy,
  StrategyContext,
} from '../strategy/strategy.ts';
import {
  ENDPOINTS,
  type EndpointId,
  type RequestOf,
  type ResponseOf,
} from '../contract/endpoints.ts';
import type { FeedSource } from '../contract/feeds.ts';
import type { OrderRecordShape } from '../contract/schemas.ts';
import { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
import type { HttpMatcherClient } from '../http-client/http-matcher-client.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import { clockNote, readMarkets } from './exchange-facts.ts';
import { CANDLES, storedBars } from './candle-bars.ts';
import { fundingOf, FundingPayments, isAway } from './funding-payments.ts';
import { mustRunLive } from './live-hooks.ts';
import { NO_ANSWER } from './live-counts.ts';
import { listenPatiently } from './listen-patiently.ts';
import type { LiveGap, LiveOrder, LiveRecord, LiveRecorder } from './live-record.ts';
import { gapAtEnd, gapText, Reconcile } from './reconcile.ts';
import { RunNotes } from './run-notes.ts';
import { RealTimers } from './real-timers.ts';
import { LiveUpdates } from './live-updates.ts';

export interface LiveOptions {
  readonly definition: StrategyDefinition;
  readonly bindClock: (clock: VirtualClock) => void;
  readonly parameters: ParameterValues;
  readonly client: HttpMatcherClient;
  readonly account: string;
  readonly subaccountIndex: number;
  /** Markets to subscribe to; null for all of the exchange. */
  readonly symbols: readonly string[] | null;
  readonly seed: string;
  /** On abort, the strategy's `onStop` runs and the run ends. */
  readonly stop: AbortSignal;
  readonly onLog: (text: string) => void;
  /** Faults with which the run goes on, such as missing fills; they are in the log too. */
  readonly onWarning?: (text: string) => void;
}

/** Max time for handlers after the stop. */
const LAST_MS = 5000;
const FUNDING_PAUSE_US = 250_000;
const NEVER = new Promise<never>(() => undefined);

/** Runs until `stop` aborts. */
export class LiveRun implements LiveRecorder {
  private readonly options: LiveOptions;
  private readonly strategy: Strategy;
  private readonly orders: LiveOrder[] = [];
  /** Submits without an answer so far. */
  private readonly unanswered = new Set<Pick<LiveOrder, 'sentUs'>>();
  private readonly fills: FillUpdate[] = [];
  private readonly ends = new Map<string, OrderUpdate>();
  private readonly log: LogRow[] = [];
  private readonly gaps: LiveGap[] = [];
  private readonly startedUs = nowUs();
  private readonly timers = new Map<string, () => void>();
  private readonly waits = new RealTimers();
  private readonly pending = new Set<Promise<void>>();
  private readonly funding = new FundingPayments();
  private readonly notes = new RunNotes(nowUs);
  /** Empty: a strategy file keeps its own. */
  private readonly observations = new Observations(undefined, [], () => false);
  private warm = false;
  /** The run has ended: code of the strategy that goes on gets no answer and no time. */
  private over = false;
  private fail: (error: unknown) => void = () => undefined;
  private context: StrategyContext | null = null;

  constructor(options: LiveOptions) {
    this.options = options;
    options.bindClock(this.clock());
    this.strategy = options.definition.create(options.parameters);
    mustRunLive(options.definition, this.strategy, 'wall', this.warn);
  }

  async complete(): Promise<LiveRecord> {
    const { client, definition, parameters, account, subaccountIndex, stop } = this.options;
    const failed = new Promise<never>((_resolve, reject) => {
      this.fail = reject;
    });
    failed.catch(() => undefined);
    const onLost = (error: unknown): void => {
      this.failIn('a promise that is not awaited', withoutGuest(error));
    };
    process.on('unhandledRejection', onLost);
    const feeds = client.feeds();
    const ended = new AbortController();
    try {
      const { markets, symbols } = await readMarkets(client, this.options.symbols);
      const note = await clockNote(client);
      if (note !== null) this.warn(note);
      const terms = markets.map((market) => market.terms);
      const { marketDataTimeUnit } = await client.call('getConfig', {});
      const timeUnitUs = marketDataTimeUnit === 's' ? 1_000_000 : 1000;
      const held = await client.call('getPositions', { account, subaccountIndex });
      for (const { symbol, funding } of held) this.funding.begin(symbol, funding);
      this.context = this.makeContext(terms, symbols);
      const barsUs = barLengths(definition, parameters);
      const updates = new LiveUpdates(
        markets.map(({ record, terms: market }) => ({
          terms: market,
          fundingIntervalUs: record.funding.intervalMs * 1000,
          position: held.find(({ symbol }) => symbol === market.symbol)?.quantity ?? '0',
        })),
        {
          timeUnitUs,
          depth: definition.bookDepth ?? 1,
          barsUs: this.strategy.onBar === undefined ? [] : barsUs,
        },
        {
          onBook: (update) => {
            this.onUpdate('onBook', (context) => this.strategy.onBook?.(update, context));
          },
          onTrade: (update) => {
            this.onUpdate('onTrade', (context) => this.strategy.onTrade?.(update, context));
          },
          onBar: (update) => {
            this.onUpdate('onBar', (context) => this.strategy.onBar?.(update, context));
          },
          onFill: (update) => {
            this.fills.push(update);
            this.onUpdate('onFill', (context) => this.strategy.onFill?.(update, context));
          },
          onOrder: (update) => {
            this.ends.set(update.orderId, update);
            this.onUpdate('onOrder', (context) => this.strategy.onOrder?.(update, context));
          },
          onPrice: (handler, update) => {
            this.onUpdate(handler, (context) => this.strategy[handler]?.(update, context));
          },
          fundingDue: (symbol, atUs) => {
            this.waits.after(
              FUNDING_PAUSE_US,
              () => void this.settleFunding(symbol, atUs).catch(this.fail),
            );
          },
        },
      );
      const own = { account, subaccountIndices: [subaccountIndex] };
      const reconcile = new Reconcile({
        client,
        account,
        subaccountIndex,
        updates,
        funding: this.funding,
        stop: AbortSignal.any([stop, ended.signal]),
        onGap: (gap) => {
          this.noteGap(gap);
        },
      });
      type Source = readonly [FeedSource, object, (data: Message) => void];
      /** Updates before `onStart`; null once it was called. */
      let early: (() => void)[] | null = [];
      const listen = ([source, params, take]: Source): Promise<void> =>
        listenPatiently(
          () =>
            feeds.listen(source, params, {
              onUpdate: (data) => {
                const taken = (): void => {
                  try {
                    take(data);
                  } catch (error) {
                    this.fail(error);
                  }
                };
                if (early === null) taken();
                else early.push(taken);
              },
              onError: this.fail,
              onResumed: (resumed) => {
                if (source === 'fill') reconcile.resumed(resumed);
              },
            }),
          stop,
        );
      // Before `onStart`, so that no update of its orders is missed.
      await listen(['order', own, (data) => updates.order(data)]);
      await listen(['fill', own, (data) => this.takeFill(data, updates)]);
      const lengthUs = definition.warmUpUs?.(parameters) ?? 0;
      this.warm = lengthUs === 0;
      this.onUpdate('onStart', (context) => this.strategy.onStart?.(context));
      for (const taken of early) taken();
      early = null;
      await this.warmUp(lengthUs, { symbols, barsUs }, timeUnitUs);
      await listen(['trade', { symbols }, (data) => updates.trade(data)]);
      await listen(['book', { symbols }, (data) => updates.book(data)]);
      if (this.strategy.onMark !== undefined || this.strategy.onIndex !== undefined) {
        await listen(['price', { symbols }, (data) => updates.price(data)]);
      }
      // Orders of an earlier run may have filled before the feed was there.
      const lostMs = this.startedUs / 1000;
      reconcile.resumed({ lostMs, resumedMs: Date.now(), unknownFills: null });
      await Promise.race([failed, stop.aborted ? null : once(stop, 'abort')]);
      await this.end(failed);
      await reconcile.end();
      if (feeds.lostSinceMs !== null) this.noteGap(gapAtEnd(feeds.lostSinceMs));
    } finally {
      ended.abort();
      this.over = true;
      this.waits.end();
      await feeds.close();
      process.off('unhandledRejection', onLost);
    }
    return this.record(null);
  }

  /** Delivers the exchange's stored candles first, then waits for the rest of the warm-up. */
  private async warmUp(
    lengthUs: number,
    series: { readonly symbols: readonly string[]; readonly barsUs: readonly number[] },
    unitUs: number,
  ): Promise<void> {
    if (lengthUs === 0) return;
    const { client } = this.options;
    let leftUs = lengthUs;
    if (this.strategy.onBar !== undefined && series.barsUs.every((us) => CANDLES.has(us))) {
      const toUs = (await client.call('getTime', {})).time * 1000;
      const fromUs = toUs - lengthUs;
      const { bars, sinceUs } = await storedBars(client, series, { fromUs, toUs, unitUs });
      for (const bar of bars)
        this.onUpdate('onBar', (context) => this.strategy.onBar?.(bar, context));
      leftUs = sinceUs - fromUs;
    }
    if (leftUs === 0) this.warm = true;
    else
      this.waits.after(leftUs, () => {
        this.warm = true;
      });
  }

  private noteGap(gap: LiveGap): void {
    this.gaps.push(gap);
    this.warn(gapText(gap));
  }

  private readonly warn = (what: string): void => {
    const text = `WARNING: ${what}`;
    this.log.push({ timeUs: nowUs(), text });
    this.options.onWarning?.(text);
  };

  private takeFill(data: Message, updates: LiveUpdates): void {
    this.funding.realized(String(data['symbol']), String(data['realized_funding']));
    updates.fill(data);
  }

  private async settleFunding(symbol: string, timeUs: number): Promise<void> {
    const { client, account, subaccountIndex } = this.options;
    const read = fundingOf(client, { account, subaccountIndex, symbol });
    const found = await read.catch((error: unknown) => {
      if (!isAway(error)) throw error;
      this.warn(`no onFunding of ${symbol}, the next one has its payment: ${error.message}`);
      return null;
    });
    if (found === null) return;
    const payment = this.funding.settled(symbol, found.funding);
    const update: FundingUpdate = { symbol, timeUs, rate: found.rate, payment };
    this.onUpdate('onFunding', (context) => this.strategy.onFunding?.(update, context));
  }

  private async end(failed: Promise<never>): Promise<void> {
    for (const cancel of this.timers.values()) cancel();
    this.onUpdate('onStop', (context) => this.strategy.onStop?.(context));
    const late = new Promise<void>((resolve) => {
      setTimeout(resolve, LAST_MS).unref();
    });
    await Promise.race([failed, late, this.settled()]);
  }

  /** Resolves when all handlers and requests are done, including those that are not awaited. */
  private async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
    // Unhandled rejections are reported before the next macrotask.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** `name`: handler name for error messages. */
  private onUpdate(
    name: string,
    handler: (context: StrategyContext) => void | Promise<void> | undefined,
  ): void {
    const { context } = this;
    if (context === null || this.over) return;
    try {
      const result = handler(context);
      if (result === undefined) return;
      const done = result.then(
        () => void this.pending.delete(done),
        (error: unknown) => {
          this.pending.delete(done);
          this.failIn(name, error);
        },
      );
      this.pending.add(done);
    } catch (error) {
      this.failIn(name, error);
    }
  }

  /** Ends the run with the same messages as a backtest; only the first failure is kept. */
  private failIn(handler: string, error: unknown): void {
    const failure = { error, handler, timeUs: nowUs() };
    this.fail(new StrategyFault(this.options.definition.name, failure));
  }

  private makeContext(terms: readonly MarketTerms[], symbols: readonly string[]): StrategyContext {
    const { account, subaccountIndex, seed, client: http } = this.options;
    const [symbol = ''] = symbols;
    const client = this.recordingClient();
    const nextNonce = (): bigint => http.nextNonce();
    // Read on each access, because it changes once.
    const isWarm = (): boolean => this.warm;
    return {
      client,
      account,
      subaccountIndex,
      symbol,
      symbols,
      get warmingUp() {
        return !isWarm();
      },
      random: new RandomStreams(seed).stream('strategy live'),
      now: nowUs,
      ...actionsOf(client, { account, subaccountIndex }, symbol, termsIn(terms), {
        nextNonce,
        tag: this.notes.tag,
      }),
      setTimer: (name, afterUs) => {
        this.timers.get(name)?.();
        const cancel = this.waits.after(afterUs, () => {
          this.timers.delete(name);
          this.onUpdate('onTimer', (context) => this.strategy.onTimer?.(name, context));
        });
        this.timers.set(name, cancel);
      },
      ...this.observations.reads(symbols),
      plot: (name, value, more = {}) => {
        this.notes.plot(name, value, { symbol, ...more });
      },
      sleep: (us) =>
        new Promise((resolve) => {
          this.waits.after(us, resolve);
        }),
      nextNonce,
      log: (text) => {
        this.note(text);
      },
    };
  }

  /** The client, except that writes during the warm-up are rejected and orders are recorded. */
  private recordingClient(): MatcherClient {
    const { client } = this.options;
    const call = async <E extends EndpointId>(
      endpoint: E,
      request: RequestOf<E>,
    ): Promise<ResponseOf<E>> => {
      const isSubmit = endpoint === 'submitOrder' || endpoint === 'submitOrders';
      const sent = { sentUs: nowUs() };
      const note = (order: OrderRecordShape | null, refusal: string | null): void => {
        this.orders.push({ ...sent, answeredUs: nowUs(), order, refusal });
      };
      if (isSubmit) this.unanswered.add(sent);
      try {
        if (!this.warm && ENDPOINTS[endpoint].method !== 'GET') {
          throw new MatcherError(endpoint, 400, 'The strategy is warming up: writes are rejected');
        }
        const answer = await client.call(endpoint, request);
        if (endpoint === 'submitOrder') {
          for (const order of answer as ResponseOf<'submitOrder'>) note(order, null);
        } else if (endpoint === 'submitOrders') {
          for (const order of (answer as ResponseOf<'submitOrders'>).orders) note(order, null);
        }
        return answer;
      } catch (error) {
        if (isSubmit) note(null, refusalOf(error));
        throw error;
      } finally {
        this.unanswered.delete(sent);
      }
    };
    return {
      call: (endpoint, request) => this.outstanding(() => call(endpoint, request)),
      page: (endpoint, request) => this.outstanding(() => client.page(endpoint, request)),
    };
  }

  /**
   * Sends a request that the end of the run awaits; the returned promise is separate and may be
   * ignored. After the end nothing is sent, and no promise settles.
   */
  private async outstanding<T>(send: () => Promise<T>): Promise<T> {
    const answer: Promise<T> = this.over ? NEVER : send();
    const through = (): void => void this.pending.delete(done);
    const done: Promise<void> = answer.then(through, through);
    this.pending.add(done);
    try {
      return await answer;
    } finally {
      if (this.over) await NEVER;
    }
  }

  private clock(): VirtualClock {
    const timers = new Map<number, () => void>();
    const random = new RandomStreams(this.options.seed).stream('globals live');
    let last = 0;
    return {
      nowUs,
      random: () => random.next(),
      after: (us, run) => {
        const id = ++last;
        timers.set(
          id,
          this.waits.after(us, () => {
            timers.delete(id);
            this.onUpdate('a timer', () => {
              run();
            });
          }),
        );
        return id;
      },
      cancel: (id) => {
        timers.get(id)?.();
        timers.delete(id);
      },
      log: (text) => {
        this.note(text);
      },
      tag: this.notes.tag,
    };
  }

  private note(text: string): void {
    if (this.over) return;
    this.log.push({ timeUs: nowUs(), text });
    this.options.onLog(text);
  }

  record(failure: string | null): LiveRecord {
    const { definition, parameters } = this.options;
    const endedUs = nowUs();
    const unanswered = [...this.unanswered].map((sent) => {
      return { ...sent, answeredUs: endedUs, order: null, refusal: NO_ANSWER };
    });
    return {
      orrery: 'live',
      version: 1,
      strategy: definition.name,
      parameters,
      startedUs: this.startedUs,
      endedUs,
      orders: [...this.orders, ...unanswered],
      fills: this.fills,
      ends: [...this.ends.values()],
      clock: 'wall',
      equity: [],
      log: this.log,
      failure,
      gaps: this.gaps,
      ...this.notes.output(),
    };
  }
}

type Message = Readonly<Record<string, unknown>>;

function refusalOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof MatcherError ? message : `${NO_ANSWER}: ${message}`;
}

function nowUs(): number {
  return Date.now() * 1000;
}
