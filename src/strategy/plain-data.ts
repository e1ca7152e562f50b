/**
 * Plain data as text, for the boundary between a strategy's realm and this one. Keeps bigints,
 * undefined, NaN, -0, dates, maps, sets and typed arrays. Each realm has its own copy of this code.
 */

/** Key of a value that JSON lacks: `{ "$": [kind, content] }`. */
const TAG = '$';
/** Max nesting depth; more is a cycle. */
const MAX_DEPTH = 200;
const { stringify, parse } = JSON;
const { isArray } = Array;
const { keys, defineProperty, getPrototypeOf, is, prototype: objects } = Object;
const { prototype: arrays } = Array;
/** Of values that have a time; the clock is not read. */
// eslint-disable-next-line no-restricted-globals
const DateValue = Date;

const ARRAYS = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
} as const;
type ArrayName = keyof typeof ARRAYS;

/** Begins every object that JSON lacks, in the text of `pack`. */
const TAGGED = `{"${TAG}":`;

/** Throws `TypeError` for functions, symbols, and data nested too deep. */
export function pack(value: unknown): string {
  return stringify(isJson(value, 0) ? value : encoded(value, 0));
}

/**
 * The same for a reply of an exchange, without a test of each field: it was JSON, or has bigints,
 * which JSON refuses.
 */
export function packReply(value: unknown): string {
  try {
    const text = stringify(value) as string | undefined;
    // A reply without content, and one with the key that marks other values.
    if (text !== undefined && !text.includes(`"${TAG}"`)) return text;
  } catch {
    // It has a bigint.
  }
  return pack(value);
}

export function unpack(text: string): unknown {
  const value: unknown = parse(text);
  return text.includes(TAGGED) ? decoded(value) : value;
}

/** Whether JSON keeps the value: most messages, which are then not copied. */
function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !is(value, -0);
    case 'object':
      return value === null || (depth < MAX_DEPTH && isJsonObject(value, depth + 1));
    default:
      return false;
  }
}

function isJsonObject(value: object, depth: number): boolean {
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isJson(value[i], depth)) return false;
    return getPrototypeOf(value) === arrays;
  }
  if (getPrototypeOf(value) !== objects) return false;
  const names = keys(value);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    if (name === TAG || !isJson((value as Record<string, unknown>)[name], depth)) return false;
  }
  return true;
}

function encoded(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) && !is(value, -0) ? value : tagged('number', nameOf(value));
    case 'bigint':
      return tagged('bigint', String(value));
    case 'undefined':
      return tagged('undefined', null);
    case 'object':
      return value === null ? null : encodedObject(value, depth + 1);
    default:
      throw new TypeError(`a ${typeof value} is not plain data`);
  }
}

function nameOf(value: number): string {
  return is(value, -0) ? '-0' : String(value);
}

function encodedObject(value: object, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new TypeError('the data contain themselves, or are nested too deep');
  const each = (list: Iterable<unknown>): unknown[] =>
    Array.from(list, (item) => encoded(item, depth));
  if (isArray(value)) return each(value);
  if (value instanceof Map) return tagged('map', each(value));
  if (value instanceof Set) return tagged('set', each(value));
  if (value instanceof DateValue) return tagged('date', encoded(value.getTime(), depth));
  for (const name of keys(ARRAYS) as ArrayName[]) {
    if (value instanceof ARRAYS[name]) return tagged(name, each(value));
  }
  const copy = {};
  for (const key of keys(value)) {
    put(copy, key, encoded((value as Record<string, unknown>)[key], depth));
  }
  return TAG in copy ? tagged('object', copy) : copy;
}

function tagged(kind: string, content: unknown): object {
  return { [TAG]: [kind, content] };
}

/** Defines a field even if its name is `__proto__`. */
function put(target: object, key: string, value: unknown): void {
  defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function decoded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isArray(value)) return value.map(decoded);
  const tag = (value as { [TAG]?: readonly [string, unknown] })[TAG];
  return tag === undefined ? decodedFields(value) : decodedTag(tag[0], tag[1]);
}

function decodedFields(value: object): object {
  const copy = {};
  for (const key of keys(value)) put(copy, key, decoded((value as Record<string, unknown>)[key]));
  return copy;
}

function decodedTag(kind: string, content: unknown): unknown {
  switch (kind) {
    case 'number':
      return Number(content);
    case 'bigint':
      return BigInt(content as string);
    case 'undefined':
      return undefined;
    case 'map':
      return new Map(decoded(content) as [unknown, unknown][]);
    case 'set':
      return new Set(decoded(content) as unknown[]);
    case 'date':
      return new DateValue(decoded(content) as number);
    case 'object':
      return decodedFields(content as object);
    default:
      return ARRAYS[kind as ArrayName].from(decoded(content) as number[]);
  }
}
