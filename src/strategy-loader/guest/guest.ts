/**
 * Code that runs in a strategy's realm: its context, its updates and its errors are made here, so
 * that no object of the host exists in that realm. Host functions stay in closures of `lift`.
 *
 * A strategy may replace methods of its realm's prototypes, so the functions that keep host objects
 * from it (`lift`, `clean`, `protect`) use captured ones.
 */
import * as api from '../../strategy/index.ts';
import { actionsOf } from '../../strategy/actions.ts';
import { mustDefinition, mustHandlers, type ParameterValues } from '../../strategy/definition.ts';
import type { StrategyDefinition } from '../../strategy/definition.ts';
import { HANDLERS, misspelt } from '../../strategy/handler-names.ts';
import { marketTerms, type TermsRecord } from '../../strategy/market-terms.ts';
import { keptHandlers, Observations } from '../../strategy/observations.ts';
import { partsOf } from '../../strategy/thrown-text.ts';
import type { Level, MarketTerms, Strategy, StrategyContext } from '../../strategy/strategy.ts';
import type { MatcherClient } from '../../gateway/matcher-client.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { defineGlobals } from './globals.ts';
import { pack, unpack } from '../../strategy/plain-data.ts';
import { cleanerOf, isObject, OVERFLOW, protect } from './protect.ts';
import type { Failed, GuestPort, HostPort, Primitive } from './port.ts';

const { apply } = Reflect;
const { prototype: promises } = Promise;
// Called through `apply` with its receiver.
// eslint-disable-next-line @typescript-eslint/unbound-method
const nativeThen = promises.then;
const PromiseOfRealm = Promise;
const ErrorOfRealm = Error;
const RangeErrorOfRealm = RangeError;
const TypeErrorOfRealm = TypeError;

/** Runs a strategy's script with its module, `require` and the filter of caught errors. */
type Script = (
  module: { exports: Record<string, unknown> },
  exports: Record<string, unknown>,
  require: (name: string) => unknown,
  clean: (error: unknown) => unknown,
) => void;

export interface Realm {
  readonly port: HostPort;
  /** Result of a host function that failed. */
  readonly failed: symbol;
  /** `Object.prototype` of the host: only compared. */
  readonly hostObject: object;
  readonly file: string;
  readonly script: Script;
}

type Handlers = Partial<Record<string, (...args: unknown[]) => unknown>>;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** The packed request; undefined for a sleep. */
  readonly request: Primitive | undefined;
}

interface Facts {
  readonly account: string;
  readonly subaccountIndex: number;
  readonly symbol: string;
  readonly symbols: readonly string[];
}

type Lifted = <N extends keyof HostPort>(
  name: N,
  a?: Primitive,
  b?: Primitive,
  c?: Primitive,
) => Exclude<ReturnType<HostPort[N]>, Failed>;

/** Functions of this realm that call the host's with primitives and throw errors of this realm. */
function lift({ port, failed }: Realm): Lifted {
  type Host = (a?: Primitive, b?: Primitive, c?: Primitive) => Primitive;
  const functions = { __proto__: null, ...port } as unknown as Record<keyof HostPort, Host>;
  const failure = functions.failure;
  const lifted = (name: keyof HostPort, a?: Primitive, b?: Primitive, c?: Primitive) => {
    if (isObject(a) || isObject(b) || isObject(c)) {
      throw new TypeErrorOfRealm(`${name}: an argument must be text or a number`);
    }
    let result: Primitive;
    let kind: Primitive = null;
    let message: Primitive = null;
    try {
      const host = functions[name];
      result = host(a, b, c);
      if (result === failed) {
        kind = failure('name');
        message = failure('message');
      }
    } catch {
      throw new RangeErrorOfRealm(OVERFLOW);
    }
    if (result === failed) {
      throw new (kind === 'RangeError' ? RangeErrorOfRealm : ErrorOfRealm)(message as string);
    }
    if (isObject(result)) throw new TypeErrorOfRealm(`${name}: the host gave an object`);
    return result;
  };
  return lifted as Lifted;
}

/** The value of a refused request in the field that the refusal names, and how it is made. */
function givenIn(request: unknown, refusal: string): string {
  const [path, field = ''] = /^(?:\w+\.)*(\w+)(?=: )/.exec(refusal) ?? [];
  const value = path?.split('.').reduce<unknown>((of, name) => {
    return isObject(of) ? (of as Record<string, unknown>)[name] : undefined;
  }, request);
  if (typeof value !== 'string') return '';
  const got = `, got ${value.slice(0, 60)}`;
  if (!refusal.includes('must be a multiple of the ')) return got;
  return `${got}; context.market().${field === 'quantity' ? 'size' : 'price'}(number) makes it one`;
}

