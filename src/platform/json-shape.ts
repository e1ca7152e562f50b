/** Shapes of JSON files, for errors that name the field that is wrong. */

/**
 * `decimal`: the text of a number. `time`: µs since 1970. `?`: null or absent is allowed. A list
 * has one shape.
 */
export type Shape =
  | `${'number' | 'time' | 'text' | 'decimal' | 'flag' | 'list' | 'record'}${'' | '?'}`
  | readonly [Shape]
  | Fields;
interface Fields {
  readonly [name: string]: Shape;
}
/** Fields that are not here are not read, or may be anything. */
export type Of<T> = { readonly [Name in keyof T]?: Shape };

/** The first field that differs from the shape, and what it must be; null if there is none. */
export function faultOf(value: unknown, shape: Shape): string | null {
  const fault = find(value, shape);
  return fault === null ? null : `${fault.path || 'the content'} must be ${fault.mustBe}`;
}

interface Fault {
  /** Within a value: `orders[2].price`. */
  readonly path: string;
  readonly mustBe: string;
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;
/** Largest time that a `Date` has. */
const MAX_TIME_US = 8.64e18;
const KINDS = {
  number: 'a number',
  time: 'a time in µs',
  text: 'text',
  decimal: 'the text of a number',
  flag: 'true or false',
  list: 'a list',
  record: 'an object',
} as const;

/** Paths are made for a fault only: lists have up to millions of rows. */
function find(value: unknown, shape: Shape): Fault | null {
  if (typeof shape === 'string') {
    return fits(value, shape)
      ? null
      : { path: '', mustBe: KINDS[shape.replace('?', '') as keyof typeof KINDS] };
  }
  if (isList(shape)) {
    if (!Array.isArray(value)) return { path: '', mustBe: KINDS.list };
    const items: readonly unknown[] = value;
    for (let i = 0; i < items.length; i++) {
      const fault = find(items[i], shape[0]);
      if (fault !== null) return inside(`[${String(i)}]`, fault);
    }
    return null;
  }
  if (!isRecord(value)) return { path: '', mustBe: KINDS.record };
  for (const name in shape) {
    const fault = find(value[name], shape[name] ?? 'record');
    if (fault !== null) return inside(name, fault);
  }
  return null;
}

function inside(name: string, { path, mustBe }: Fault): Fault {
  const joint = path === '' || path.startsWith('[') ? '' : '.';
  return { path: `${name}${joint}${path}`, mustBe };
}

function fits(value: unknown, shape: Shape & string): boolean {
  if (shape.endsWith('?') && (value === null || value === undefined)) return true;
  switch (shape) {
    case 'number':
    case 'number?':
      return typeof value === 'number';
    case 'time':
    case 'time?':
      return typeof value === 'number' && Math.abs(value) <= MAX_TIME_US;
    case 'decimal':
    case 'decimal?':
      return typeof value === 'string' && DECIMAL.test(value);
    case 'text':
    case 'text?':
      return typeof value === 'string';
    case 'flag':
    case 'flag?':
      return typeof value === 'boolean';
    case 'list':
    case 'list?':
      return Array.isArray(value);
    default:
      return isRecord(value);
  }
}

function isList(shape: readonly [Shape] | Fields): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
