/**
 * Sandbox of a strategy's code: a realm (`node:vm` context) that contains no object of this one.
 * Context, updates, responses and errors are made in it by `guest/guest.ts` from primitive values.
 * Its clock and random numbers are those of the run. Globals:
 *
 * - `Date` without arguments, `Date.now()`, `performance.now()`: the run's time. Local time is UTC.
 * - `Math.random()`: a stream of the run's seed.
 * - `setTimeout`, `setInterval`, `setImmediate`, `queueMicrotask`: virtual time.
 * - `Intl`, `toLocaleString`, `localeCompare`: en-US and UTC unless a call names others; without a
 * date the run's time.
 * - `fetch`, `process`, `require`, `WebSocket`, `crypto`: absent; use throws.
 * - `console`: lines of the run's log.
 *
 * Live runs have the same globals on the real clock.
 */
import { createContext, Script } from 'node:vm';
import {
  mustDefinition,
  StrategyError,
  type ParameterValues,
  type StrategyDefinition,
} from '../strategy/definition.ts';
import type { VirtualClock } from '../backtest/strategy-run.ts';
import type {
  BarUpdate,
  BookUpdate,
  FillUpdate,
  OrderUpdate,
  PriceUpdate,
  Strategy,
  StrategyContext,
  TradeUpdate,
} from '../strategy/strategy.ts';
import type { StrategyBundle } from './bundle.ts';
import type { open, Realm } from './guest/guest.ts';
import { pack, unpack } from '../strategy/plain-data.ts';
import type { GuestPort } from './guest/port.ts';
import { HostSide } from './host-side.ts';
import { aroundCode, aroundOwnCode } from './local-globals.ts';

export interface LoadedStrategy {
  readonly definition: StrategyDefinition;
  /** Connects the strategy's globals to a clock; before that they throw. */
  readonly bindClock: (clock: VirtualClock) => void;
}

type Handlers = Required<Omit<Strategy, 'save' | 'load'>> & {
  save(): unknown;
  load(saved: unknown): void;
};

/** Runs the bundle's script and returns its default export. Throws what the script throws. */
export function loadStrategy(bundle: StrategyBundle): LoadedStrategy {
  const host = new HostSide(bundle);
  const guest = openRealm(bundle, host);
  host.guest = guest;
  host.mustReturn(host.call('the file', () => guest.run()));
  const packed = host.mustText(host.call('the definition', () => guest.definition()));
  const { derived, ...fields } = unpack(packed) as StrategyDefinition & {
    readonly derived: Readonly<Record<'barsUs' | 'warmUpUs', boolean>>;
  };
  const ask = (name: 'barsUs' | 'warmUpUs', parameters: ParameterValues): unknown =>
    unpack(host.mustText(host.call('the definition', () => guest.derived(name, pack(parameters)))));
  const definition: StrategyDefinition = {
    ...fields,
    create: (parameters) => strategyOf(host, guest, parameters),
    ...(derived.barsUs ? { barsUs: (given) => mustBeLengths(bundle, ask('barsUs', given)) } : {}),
    ...(derived.warmUpUs
      ? {
          warmUpUs: (given) => mustBeLengths(bundle, [ask('warmUpUs', given)])[0] ?? 0,
        }
      : {}),
  };
  return {
    definition: mustDefinition(definition, bundle.file),
    bindClock: (clock) => {
      host.clock = clock;
    },
  };
}

interface Compiled {
  readonly guest: Script;
  readonly strategy: Script;
}

/** The bundle compiled last, with its scripts: trials of a search run the same one. */
let last: { readonly code: string; readonly file: string; readonly compiled: Compiled } | null =
  null;

/** Scripts belong to no realm: each run has its own objects. */
function compiledOf({ code, file, filter, guest }: StrategyBundle): Compiled {
  if (last?.code === code && last.file === file) return last.compiled;
  const own = aroundOwnCode(guest, 'module, exports');
  const given = aroundCode(code, `module, exports, require, ${filter}`);
  // Script positions equal bundle positions, which the source map resolves.
  const place = { filename: file, columnOffset: -given.head.length };
  const compiled = {
    guest: new Script(`${own.head}${guest}${own.tail}`, { filename: 'orrery' }),
    strategy: new Script(`${given.head}${code}${given.tail}`, place),
  };
  last = { code, file, compiled };
  return compiled;
}

