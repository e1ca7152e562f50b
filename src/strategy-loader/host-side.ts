/**
 * This program's side of the boundary to a strategy's realm (`guest/port.ts`). Functions for the
 * guest take and return primitive values and never throw, so that no error of this realm leaves it.
 */
import { ENDPOINTS, type EndpointId, type ListId } from '../contract/endpoints.ts';
import {
  asPage,
  MatcherError,
  type AnsweringClient,
  type MatcherClient,
} from '../gateway/matcher-client.ts';
import { StrategyError } from '../strategy/definition.ts';
import type { MarketTerms, PlotOptions, StrategyContext } from '../strategy/strategy.ts';
import type { VirtualClock } from '../backtest/strategy-run.ts';
import { pack, packReply, unpack } from '../strategy/plain-data.ts';
import type { GuestPort, HostPort, Primitive } from './guest/port.ts';
import type { StrategyBundle } from './bundle.ts';
import { watchStrategy, type CallName, type WatchedStrategy } from './handler-watch.ts';
import { PendingHandler } from '../strategy/pending-handler.ts';

type Handled = void | Promise<void>;

export class HostSide {
  static readonly failed = Symbol('failed');
  private readonly file: string;
  private readonly watched: WatchedStrategy;
  guest: GuestPort | null = null;
  clock: VirtualClock | null = null;
  private context: StrategyContext | null = null;
  private readonly pending = new Map<number, PendingHandler>();
  /** Terms that were packed. */
  private readonly terms = new WeakMap<MarketTerms, string>();
  private lastFailure = { name: '', message: '' };
  private thrown: unknown = null;

  constructor(bundle: StrategyBundle) {
    this.file = bundle.file;
    this.watched = watchStrategy(bundle);
  }

  /** Runs a part of the strategy. */
  call<T>(name: CallName, run: () => T): T {
    return this.watched.call(name, this.nowUs(), run, undefined);
  }

  private nowUs(): number {
    return this.clock?.nowUs() ?? NaN;
  }

  /** Makes the guest's context from the first one given. */
  private bind(context: StrategyContext): void {
    this.context = context;
    const { account, subaccountIndex, symbol, symbols } = context;
    this.guest?.begin(pack({ account, subaccountIndex, symbol, symbols }));
  }

  /** A handler that calls one of the guest with an update. It throws the guest's error. */
  handler<U>(
    name: CallName,
    run: (update: U) => number,
  ): (update: U, context: StrategyContext) => Handled {
    return (update, context) => {
      if (this.context !== context) this.bind(context);
      const handler = this.entered(name, run, update);
      if (handler === 0) return undefined;
      if (handler === -1) throw this.takeThrown();
      const pending = new PendingHandler();
      this.pending.set(handler, pending);
      // It has `then`, and nothing else of a promise is used.
      return pending as unknown as Promise<void>;
    };
  }

  mustReturn(code: number): void {
    if (code !== 0) throw this.takeThrown();
  }

  mustText(text: string | null): string {
    if (typeof text !== 'string') throw this.takeThrown();
    return text;
  }

  private entered<A>(name: CallName, run: (argument: A) => number, argument: A): number {
    try {
      return this.watched.call(name, this.nowUs(), run, argument);
    } catch {
      // The error may be the guest's, so it is not kept.
      this.thrown = new Error('it changed built-in functions that its own calls need');
      return -1;
    }
  }

  private takeThrown(): Error {
    const { thrown } = this;
    this.thrown = null;
    // A strategy may throw values that are not errors.
    return thrown as Error;
  }

  private mustContext(): StrategyContext {
    if (this.context !== null) return this.context;
    throw new StrategyError(`${this.file}: uses its context before the run starts`);
  }

  private mustClock(): VirtualClock {
    if (this.clock !== null) return this.clock;
    throw new StrategyError(`${this.file}: uses time or random numbers before the run starts`);
  }

  private readonly ring = (timer: number): number => this.guest?.ring(timer) ?? 0;

  port(): HostPort {
    return {
      failure: (what) => this.lastFailure[what],
      ...guarded(this.functions(), (error) => {
        const { name, message } = error as Error;
        this.lastFailure = { name, message };
        return HostSide.failed;
      }),
    };
  }

