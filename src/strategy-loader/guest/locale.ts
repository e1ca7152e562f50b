/**
 * Formats of a strategy's realm: the locale is en-US and the time zone UTC where a call names none,
 * or one that the platform does not know. The platform would use those of the machine.
 */
const LOCALE = 'en-US';

type Native = (...args: unknown[]) => unknown;
type Service = (abstract new (...args: unknown[]) => object) & Native;

/** Replaces a built-in property; not enumerable, as built-in ones are. */
export function replace(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true, configurable: true });
}

export function fixLocale(nowMs: () => number): void {
  const services = Intl as unknown as Record<string, Service>;
  for (const name of Object.getOwnPropertyNames(Intl)) {
    const service = services[name];
    // Those that choose a locale; `Intl.Locale` must be given one.
    if (service === undefined || !Object.hasOwn(service, 'supportedLocalesOf')) continue;
    replace(Intl, name, withLocale(service, name === 'DateTimeFormat' ? inUtc : same));
  }
  const collator = new Intl.Collator(LOCALE);
  const text = String.prototype;
  // Methods are called with their receiver.
  /* eslint-disable @typescript-eslint/unbound-method */
  const compare = text.localeCompare as Native;
  replace(text, 'localeCompare', function localeCompare(this: unknown, ...args: unknown[]) {
    const [that, locales, options] = args;
    if (locales === undefined && options === undefined && typeof this === 'string') {
      return collator.compare(this, String(that));
    }
    return Reflect.apply(compare, this, [that, named(locales), options]);
  });
  withNamed(text, ['toLocaleLowerCase', 'toLocaleUpperCase'], same);
  withNamed(Number.prototype, ['toLocaleString'], same);
  withNamed(BigInt.prototype, ['toLocaleString'], same);
  withNamed(Array.prototype, ['toLocaleString'], same);
  withNamed(Object.getPrototypeOf(Uint8Array.prototype) as object, ['toLocaleString'], same);
  const ofDate = ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'];
  withNamed(Date.prototype, ofDate, inUtc);
  virtualFormats(nowMs);
}

const same = (options: unknown): unknown => options;

/** The given locales, and then the fixed one. */
function named(locales: unknown): string[] | string {
  if (locales === undefined) return LOCALE;
  const list = Intl.getCanonicalLocales(locales as string);
  list[list.length] = LOCALE;
  return list;
}

/** Options of a format of time, with UTC if they name no zone. */
function inUtc(options: unknown): unknown {
  if (options === null) return options;
  const given = (options === undefined ? {} : Object(options)) as { readonly timeZone?: unknown };
  if (given.timeZone !== undefined) return given;
  return Object.create(given, { timeZone: { value: 'UTC' } });
}

function withLocale(service: Service, completed: (options: unknown) => unknown): Service {
  const wrapped = new Proxy(service, {
    construct: (target, [locales, options], newTarget) =>
      Reflect.construct(target, [named(locales), completed(options)], newTarget) as object,
    apply: (target, self, [locales, options]) =>
      Reflect.apply(target, self, [named(locales), completed(options)]),
  });
  replace(service.prototype as object, 'constructor', wrapped);
  return wrapped;
}

/** Methods whose arguments are locales and options. */
function withNamed(
  owner: object,
  names: readonly string[],
  completed: (options: unknown) => unknown,
): void {
  const methods = owner as Record<string, Native>;
  for (const name of names) {
    const native = methods[name];
    if (native === undefined) continue;
    const { [name]: method } = {
      [name](this: unknown, locales?: unknown, options?: unknown) {
        return Reflect.apply(native, this, [named(locales), completed(options)]);
      },
    };
    replace(owner, name, method);
  }
}

/** Formats use the platform's time if no date is given. */
function virtualFormats(nowMs: () => number): void {
  const formats = Intl.DateTimeFormat.prototype;
  const formatOf = Object.getOwnPropertyDescriptor(formats, 'format')?.get;
  const partsOf = formats.formatToParts as Native;
  Object.defineProperty(formats, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const format = formatOf?.call(this) as (date: unknown) => string;
      return (date: unknown) => format(date === undefined ? nowMs() : date);
    },
  });
  replace(formats, 'formatToParts', function formatToParts(this: unknown, date: unknown) {
    return Reflect.apply(partsOf, this, [date === undefined ? nowMs() : date]);
  });
}
