/**
 * Isolates strategies from this realm. Objects passed to them (context, updates, responses, errors)
 * must give no access to code outside virtual time, and to no state shared by runs. API objects are
 * frozen; function constructors, which compile text, are unreachable through functions; common
 * prototypes are not extensible.
 */
import * as api from '../strategy/index.ts';

let isSealed = false;

/** Idempotent per process. The global name `Function` is unchanged. */
export function sealRealm(): void {
  if (isSealed) return;
  isSealed = true;
  const makers = [
    () => undefined,
    async () => Promise.resolve(),
    function* () {
      yield 0;
    },
    async function* () {
      yield await Promise.resolve(0);
    },
  ];
  for (const maker of makers) {
    const prototype = Object.getPrototypeOf(maker) as { constructor: { name: string } };
    const refuse = function (): never {
      throw new TypeError('a strategy cannot compile code outside its own realm');
    };
    // Keeps the name that callers read to find the kind of function.
    Object.defineProperty(refuse, 'name', { value: prototype.constructor.name });
    Object.defineProperty(refuse, 'prototype', { value: prototype });
    Object.defineProperty(prototype, 'constructor', { value: Object.freeze(refuse) });
  }
  const common = [
    Object,
    Array,
    Function,
    Promise,
    Error,
    Map,
    Set,
    String,
    Number,
    Boolean,
    BigInt,
  ];
  for (const maker of common) {
    const prototype: unknown = maker.prototype;
    Reflect.preventExtensions(prototype as object);
  }
  for (const value of Object.values(api)) freezeWhole(value);
}

function freezeWhole(value: unknown): void {
  if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return;
  Object.freeze(value);
  const { prototype } = value as { readonly prototype?: object };
  if (prototype !== undefined) Object.freeze(prototype);
}