function openRealm(bundle: StrategyBundle, host: HostSide): GuestPort {
  const realm = createContext(Object.create(null) as object, {
    name: bundle.file,
    codeGeneration: { strings: false, wasm: false },
  });
  const compiled = compiledOf(bundle);
  const guest: { exports: { open?: typeof open } } = { exports: {} };
  const load = compiled.guest.runInContext(realm) as (
    module: typeof guest,
    exports: object,
  ) => void;
  load(guest, guest.exports);
  const script = compiled.strategy.runInContext(realm) as Realm['script'];
  const { open: opened } = guest.exports;
  if (opened === undefined) throw new Error('the code of the realm has no entry');
  return opened({
    port: host.port(),
    failed: HostSide.failed,
    hostObject: Object.prototype,
    file: bundle.file,
    script,
  });
}

/** Handlers that receive the context only. */
function contextHandlers(host: HostSide, guest: GuestPort): Pick<Handlers, 'onStart' | 'onStop'> {
  const plain = (handler: 'onStart' | 'onStop') => {
    const run = host.handler(handler, () => guest.plain(handler));
    return (context: StrategyContext) => run(null, context);
  };
  return { onStart: plain('onStart'), onStop: plain('onStop') };
}

/**
 * A field of an update. Live updates come from a server's JSON: an object in the place of text
 * would be one of this realm.
 */
function primitive<T>(field: T): T {
  return typeof field === 'object' && field !== null ? (JSON.stringify(field) as T) : field;
}

function mustBeLengths({ file }: StrategyBundle, lengths: unknown): readonly number[] {
  if (
    Array.isArray(lengths) &&
    lengths.every((us) => typeof us === 'number' && Number.isFinite(us) && us >= 0)
  ) {
    return lengths as number[];
  }
  throw new StrategyError(`${file}: barsUs and warmUpUs must give lengths of time in µs`);
}

/** A strategy of this realm whose handlers call those of the guest. */
function strategyOf(host: HostSide, guest: GuestPort, parameters: ParameterValues): Strategy {
  const names = unpack(
    host.mustText(host.call('create', () => guest.create(pack(parameters)))),
  ) as readonly string[];
  const packed = (name: 'onFunding' | 'onLiquidation' | 'onAccount' | 'onData') =>
    host.handler(name, (update: object) => guest.update(name, pack(update)));
  const all: Handlers = {
    ...contextHandlers(host, guest),
    onBook: host.handler('onBook', (book: BookUpdate) => {
      const { bids, asks } = book;
      for (const { price, size } of bids) guest.level(true, primitive(price), primitive(size));
      for (const { price, size } of asks) guest.level(false, primitive(price), primitive(size));
      const { symbol, timeUs, bidTicks, askTicks, tickSize, mid } = book;
      return guest.book(symbol, timeUs, bidTicks, askTicks, tickSize, mid);
    }),
    onTrade: host.handler('onTrade', ({ symbol, timeUs, price, quantity }: TradeUpdate) =>
      guest.trade(symbol, timeUs, primitive(price), primitive(quantity)),
    ),
    onBar: host.handler('onBar', (bar: BarUpdate) => {
      const { symbol, startUs, timeUs, intervalUs, open, high, low, close, volume } = bar;
      return guest.bar(symbol, startUs, timeUs, intervalUs, open, high, low, close, volume);
    }),
    onFill: host.handler('onFill', (fill: FillUpdate) =>
      guest.fill(
        fill.symbol,
        fill.timeUs,
        primitive(fill.orderId),
        fill.role,
        primitive(fill.price),
        primitive(fill.quantity),
        primitive(fill.fee),
        primitive(fill.position),
      ),
    ),
    onOrder: host.handler('onOrder', (order: OrderUpdate) =>
      guest.order(
        order.symbol,
        order.timeUs,
        primitive(order.orderId),
        primitive(order.clientId),
        primitive(order.status),
        primitive(order.reason),
        primitive(order.quantity),
        primitive(order.remaining),
      ),
    ),
    onFunding: packed('onFunding'),
    onMark: host.handler('onMark', ({ symbol, timeUs, price }: PriceUpdate) =>
      guest.price('onMark', symbol, timeUs, primitive(price)),
    ),
    onIndex: host.handler('onIndex', ({ symbol, timeUs, price }: PriceUpdate) =>
      guest.price('onIndex', symbol, timeUs, primitive(price)),
    ),
    onLiquidation: packed('onLiquidation'),
    onAccount: packed('onAccount'),
    onData: packed('onData'),
    onTimer: host.handler('onTimer', (name: string) => guest.timer(name)),
    save: () => host.mustText(host.call('save', () => guest.save())),
    load: (saved) => {
      host.mustReturn(host.call('load', () => guest.load(String(saved))));
    },
  };
  const own = Object.entries(all).filter(([name]) => names.some((given) => given === name));
  // Misspelt ones are never called; the run states them.
  const others = names.filter((name) => !Object.hasOwn(all, name) && /^on[a-z]+$/i.test(name));
  return Object.fromEntries([...own, ...others.map((name) => [name, () => undefined] as const)]);
}
