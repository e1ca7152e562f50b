/**
 * Ways from a strategy's realm to objects of the host that are not arguments or results of calls:
 * the platform formats stacks in the host's realm, and that may throw an error of the host.
 *
 * Uses functions that were captured before the strategy runs, which may replace those of its realm.
 */
const { apply } = Reflect;
const { getPrototypeOf, defineProperty, freeze } = Object;
export const OVERFLOW = 'Maximum call stack size exceeded';
const PromiseOfRealm = Promise;
const { prototype: promises } = PromiseOfRealm;
// Called through `apply` with its receiver.
// eslint-disable-next-line @typescript-eslint/unbound-method
const nativeThen = promises.then;
const ErrorOfRealm = Error;
const RangeErrorOfRealm = RangeError;

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/**
 * An error that a strategy caught. The platform formats stacks in the host's realm, so near the end
 * of the stack `error.stack` throws an error of the host; it becomes one of this realm.
 */
export function cleanerOf(hostObject: object): (error: unknown) => unknown {
  return (error) => {
    if (!isObject(error)) return error;
    for (let link: unknown = error; link !== null; link = getPrototypeOf(link)) {
      if (link === hostObject) return new RangeErrorOfRealm(OVERFLOW);
    }
    return error;
  };
}

type Settle = [resolve: (value: unknown) => void, reject: (error: unknown) => void];
type Maker = new (run: (...settle: Settle) => void) => unknown;

/**
 * A function of `Promise` that runs code of a strategy: for a class of the strategy it would pass
 * what that code throws to a function of the class, without a filter.
 */
function combine(name: string): void {
  const native = (PromiseOfRealm as unknown as Record<string, unknown>)[name];
  // Not in each version of the platform.
  if (typeof native !== 'function') return;
  const combined = function (this: Maker, ...args: unknown[]): unknown {
    const made: unknown = apply(native, PromiseOfRealm, args);
    if ((this as unknown) === PromiseOfRealm) return made;
    return new this((resolve, reject) => {
      void (made as Promise<unknown>).then(resolve, reject);
    });
  };
  void defineProperty(combined, 'name', { value: name });
  void defineProperty(PromiseOfRealm, name, {
    configurable: true,
    writable: true,
    value: combined,
  });
}

/**
 * `return` of asynchronous generators: it awaits its argument, and `yield*` passes a failure of
 * that to a function of the strategy. The generator gets a promise of this realm in its place.
 */
function guardReturn(clean: (error: unknown) => unknown): void {
  const prototype: unknown = async function* () {}.prototype;
  const generators = getPrototypeOf(prototype) as Record<string, unknown>;
  const native = generators['return'] as (value: unknown) => unknown;
  // Reactions and generators read the constructor, and a strategy may replace the inherited one.
  const promiseOf = (run: (...settle: Settle) => void): Promise<unknown> => {
    const own = { __proto__: null, value: PromiseOfRealm };
    return defineProperty(new PromiseOfRealm(run), 'constructor', own as PropertyDescriptor);
  };
  const settled = (value: unknown): Promise<unknown> => {
    const given = promiseOf((follow) => {
      follow(value);
    });
    return promiseOf((resolve, reject) => {
      const failed = (error: unknown): void => {
        reject(clean(error));
      };
      void apply(nativeThen, given, [resolve, failed] as Parameters<typeof nativeThen>);
    });
  };
  const fixed = { writable: false, enumerable: false, configurable: false };
  const guarded = function (this: unknown, value: unknown): unknown {
    return apply(native, this, [isObject(value) ? settled(value) : value]);
  };
  void defineProperty(guarded, 'name', { value: 'return' });
  void defineProperty(generators, 'return', { ...fixed, value: guarded });
}

/** Closes the ways to host objects that are not arguments or results; before the strategy runs. */
export function protect(file: string, clean: (error: unknown) => unknown): void {
  const fixed = { writable: false, enumerable: false, configurable: false };
  // A promise of a class of the strategy passes what a reaction throws to a function of that class.
  const cleaned =
    (run: (value: unknown) => unknown, isFailure: boolean) =>
    (value: unknown): unknown => {
      try {
        return run(isFailure ? clean(value) : value);
      } catch (error) {
        throw clean(error);
      }
    };
  const rethrow = (error: unknown): never => {
    throw error;
  };
  // Without a function, a failure would reach that of the class as it is.
  const reaction = (run: unknown, isFailure: boolean): unknown => {
    if (typeof run === 'function') return cleaned(run as (value: unknown) => unknown, isFailure);
    return isFailure ? cleaned(rethrow, true) : undefined;
  };
  void defineProperty(promises, 'then', {
    ...fixed,
    value: function then(this: unknown, kept: unknown, failed: unknown) {
      const handlers = [reaction(kept, false), reaction(failed, true)];
      return apply(nativeThen, this, handlers as Parameters<typeof nativeThen>) as unknown;
    },
  });
  guardReturn(clean);
  for (const name of ['all', 'allSettled', 'any', 'race', 'try']) combine(name);
  // The platform's call sites include those of the host. Only the strategy's own are shown.
  const formatted = (error: unknown, sites: readonly NodeJS.CallSite[]): string => {
    let text = '';
    try {
      text = String(error);
    } catch {
      // A conversion to text that throws is left out.
    }
    for (let i = 0; i < sites.length; i++) {
      const site = sites[i];
      if (site?.getFileName() !== file) continue;
      const place = `${file}:${String(site.getLineNumber())}:${String(site.getColumnNumber())}`;
      const name = site.getFunctionName();
      text += name === null ? `\n    at ${place}` : `\n    at ${name} (${place})`;
    }
    return text;
  };
  // The default of the platform, which an option of the process can change.
  ErrorOfRealm.stackTraceLimit = 10;
  defineProperty(ErrorOfRealm, 'prepareStackTrace', { ...fixed, value: freeze(formatted) });
  defineProperty(globalThis, 'Error', { ...fixed, value: ErrorOfRealm });
}
