/**
 * `Date` of a strategy's realm: its clock is the run's, and its local time is UTC. The platform's
 * local time is that of the machine.
 */
import { replace } from './locale.ts';

const RealDate = Date;
const FIELDS = ['Date', 'FullYear', 'Hours', 'Milliseconds', 'Minutes', 'Month', 'Seconds'];
const INVALID = 'Invalid Date';

/** Dates are UTC, and so is ISO text with an offset or Z. */
const DATE_ONLY = /^(?:\d{4}|[+-]\d{6})(?:-\d\d){0,2}$/;
/** ISO text of a date and a time without an offset. */
const LOCAL_ISO = /^(?:\d{4}|[+-]\d{6})(?:-\d\d){0,2}T\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
/** Parts of other text: a word, a number or another character. */
const PARTS = /[A-Za-z_[\\\]^`{|}~\u0080-\uffff]+|\d+|[^]/g;
const ZONE = /^(?:z|utc?|gmt|[ecmp][sd]t)$/i;
const MONTH = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

/** Text without what is in parentheses, which may be nested; the last may be open. */
function withoutComments(text: string): string {
  let depth = 0;
  let rest = '';
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '(') depth += 1;
    if (depth === 0) rest += character;
    if (character === ')' && depth > 0 && --depth === 0) rest += ' ';
  }
  return rest;
}

/**
 * Whether text names its time zone, as the platform reads it: a name after a number, or a sign
 * after a time that does not only separate day, month and year.
 */
function namesZone(text: string): boolean {
  const parts = text.match(PARTS) ?? [];
  let hasNumber = false;
  let hasTime = false;
  /** Numbers of the time that may follow: minutes, seconds, milliseconds. */
  let expected = 0;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? '';
    const next = parts[i + 1];
    if (part >= '0' && part <= '9~') {
      hasNumber = true;
      if (next === ':') {
        expected = hasTime ? expected - 1 : 3;
        hasTime = true;
        i += 1;
      } else if (expected > 0 && next === '.') expected -= 1;
      else if (expected > 0 && Number(part) < 60) expected = 0;
      else if (next === '-') i += 1;
    } else if (ZONE.test(part)) {
      if (hasNumber) return true;
    } else if (MONTH.test(part)) {
      if (next === '-') i += 1;
    } else if ((part === '+' || part === '-') && hasTime) return true;
  }
  return false;
}

export function defineDate(nowMs: () => number): void {
  // Static methods that use no receiver.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { UTC, parse: nativeParse } = RealDate;
  const parse = (text: unknown): number => {
    const given = String(text);
    if (DATE_ONLY.test(given)) return nativeParse(given);
    if (LOCAL_ISO.test(given)) return nativeParse(`${given}Z`);
    const read = withoutComments(given);
    return nativeParse(namesZone(read) ? read : `${read} UTC`);
  };
  /** Arguments of the platform's constructor that do not depend on the machine. */
  const fixed = (args: readonly unknown[]): [unknown] => {
    if (args.length === 0) return [nowMs()];
    if (args.length > 1) return [Reflect.apply(UTC, RealDate, args)];
    const [only] = args;
    if (only instanceof RealDate) return [only];
    const value = primitiveOf(only);
    return [typeof value === 'string' ? parse(value) : value];
  };
  // Not a subclass: its prototype chain would lead to the platform's clock.
  function VirtualDate(...args: readonly unknown[]): unknown {
    const isCall = (new.target as unknown) === undefined;
    if (isCall) return new RealDate(nowMs()).toString();
    return Reflect.construct(RealDate, fixed(args), new.target);
  }
  VirtualDate.prototype = RealDate.prototype as unknown;
  Object.defineProperty(VirtualDate, 'name', { value: 'Date' });
  Object.defineProperty(VirtualDate, 'length', { value: 7 });
  for (const [name, value] of Object.entries({ now: () => nowMs(), parse, UTC })) {
    replace(VirtualDate, name, value);
  }
  localIsUtc(RealDate.prototype);
  replace(RealDate.prototype, 'constructor', VirtualDate);
  replace(globalThis, 'Date', VirtualDate);
}

/** As the platform converts the only argument of the constructor. */
function primitiveOf(value: unknown): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return value;
  const { [Symbol.toPrimitive]: convert } = value as {
    [Symbol.toPrimitive]?: (hint: string) => unknown;
  };
  if (convert != null) return Reflect.apply(convert, value, ['default']);
  const own = (value as { valueOf(): unknown }).valueOf();
  // An object without a primitive value becomes text, as the platform has it.
  // eslint-disable-next-line @typescript-eslint/no-base-to-string
  return typeof own === 'object' && own !== null ? String(value) : own;
}

function localIsUtc(dates: Date): void {
  const methods = dates as unknown as Record<string, unknown>;
  for (const field of FIELDS) {
    replace(dates, `get${field}`, methods[`getUTC${field}`]);
    replace(dates, `set${field}`, methods[`setUTC${field}`]);
  }
  // Methods are called with their receiver.
  /* eslint-disable @typescript-eslint/unbound-method */
  const { getTime, getUTCDay, toUTCString } = dates;
  replace(dates, 'getDay', getUTCDay);
  replace(dates, 'getTimezoneOffset', function getTimezoneOffset(this: Date) {
    return Number.isNaN(Reflect.apply(getTime, this, [])) ? NaN : 0;
  });
  // Legacy methods of local time, and a way to objects that have the platform's clock.
  for (const name of ['getYear', 'setYear', 'toTemporalInstant']) {
    Reflect.deleteProperty(dates, name);
  }
  /** Date and time of a valid date. */
  const parts = (date: Date): readonly [string, string] | null => {
    const text = Reflect.apply(toUTCString, date, []);
    const [, day, number, month, year, time] =
      /^(\w+), (\d+) (\w+) (\S+) (\S+) GMT$/.exec(text) ?? [];
    if (time === undefined) return null;
    return [
      `${String(day)} ${String(month)} ${String(number)} ${String(year)}`,
      `${time} GMT+0000 (Coordinated Universal Time)`,
    ];
  };
  replace(dates, 'toString', function toString(this: Date) {
    return parts(this)?.join(' ') ?? INVALID;
  });
  replace(dates, 'toDateString', function toDateString(this: Date) {
    return parts(this)?.[0] ?? INVALID;
  });
  replace(dates, 'toTimeString', function toTimeString(this: Date) {
    return parts(this)?.[1] ?? INVALID;
  });
}
