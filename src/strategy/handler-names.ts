/** Names of handlers, and methods of a strategy that are probably meant as one. */
import { nearest } from '../base/suggest.ts';
import type { Strategy } from './strategy.ts';

export const HANDLERS = [
  ...(['onStart', 'onBook', 'onTrade', 'onBar', 'onFill', 'onOrder', 'onTimer'] as const),
  ...(['onFunding', 'onMark', 'onIndex', 'onLiquidation', 'onAccount', 'onData'] as const),
  'onStop',
] as const satisfies readonly (keyof Strategy)[];

/** Letters in which a method may differ from the handler that it is taken for. */
const MOST_LETTERS = 2;

export interface Misspelt {
  readonly name: string;
  readonly handler: string;
}

/**
 * Methods that begin with `on` and nearly have the name of a handler. A strategy that has this
 * handler too may call such a method itself.
 */
export function misspelt(strategy: Strategy): Misspelt[] {
  const names = methodsOf(strategy);
  return [...names].flatMap((name) => {
    const isHandler = HANDLERS.some((known) => known === name);
    if (isHandler || !/^on[a-z]+$/i.test(name)) return [];
    const handler = nearest(name, HANDLERS, MOST_LETTERS);
    return handler === null || names.has(handler) ? [] : [{ name, handler }];
  });
}

/** The same as sentences, which begin with the name of the strategy; also without a handler. */
export function misspeltTexts(name: string, strategy: Strategy): string[] {
  const found = misspelt(strategy);
  const names = methodsOf(strategy);
  if (found.length === 0 && !HANDLERS.some((handler) => names.has(handler))) {
    return [`${name} has no handler, so nothing calls it; handlers are ${HANDLERS.join(', ')}`];
  }
  return found.map(
    (method) =>
      `${name} has a method ${method.name}, which no update calls; did you mean ${method.handler}?`,
  );
}

/** Own methods and those of its class. Getters are not called. */
function methodsOf(strategy: object): Set<string> {
  const names = new Set<string>();
  for (let at: unknown = strategy; at !== null; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function') names.add(name);
    }
  }
  return names;
}
