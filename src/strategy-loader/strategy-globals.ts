/**
 * Types of the globals of a strategy's realm that are not part of the language, as a file of
 * declarations for the type check. `guest/globals.ts` defines them.
 */
export const GLOBALS_FILE = 'orrery-globals.d.ts';

export const GLOBALS = `
interface StrategyConsole {
  debug(...values: unknown[]): void;
  error(...values: unknown[]): void;
  info(...values: unknown[]): void;
  log(...values: unknown[]): void;
  warn(...values: unknown[]): void;
}
declare var console: StrategyConsole;
declare var performance: { now(): number; readonly timeOrigin: number };
declare function setTimeout<A extends unknown[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
declare function setInterval<A extends unknown[]>(run: (...args: A) => void, ms?: number, ...args: A): number;
declare function setImmediate<A extends unknown[]>(run: (...args: A) => void, ...args: A): number;
declare function clearTimeout(id: number | null | undefined): void;
declare function clearInterval(id: number | null | undefined): void;
declare function clearImmediate(id: number | null | undefined): void;
declare function queueMicrotask(run: () => void): void;
`;