/** Makes the realm's globals and returns the functions for the host. */
export function open(realm: Realm): GuestPort {
  const { file, script } = realm;
  const clean = cleanerOf(realm.hostObject);
  protect(file, clean);
  const host = lift(realm);
  const waiting = new Map<number, Waiting>();
  /** Packed requests of refusals. */
  const refused = new WeakMap<object, string>();
  const timers = new Map<number, () => void>();
  let tickets = 0;
  let definition: StrategyDefinition | null = null;
  let strategy: Handlers = {};
  let observations = new Observations(undefined, [], () => false);
  let context: StrategyContext | null = null;
  let bids: Level[] = [];
  let asks: Level[] = [];

  defineGlobals({
    nowMs: () => host('nowMs'),
    random: () => host('random'),
    after: (us, run) => {
      const id = host('after', us);
      timers.set(id, run);
      return id;
    },
    cancel: (id) => {
      timers.delete(id);
      host('cancel', id);
    },
    print: (text) => {
      host('print', text);
    },
  });

  const ask = (name: 'call' | 'page' | 'sleep', a: Primitive, b?: Primitive): Promise<unknown> =>
    new PromiseOfRealm((resolve, reject) => {
      const ticket = ++tickets;
      waiting.set(ticket, { resolve, reject, request: b });
      host(name, ticket, a, b);
    });

  /** Text on the request of a refusal; a strategy may have replaced what it is made with. */
  const given = (error: unknown, refusal: string): string => {
    try {
      const request = isObject(error) ? refused.get(error) : undefined;
      return request === undefined ? '' : givenIn(unpack(request), refusal);
    } catch {
      return '';
    }
  };
  const report = (thrown: unknown): -1 => {
    const error = clean(thrown);
    const { name, message, stack } = partsOf(error);
    host('threw', name, message + given(error, message), stack);
    return -1;
  };
  /** A handler's result as a number for the host. */
  const outcome = (result: unknown): number => {
    if (!isObject(result)) return 0;
    const handler = ++tickets;
    const ended = PromiseOfRealm.resolve(result);
    void apply(nativeThen, ended, [
      () => host('ended', handler, false),
      (error: unknown) => {
        report(error);
        host('ended', handler, true);
      },
    ] as Parameters<typeof nativeThen>);
    return handler;
  };
  const attempt = <T>(run: () => T): T | null => {
    try {
      return run();
    } catch (error) {
      report(error);
      return null;
    }
  };
  const handle = (name: string, update?: unknown): number => {
    try {
      observations.take(name, update);
      return outcome(
        update === undefined ? strategy[name]?.(context) : strategy[name]?.(update, context),
      );
    } catch (error) {
      return report(error);
    }
  };

  const markets = new Map<string, MarketTerms>();
  const termsOf = (symbol: string): MarketTerms => {
    const terms = host('market', symbol);
    let found = markets.get(terms);
    if (found === undefined) {
      found = marketTerms(unpack(terms) as TermsRecord);
      markets.set(terms, found);
    }
    return found;
  };
  const contextOf = ({ account, subaccountIndex, symbol, symbols }: Facts): StrategyContext => {
    const send =
      (name: 'call' | 'page') =>
      (endpoint: EndpointId, request: unknown): Promise<never> =>
        ask(name, endpoint, pack(request)) as Promise<never>;
    const client: MatcherClient = { call: send('call'), page: send('page') };
    const nextNonce = (): number | bigint => host('nextNonce');
    // A warm-up ends once.
    let isWarm = false;
    return {
      client,
      account,
      subaccountIndex,
      symbol,
      symbols,
      get warmingUp() {
        isWarm ||= !host('warmingUp');
        return !isWarm;
      },
      random: {
        next: () => host('draw'),
        below: (bound) => Math.floor(host('draw') * bound),
        state: () => unpack(host('drawState')),
      },
      now: () => host('now'),
      ...actionsOf(client, { account, subaccountIndex }, symbol, termsOf, {
        nextNonce,
        tag: (nonce, text) => {
          host('tag', nonce, text);
        },
      }),
      ...observations.reads(symbols),
      plot: (name, value, options) => {
        host('plot', name, value, pack(options ?? {}));
      },
      setTimer: (name, afterUs) => {
        host('setTimer', name, afterUs);
      },
      sleep: (us) => ask('sleep', us) as Promise<void>,
      nextNonce,
      log: (text) => {
        host('log', text);
      },
    };
  };
  const take = (ticket: number): Waiting | undefined => {
    const found = waiting.get(ticket);
    waiting.delete(ticket);
    return found;
  };

  return {
    run() {
      const module: { exports: Record<string, unknown> } = { exports: {} };
      const given = (name: string): unknown => {
        if (name === 'orrery/strategy') return api;
        throw new ErrorOfRealm(`${file}: '${name}' cannot be imported by a strategy`);
      };
      const done = attempt(() => {
        script(module, module.exports, given, clean);
        definition = mustDefinition(module.exports['default'], file);
        return true;
      });
      return done === null ? -1 : 0;
    },
    definition: () =>
      attempt(() => {
        const given = definition as StrategyDefinition;
        const { name, describe, parameters, bookDepth, keeps } = given;
        const derived = {
          barsUs: given.barsUs !== undefined,
          warmUpUs: given.warmUpUs !== undefined,
        };
        return pack({ name, describe, parameters, bookDepth, keeps, derived });
      }),
    derived: (name, parameters) =>
      attempt(() => pack(definition?.[name]?.(unpack(parameters) as ParameterValues))),
    create: (parameters) =>
      attempt(() => {
        const values = unpack(parameters) as ParameterValues;
        strategy = mustHandlers(definition?.create(values) as Strategy) as Handlers;
        const barsUs = definition?.barsUs?.(values) ?? [60_000_000];
        const has = (name: string): boolean => strategy[name] !== undefined;
        observations = new Observations(definition?.keeps, barsUs, has);
        const kept = keptHandlers(definition?.keeps);
        const names: readonly (keyof Strategy)[] = [...HANDLERS, 'save', 'load'];
        return pack([
          ...names.filter((name) => has(name) || kept.includes(name)),
          ...misspelt(strategy).map(({ name }) => name),
        ]);
      }),
    begin(facts) {
      context = contextOf(unpack(facts) as Facts);
    },
    // An argument per field: objects do not cross the boundary, and text would be parsed each time.
    // eslint-disable-next-line @typescript-eslint/max-params
    bar: (symbol, startUs, timeUs, intervalUs, open, high, low, close, volume) =>
      handle('onBar', { symbol, startUs, timeUs, intervalUs, open, high, low, close, volume }),
    trade: (symbol, timeUs, price, quantity) =>
      handle('onTrade', { symbol, timeUs, price, quantity }),
    level(isBid, price, size) {
      const side = isBid ? bids : asks;
      side[side.length] = { price, size };
    },
    // eslint-disable-next-line @typescript-eslint/max-params -- an argument per field, as in `bar`
    book(symbol, timeUs, bidTicks, askTicks, tickSize, mid) {
      const levels = { bids, asks };
      bids = [];
      asks = [];
      const [bid, ask] = [levels.bids[0] ?? null, levels.asks[0] ?? null];
      return handle('onBook', {
        symbol,
        timeUs,
        bid,
        ask,
        bidTicks,
        askTicks,
        tickSize,
        mid,
        ...levels,
      });
    },
    // eslint-disable-next-line @typescript-eslint/max-params -- an argument per field, as in `bar`
    fill: (symbol, timeUs, orderId, role, price, quantity, fee, position) =>
      handle('onFill', { symbol, timeUs, orderId, role, price, quantity, fee, position }),
    // eslint-disable-next-line @typescript-eslint/max-params -- an argument per field, as in `bar`
    order: (symbol, timeUs, orderId, clientId, status, reason, quantity, remaining) =>
      handle('onOrder', {
        symbol,
        timeUs,
        orderId,
        clientId,
        status,
        reason,
        quantity,
        remaining,
      }),
    price: (handler, symbol, timeUs, price) => handle(handler, { symbol, timeUs, price }),
    update: (handler, update) => handle(handler, unpack(update)),
    plain: (handler) => handle(handler),
    timer: (name) => handle('onTimer', name),
    ring(timer) {
      const run = timers.get(timer);
      timers.delete(timer);
      return (
        attempt(() => {
          run?.();
          return 0;
        }) ?? -1
      );
    },
    settle(ticket, value) {
      take(ticket)?.resolve(unpack(value));
    },
    refuse(ticket, name, message, status, endpoint) {
      const found = take(ticket);
      const error =
        endpoint === null
          ? new (name === 'RangeError' ? RangeErrorOfRealm : ErrorOfRealm)(message)
          : new api.MatcherError(endpoint as EndpointId, status, message);
      if (typeof found?.request === 'string') refused.set(error, found.request);
      found?.reject(error);
    },
    save: () => attempt(() => pack([strategy['save']?.(), observations.save()])),
    load: (saved) =>
      attempt(() => {
        const [state, observed] = unpack(saved) as [unknown, unknown];
        observations.load(observed);
        strategy['load']?.(state);
        return 0;
      }) ?? -1,
  };
}
