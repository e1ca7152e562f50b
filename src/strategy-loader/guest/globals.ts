/** Globals of a strategy's realm. Runs in that realm before the strategy. */
import { fixLocale, replace } from './locale.ts';
import { defineDate } from './utc-date.ts';

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
/**
 * Globals of the language that give the same on every machine. Others are removed, also those that
 * a later version of the platform adds: shared memory, compiled code (`WebAssembly`), the garbage
 * collector (`WeakRef`, `FinalizationRegistry`), the clock (`Temporal`), stacks of resources
 * (`DisposableStack`: their errors hold others, which no filter has seen).
 */
const LANGUAGE = new Set([
  ...['globalThis', 'undefined', 'NaN', 'Infinity', 'eval', 'isFinite', 'isNaN', 'parseFloat'],
  ...['parseInt', 'decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape'],
  ...['unescape', 'Object', 'Function', 'Array', 'Number', 'Boolean', 'String', 'Symbol', 'BigInt'],
  ...['Promise', 'RegExp', 'Proxy', 'Reflect', 'JSON', 'Math', 'Intl', 'Date', 'Iterator'],
  ...['Map', 'Set', 'WeakMap', 'WeakSet', 'ArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array'],
  ...['Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array'],
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError'],
  ...['TypeError', 'URIError'],
]);

const ErrorOfRealm = Error;

export function defineGlobals(port: GlobalsPort): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!LANGUAGE.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  const nowMs = (): number => port.nowMs();
  defineDate(nowMs);
  fixLocale(nowMs);
  define('performance', Object.freeze({ now: nowMs, timeOrigin: 0 }));
  defineTimers(port);
  Math.random = () => port.random();
  const log = (...values: unknown[]): void => {
    port.print(values.map(textOf).join(' '));
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
}

/** Objects as JSON in which numbers and errors keep their text; other values as text. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof ErrorOfRealm) {
    return String(value);
  }
  try {
    return jsonOf(value) ?? 'undefined';
  } catch {
    return '[circular]';
  }
}

/** Undefined for an object whose `toJSON` gives nothing. */
function jsonOf(value: object): string | undefined {
  return JSON.stringify(value, (_key, field: unknown) => {
    const isNumber = typeof field === 'bigint' || (typeof field === 'number' && !isFinite(field));
    return isNumber || field instanceof ErrorOfRealm ? String(field) : field;
  });
}

function define(name: string, value: unknown): void {
  replace(globalThis, name, value);
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
