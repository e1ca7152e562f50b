/**
 * Sandbox of a strategy's code: a realm (`node:vm` context) whose clock and random numbers are
 * those of the run. Globals:
 *
 * - `Date` without arguments, `Date.now()`, `performance.now()`: the run's time. Local time is UTC,
 * because the command sets TZ.
 * - `Math.random()`: a stream of the run's seed.
 * - `setTimeout`, `setInterval`, `setImmediate`, `queueMicrotask`: virtual time.
 * - `Intl.DateTimeFormat` without a date: the run's time.
 * - `fetch`, `process`, `require`, `WebSocket`, `crypto`: absent; use throws.
 * - `console`: lines of the run's log.
 *
 * Live runs have the same globals on the real clock.
 */
import { createContext, Script } from 'node:vm';
import { mustDefinition, StrategyError, type StrategyDefinition } from '../strategy/definition.ts';
import type { VirtualClock } from '../backtest/strategy-run.ts';
import * as api from '../strategy/index.ts';
import type { StrategyBundle } from './bundle.ts';
import { sealRealm } from './seal-realm.ts';

export interface LoadedStrategy {
  readonly definition: StrategyDefinition;
  /** Connects the strategy's globals to a clock; before that they throw. */
  readonly bindClock: (clock: VirtualClock) => void;
}

/**
 * Prelude that runs in the realm and builds its globals from the port's functions. Strict mode;
 * uses no name of the outer realm.
 */
const PRELUDE = `(port) => {
  'use strict';
  const RealDate = Date;
  // Not a subclass: its prototype chain would lead to the platform's clock.
  function VirtualDate(...args) {
    if (new.target === undefined) return new VirtualDate().toString();
    return Reflect.construct(RealDate, args.length === 0 ? [port.nowMs()] : args, new.target);
  }
  VirtualDate.prototype = RealDate.prototype;
  Object.defineProperty(VirtualDate, 'name', { value: 'Date' });
  for (const [name, value] of [
    ['now', () => port.nowMs()], ['parse', RealDate.parse], ['UTC', RealDate.UTC],
  ]) Object.defineProperty(VirtualDate, name, { value, writable: true, configurable: true });
  Object.defineProperty(RealDate.prototype, 'constructor', { value: VirtualDate });
  // Formats use the platform's time if no date is given.
  const formats = Intl.DateTimeFormat.prototype;
  const formatOf = Object.getOwnPropertyDescriptor(formats, 'format').get;
  const partsOf = formats.formatToParts;
  Object.defineProperty(formats, 'format', {
    configurable: true,
    get() {
      const format = formatOf.call(this);
      return (date) => format(date === undefined ? port.nowMs() : date);
    },
  });
  formats.formatToParts = function (date) {
    return partsOf.call(this, date === undefined ? port.nowMs() : date);
  };
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  define('Date', VirtualDate);
  Math.random = () => port.random();
  define('performance', Object.freeze({ now: () => port.nowMs(), timeOrigin: 0 }));
  const timers = new Map();
  const after = (ms, run) => port.after(Math.max(0, Number(ms) || 0) * 1000, run);
  define('setTimeout', (run, ms, ...args) => after(ms, () => run(...args)));
  define('setImmediate', (run, ...args) => after(0, () => run(...args)));
  define('setInterval', (run, ms, ...args) => {
    let id = 0;
    const again = () => {
      const next = after(ms, () => { again(); run(...args); });
      if (id === 0) id = next;
      timers.set(id, next);
    };
    again();
    return id;
  });
  const clear = (id) => {
    port.cancel(timers.get(id) ?? id);
    timers.delete(id);
  };
  define('clearTimeout', clear);
  define('clearInterval', clear);
  define('clearImmediate', clear);
  define('queueMicrotask', (run) => { Promise.resolve().then(run); });
  const text = (value) => typeof value === 'string' ? value : JSON.stringify(value,
    (key, field) => typeof field === 'bigint' ? field.toString() : field) ?? String(value);
  const log = (...values) => port.log(values.map(text).join(' '));
  define('console', { log, info: log, warn: log, error: log, debug: log });
  for (const name of ['fetch', 'process', 'require', 'WebSocket', 'XMLHttpRequest', 'crypto', 'navigator']) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        throw new TypeError(name + ' is not there for a strategy: it would be outside virtual time');
      },
    });
  }
  for (const name of ['SharedArrayBuffer', 'Atomics', 'WebAssembly', 'WeakRef', 'FinalizationRegistry']) {
    delete globalThis[name];
  }
}`;

/** Runs the bundle's script and returns its default export. Throws what the script throws. */
export function loadStrategy(bundle: StrategyBundle): LoadedStrategy {
  sealRealm();
  let clock: VirtualClock | null = null;
  const running = (): VirtualClock => {
    if (clock === null) {
      throw new StrategyError(`${bundle.file}: uses time or random numbers before the run starts`);
    }
    return clock;
  };
  const port = {
    nowMs: () => Math.floor(running().nowUs() / 1000),
    random: () => running().random(),
    after: (us: number, run: () => void) => running().after(us, run),
    cancel: (id: number) => {
      running().cancel(id);
    },
    log: (text: string) => {
      running().log(text);
    },
  };
  const realm = createContext(Object.create(null) as object, {
    name: bundle.file,
    codeGeneration: { strings: true, wasm: false },
  });
  const prepare = new Script(PRELUDE).runInContext(realm) as (from: typeof port) => void;
  prepare(port);
  const module = { exports: {} as Record<string, unknown> };
  const given = (name: string): unknown => {
    if (name === 'orrery/strategy') return api;
    throw new StrategyError(`${bundle.file}: '${name}' cannot be imported by a strategy`);
  };
  const prefix = '(function (module, exports, require) {';
  const wrapped = `${prefix}${bundle.code}\n})`;
  // Script positions equal bundle positions, which the source map resolves.
  const place = { filename: bundle.file, columnOffset: -prefix.length };
  const run = new Script(wrapped, place).runInContext(realm) as (
    target: typeof module,
    exports: Record<string, unknown>,
    require: (name: string) => unknown,
  ) => void;
  run(module, module.exports, given);
  const definition = mustDefinition(module.exports['default'], bundle.file);
  return {
    definition,
    bindClock: (given) => {
      clock = given;
    },
  };
}
