/**
 * JSON with exact integers: bigints beyond 2^53, the native parser otherwise. Numbers of
 * requests are read from their text: `1e3` is 1000, and `1e-400` is no integer.
 */
import { parse, stringify } from 'lossless-json';
import { JsonScan, type JsonLimits } from './json-scan.ts';

/** Limits of text from a server, which a client trusts. */
const TRUSTED: JsonLimits = { bytes: Infinity, digits: Infinity, items: Infinity, depth: 16 };
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Digits of the largest integer that is read from an exponent; larger ones are infinite. */
const MAX_DIGITS = 64;

/** Throws `SyntaxError` with a readable message. */
export function parseExact(text: string, limits: JsonLimits = TRUSTED): unknown {
  const scan = new JsonScan(limits);
  scan.push(text);
  return parseScanned(text, scan);
}

/** A request: within the limits, and no key is given twice. Throws `SyntaxError`. */
export function parseRequest(text: string, limits: JsonLimits): unknown {
  const scan = new JsonScan(limits);
  scan.push(text);
  return parseScannedRequest(text, scan);
}

/** `scan` has the whole text. */
export function parseScannedRequest(text: string, scan: JsonScan): unknown {
  const value = parseScanned(text, scan);
  // A repeated key leaves fewer keys than colons.
  if (countKeys(value) !== scan.keys) {
    throw new SyntaxError(`key ${JSON.stringify(repeatedKey(text))} is given twice`);
  }
  return value;
}

function parseScanned(text: string, scan: JsonScan): unknown {
  if (scan.isExact) return JSON.parse(text) as unknown;
  return parse(text, undefined, { parseNumber: exactNumber, onDuplicateKey: lastValue });
}

/** As the native parser does. */
function lastValue({ newValue }: { readonly newValue: unknown }): unknown {
  return newValue;
}

/**
 * The number of a JSON literal: an integer exactly, a fraction as the nearest number. NaN if that
 * number would be an integer, infinite if the integer has too many digits.
 */
function exactNumber(text: string): number | bigint {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0;
  const significant = digits.replace(/0+$/, '');
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length;
  if (zeros < 0) {
    const number = Number(text);
    return Number.isInteger(number) ? NaN : number;
  }
  if (significant.length + zeros > MAX_DIGITS) return sign === '' ? Infinity : -Infinity;
  const integer = BigInt(sign + significant + '0'.repeat(zeros));
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : integer;
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  const keys = Object.keys(value);
  for (const key of keys) count += countKeys((value as Record<string, unknown>)[key]);
  return count + keys.length;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}:]/g;

/** The first key that an object of this valid text has twice. */
function repeatedKey(text: string): string {
  const open: Set<string>[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (token === ':') {
      const key = JSON.parse(last) as string;
      if (open.at(-1)?.has(key) === true) return key;
      open.at(-1)?.add(key);
    } else last = token;
  }
  return '';
}

export function stringifyExact(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // The value contains a bigint.
    return stringify(value) ?? 'null';
  }
}
