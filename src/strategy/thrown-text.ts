/**
 * Text of a thrown value, which may be of another realm and hostile. Of an object without the
 * `message` and `stack` of an error only own data properties are read: no `toJSON` runs.
 */

/** Levels of objects and of causes that are shown. */
const MAX_DEPTH = 3;
const MAX_FIELDS = 10;
const MAX_TEXT = 300;

/** Name, message with its causes, and stack of what was thrown. The name is null for no error. */
export interface ThrownParts {
  readonly name: string | null;
  readonly message: string;
  readonly stack: string;
}

export function partsOf(thrown: unknown): ThrownParts {
  try {
    if (isErrorLike(thrown)) {
      const { name, stack } = thrown;
      return {
        name: typeof name === 'string' ? name : 'Error',
        message: messageOf(thrown, 0),
        stack: typeof stack === 'string' ? stack : '',
      };
    }
    const message = `it threw ${cut(valueText(thrown, 0))}, which is not an Error`;
    return { name: null, message, stack: '' };
  } catch {
    return { name: null, message: 'it threw a value whose fields cannot be read', stack: '' };
  }
}

interface ErrorLike {
  readonly name?: unknown;
  readonly message: string;
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** An error of any realm. A plain object with a message has no stack. */
function isErrorLike(value: unknown): value is ErrorLike {
  if (typeof value !== 'object' || value === null) return false;
  const { message, stack } = value as Partial<ErrorLike>;
  return typeof message === 'string' && typeof stack === 'string';
}

/** `no route (cause: TypeError: no host)`. A cause that the message repeats is left out. */
function messageOf({ message, cause, errors }: ErrorLike, depth: number): string {
  if (depth >= MAX_DEPTH) return message;
  const parts: string[] = [];
  if (Array.isArray(errors) && errors.length > 0) {
    const texts = errors.slice(0, MAX_FIELDS).map((error) => describe(error, depth + 1));
    parts.push(`errors: ${texts.join('; ')}${errors.length > texts.length ? '; …' : ''}`);
  }
  if (cause !== undefined) {
    const repeated = isErrorLike(cause) && cause.message !== '' && message.includes(cause.message);
    if (!repeated) parts.push(`cause: ${describe(cause, depth + 1)}`);
  }
  if (parts.length === 0) return message;
  const added = `(${parts.join('; ')})`;
  return message === '' ? added : `${message} ${added}`;
}

function describe(value: unknown, depth: number): string {
  if (!isErrorLike(value)) return cut(valueText(value, depth));
  const { name } = value;
  const message = messageOf(value, depth);
  return typeof name === 'string' && name !== 'Error' ? `${name}: ${message}` : message;
}

/** As a literal: `{ code: 1 }`, `"text"`, `null`. */
function valueText(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
      return `${String(value)}n`;
    case 'function':
      return 'a function';
    case 'object':
      return value === null ? 'null' : objectText(value, depth);
    case 'undefined':
    case 'number':
    case 'boolean':
    case 'symbol':
      return String(value);
  }
}

function objectText(value: object, depth: number): string {
  if (depth > 0 && isErrorLike(value)) return describe(value, depth);
  const isList = Array.isArray(value);
  const kind = isList ? '' : className(value);
  if (depth >= MAX_DEPTH) return isList ? '[…]' : `${kind}{…}`;
  const keys = Object.keys(value);
  const fields = keys.slice(0, MAX_FIELDS).map((key) => {
    const found = Object.getOwnPropertyDescriptor(value, key);
    const text = found !== undefined && 'value' in found ? valueText(found.value, depth + 1) : '…';
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
    return isList ? text : `${name}: ${text}`;
  });
  if (keys.length > fields.length) fields.push('…');
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (fields.length === 0) return `${kind}${open}${close}`;
  return isList ? `[${fields.join(', ')}]` : `${kind}{ ${fields.join(', ')} }`;
}

/** `Map ` for an object of a class; empty for a plain object. */
function className(value: object): string {
  const own = (of: object, key: string): unknown => Object.getOwnPropertyDescriptor(of, key)?.value;
  const prototype = Object.getPrototypeOf(value) as object | null;
  const maker = prototype === null ? undefined : own(prototype, 'constructor');
  const name = typeof maker === 'function' ? own(maker, 'name') : undefined;
  return typeof name === 'string' && name !== 'Object' && name !== '' ? `${name} ` : '';
}

const cut = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
