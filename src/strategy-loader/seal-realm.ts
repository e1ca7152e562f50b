/**
 * Objects of this realm that strategies are given (their context, updates, answers, errors) must lead nowhere else: neither to code that runs
 * outside virtual time, nor to a place where one run leaves word for the next. What they are given of this program is frozen; the constructors of
 * functions, which make code of text, are not found through functions; and the common prototypes take no new fields.
 */
import * as api from '../strategy/index.ts';

let isSealed = false;

/** Once in a process. `Function` itself stays as it is for those who name it. */
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
      throw new TypeError('a strategy makes no code outside its own realm');
    };
    // As before to those who ask what kind of function one is.
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
