/** Globals of a strategy's realm. Runs in that realm before the strategy. */

export interface GlobalsPort {
  nowMs(): number;
  random(): number;
  after(us: number, run: () => void): number;
  cancel(timer: number): void;
  print(text: string): void;
}

const ABSENT = [
  'fetch',
  'process',
  'require',
  'WebSocket',
  'XMLHttpRequest',
  'crypto',
  'navigator',
];
/** They share memory, compile code, or show the garbage collector. */
const REMOVED = [
  'SharedArrayBuffer',
  'Atomics',
  'WebAssembly',
  'WeakRef',
  'FinalizationRegistry',
  'ShadowRealm',
];

export function defineGlobals(port: GlobalsPort): void {
  defineTime(port);
  defineTimers(port);
  Math.random = () => port.random();
  const text = (value: unknown): string =>
    typeof value === 'string' ? value : (json(value) ?? String(value));
  const log = (...values: unknown[]): void => {
    port.print(values.map(text).join(' '));
  };
  define('console', { log, info: log, warn: log, error: log, debug: log });
  for (const name of ABSENT) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        throw new TypeError(
          `${name} is not there for a strategy: it would be outside virtual time`,
        );
      },
    });
  }
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
}

/** Undefined for a value without JSON, such as a function. */
function json(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? field.toString() : field,
  );
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

function defineTime(port: GlobalsPort): void {
  const RealDate = Date;
  // Not a subclass: its prototype chain would lead to the platform's clock.
  function VirtualDate(...args: readonly unknown[]): unknown {
    const isCall = (new.target as unknown) === undefined;
    if (isCall) return new RealDate(port.nowMs()).toString();
    return Reflect.construct(RealDate, args.length === 0 ? [port.nowMs()] : args, new.target);
  }
  VirtualDate.prototype = RealDate.prototype as unknown;
  Object.defineProperty(VirtualDate, 'name', { value: 'Date' });
  const { parse, UTC } = RealDate;
  for (const [name, value] of Object.entries({ now: () => port.nowMs(), parse, UTC })) {
    Object.defineProperty(VirtualDate, name, { value, writable: true, configurable: true });
  }
  Object.defineProperty(RealDate.prototype, 'constructor', { value: VirtualDate });
  define('Date', VirtualDate);
  define('performance', Object.freeze({ now: () => port.nowMs(), timeOrigin: 0 }));
  // Formats use the platform's time if no date is given.
  const formats = Intl.DateTimeFormat.prototype;
  // Called with its receiver.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const formatOf = Object.getOwnPropertyDescriptor(formats, 'format')?.get;
  const partsOf = Object.getOwnPropertyDescriptor(formats, 'formatToParts')?.value as (
    this: Intl.DateTimeFormat,
    date: unknown,
  ) => unknown;
  Object.defineProperty(formats, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const format = formatOf?.call(this) as (date: unknown) => string;
      return (date: unknown) => format(date === undefined ? port.nowMs() : date);
    },
  });
  Object.defineProperty(formats, 'formatToParts', {
    configurable: true,
    writable: true,
    value(this: Intl.DateTimeFormat, date: unknown) {
      return partsOf.call(this, date === undefined ? port.nowMs() : date);
    },
  });
}

function defineTimers(port: GlobalsPort): void {
  type Run = (...args: unknown[]) => void;
  const intervals = new Map<unknown, number>();
  const after = (ms: unknown, run: () => void): number =>
    port.after(Math.max(0, Number(ms) || 0) * 1000, run);
  define('setTimeout', (run: Run, ms: unknown, ...args: unknown[]) =>
    after(ms, () => {
      run(...args);
    }),
  );
  define('setImmediate', (run: Run, ...args: unknown[]) =>
    after(0, () => {
      run(...args);
    }),
  );
  define('setInterval', (run: Run, ms: unknown, ...args: unknown[]) => {
    let id = 0;
    const again = (): void => {
      const next = after(ms, () => {
        again();
        run(...args);
      });
      if (id === 0) id = next;
      intervals.set(id, next);
    };
    again();
    return id;
  });
  const clear = (id: unknown): void => {
    port.cancel(Number(intervals.get(id) ?? id));
    intervals.delete(id);
  };
  define('clearTimeout', clear);
  define('clearInterval', clear);
  define('clearImmediate', clear);
  define('queueMicrotask', (run: () => void) => {
    void Promise.resolve().then(run);
  });
}