  private functions(): Omit<HostPort, 'failure'> {
    return {
      threw: (name, message, stack) => {
        this.thrown = errorOf(name ?? 'Error', String(message), stack);
        return undefined;
      },
      ended: (handler, failed) => {
        const found = this.pending.get(handler);
        this.pending.delete(handler);
        if (failed) found?.fail(this.takeThrown());
        else found?.end();
        return undefined;
      },
      nowMs: () => Math.floor(this.mustClock().nowUs() / 1000),
      random: () => this.mustClock().random(),
      after: (us) => {
        const id: number = this.mustClock().after(us, () => {
          if (this.entered('a timer', this.ring, id) === -1) throw this.takeThrown();
        });
        return id;
      },
      cancel: (timer) => {
        this.mustClock().cancel(timer);
        return undefined;
      },
      print: (text) => {
        this.mustClock().log(String(text));
        return undefined;
      },
      now: () => this.mustContext().now(),
      warmingUp: () => this.mustContext().warmingUp,
      draw: () => this.mustContext().random.next(),
      drawState: () => pack(this.mustContext().random.state()),
      market: (symbol) => this.packedTerms(this.mustContext().market(symbol)),
      nextNonce: () => this.mustContext().nextNonce(),
      setTimer: (name, afterUs) => {
        this.mustContext().setTimer(name, afterUs);
        return undefined;
      },
      log: (text) => {
        this.mustContext().log(String(text));
        return undefined;
      },
      plot: (name, value, options) => {
        this.mustContext().plot(name, value, unpack(options) as PlotOptions);
        return undefined;
      },
      tag: (nonce, text) => {
        this.mustClock().tag(nonce, text);
        return undefined;
      },
      sleep: (ticket, us) => {
        this.answer(ticket, this.mustContext().sleep(us));
        return undefined;
      },
      call: (ticket, endpoint, request) => {
        this.request(ticket, knownEndpoint(endpoint), unpack(request), 'body');
        return undefined;
      },
      page: (ticket, endpoint, request) => {
        this.request(ticket, knownEndpoint(endpoint), unpack(request), 'page');
        return undefined;
      },
    };
  }

  private packedTerms(terms: MarketTerms): string {
    let packed = this.terms.get(terms);
    if (packed === undefined) {
      packed = pack(termsOf(terms));
      this.terms.set(terms, packed);
    }
    return packed;
  }

  private request(
    ticket: number,
    endpoint: EndpointId,
    request: unknown,
    result: 'body' | 'page',
  ): void {
    const { client } = this.mustContext();
    if (isAnswering(client)) {
      client.ask(endpoint, request, (reply) => {
        const { status, body } = reply;
        if (status === 200) this.settle(ticket, result === 'body' ? body : asPage(reply));
        else this.refuse(ticket, { name: 'MatcherError', message: String(body), status, endpoint });
      });
      return;
    }
    const answer: Promise<unknown> =
      result === 'body'
        ? client.call(endpoint, request as never)
        : client.page(endpoint as ListId, request as never);
    this.answer(ticket, answer);
  }

  private answer(ticket: number, answer: Promise<unknown>): void {
    answer.then(
      (value) => {
        this.settle(ticket, value);
      },
      (error: unknown) => {
        const { name, message } = error as Error;
        const isReply = error instanceof MatcherError;
        const endpoint = isReply ? error.endpoint : null;
        const status = isReply ? error.status : 0;
        this.refuse(ticket, { name, message, status, endpoint });
      },
    );
  }

  private settle(ticket: number, value: unknown): void {
    const packed = packReply(value);
    this.resume(() => this.guest?.settle(ticket, packed));
  }

  private refuse(ticket: number, { name, message, status, endpoint }: Refused): void {
    this.resume(() => this.guest?.refuse(ticket, name, message, status, endpoint));
  }

  /** Resumes what awaits an answer. An error of it is one that no handler awaits. */
  private resume(run: () => void): void {
    const finish = (): number => {
      run();
      return 0;
    };
    const code = this.entered('code after an await', finish, null);
    if (code === -1) void Promise.reject(this.takeThrown());
  }
}

/** `endpoint` is null if the error is not a reply. */
interface Refused {
  readonly name: string;
  readonly message: string;
  readonly status: number;
  readonly endpoint: EndpointId | null;
}

function isAnswering(client: MatcherClient): client is AnsweringClient {
  return 'ask' in client;
}

/** The functions; an error becomes the value that `failed` gives. */
function guarded<F extends object>(functions: F, failed: (error: unknown) => symbol): F {
  type Host = (a: unknown, b: unknown, c: unknown) => Primitive;
  return Object.fromEntries(
    Object.entries(functions as Record<string, Host>).map(([name, run]) => [
      name,
      (a: unknown, b: unknown, c: unknown): Primitive => {
        try {
          return run(a, b, c);
        } catch (error) {
          return failed(error);
        }
      },
    ]),
  ) as F;
}

function errorOf(name: string, message: string, stack: string): Error {
  const error = name === 'StrategyError' ? new StrategyError(message) : new Error(message);
  if (!(error instanceof StrategyError)) error.name = name;
  error.stack = stack;
  return error;
}

function termsOf(terms: ReturnType<StrategyContext['market']>): object {
  const { symbol, tickSize, lotSize, minQuantity, maxPrice, makerFee, takerFee } = terms;
  return { symbol, tickSize, lotSize, minQuantity, maxPrice, makerFee, takerFee };
}

function knownEndpoint(endpoint: string): EndpointId {
  if (Object.hasOwn(ENDPOINTS, endpoint)) return endpoint as EndpointId;
  throw new StrategyError(`'${endpoint}' is not an endpoint of the API`);
}
