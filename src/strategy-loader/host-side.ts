/**
 * This program's side of the boundary to a strategy's realm (`guest/port.ts`). Functions for the
 * guest take and return primitive values and never throw, so that no error of this realm leaves it.
 */
import { ENDPOINTS, type EndpointId, type ListId } from '../contract/endpoints.ts';
import { MatcherError } from '../gateway/matcher-client.ts';
import { StrategyError } from '../strategy/definition.ts';
import type { StrategyContext } from '../strategy/strategy.ts';
import type { VirtualClock } from '../backtest/strategy-run.ts';
import { pack, unpack } from '../strategy/plain-data.ts';
import type { GuestPort, HostPort, Primitive } from './guest/port.ts';
import type { StrategyBundle } from './bundle.ts';
import { watchStrategy, type CallName, type WatchedStrategy } from './handler-watch.ts';

interface Pending {
  resolve(): void;
  reject(error: unknown): void;
}

export class HostSide {
  static readonly failed = Symbol('failed');
  private readonly file: string;
  private readonly watched: WatchedStrategy;
  guest: GuestPort | null = null;
  clock: VirtualClock | null = null;
  private context: StrategyContext | null = null;
  private readonly pending = new Map<number, Pending>();
  private lastFailure = { name: '', message: '' };
  private thrown: unknown = null;

  constructor(bundle: StrategyBundle) {
    this.file = bundle.file;
    this.watched = watchStrategy(bundle);
  }

  /** Runs a part of the strategy. */
  call<T>(name: CallName, run: () => T): T {
    return this.watched.call(name, this.clock?.nowUs() ?? NaN, run);
  }

  /** Makes the guest's context from the first one given. */
  bind(context: StrategyContext): void {
    if (this.context === context) return;
    this.context = context;
    const { account, subaccountIndex, symbol, symbols } = context;
    this.guest?.begin(pack({ account, subaccountIndex, symbol, symbols }));
  }

  /** Runs a handler of the guest; a promise if it is pending. Throws its error. */
  outcome(name: CallName, run: () => number): void | Promise<void> {
    const handler = this.entered(name, run);
    if (handler === 0) return undefined;
    if (handler === -1) throw this.takeThrown();
    return new Promise((resolve, reject) => {
      this.pending.set(handler, { resolve, reject });
    });
  }

  mustReturn(code: number): void {
    if (code !== 0) throw this.takeThrown();
  }

  mustText(text: string | null): string {
    if (typeof text !== 'string') throw this.takeThrown();
    return text;
  }

  private entered(name: CallName, run: () => number): number {
    try {
      return this.call(name, run);
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
        this.thrown = name === null ? String(message) : errorOf(name, String(message), stack);
        return undefined;
      },
      ended: (handler, failed) => {
        const found = this.pending.get(handler);
        this.pending.delete(handler);
        if (failed) found?.reject(this.takeThrown());
        else found?.resolve();
        return undefined;
      },
      nowMs: () => Math.floor(this.mustClock().nowUs() / 1000),
      random: () => this.mustClock().random(),
      after: (us) => {
        const id: number = this.mustClock().after(us, () => {
          const rang = this.entered('a timer', () => this.guest?.ring(id) ?? 0);
          if (rang === -1) throw this.takeThrown();
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
      market: (symbol) => pack(termsOf(this.mustContext().market(symbol))),
      nextNonce: () => this.mustContext().nextNonce(),
      setTimer: (name, afterUs) => {
        this.mustContext().setTimer(name, afterUs);
        return undefined;
      },
      log: (text) => {
        this.mustContext().log(String(text));
        return undefined;
      },
      sleep: (ticket, us) => {
        this.answer(ticket, this.mustContext().sleep(us));
        return undefined;
      },
      call: (ticket, endpoint, request) => {
        const { client } = this.mustContext();
        this.answer(ticket, client.call(knownEndpoint(endpoint), unpack(request) as never));
        return undefined;
      },
      page: (ticket, endpoint, request) => {
        const { client } = this.mustContext();
        const list = knownEndpoint(endpoint) as ListId;
        this.answer(ticket, client.page(list, unpack(request) as never));
        return undefined;
      },
    };
  }

  private answer(ticket: number, answer: Promise<unknown>): void {
    answer.then(
      (value) => {
        const packed = pack(value);
        this.call('code after an await', () => this.guest?.settle(ticket, packed));
      },
      (error: unknown) => {
        const { name, message } = error as Error;
        const isReply = error instanceof MatcherError;
        const endpoint = isReply ? error.endpoint : null;
        const status = isReply ? error.status : 0;
        this.call('code after an await', () =>
          this.guest?.refuse(ticket, name, message, status, endpoint),
        );
      },
    );
  }
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
