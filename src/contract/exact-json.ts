/** JSON with exact integers: bigints beyond 2^53, the native parser otherwise. */
import { parse, stringify } from 'lossless-json';

/** Max nesting depth of a request. */
const MAX_DEPTH = 16;
/** Integers with fewer digits are exact as numbers. */
const LONG_DIGITS = 16;
const INTEGER = /^-?\d+$/;

/** Throws `SyntaxError` with a readable message. */
export function parseExact(text: string): unknown {
  if (isExactAsNumbers(text)) return JSON.parse(text) as unknown;
  return parse(text, undefined, (digits) => {
    const number = Number(digits);
    return Number.isSafeInteger(number) || !INTEGER.test(digits) ? number : BigInt(digits);
  });
}

/** True if all integers outside strings fit a number. Checks nesting before a parser recurses. */
function isExactAsNumbers(text: string): boolean {
  let depth = 0;
  let digits = 0;
  let exact = true;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char >= 0x30 && char <= 0x39) {
      digits += 1;
      continue;
    }
    if (digits >= LONG_DIGITS) exact &&= Number.isSafeInteger(Number(text.slice(i - digits, i)));
    digits = 0;
    if (char === 0x22) i = endOfString(text, i + 1);
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) {
        throw new SyntaxError(`nested deeper than ${String(MAX_DEPTH)} levels`);
      }
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return exact && digits < LONG_DIGITS;
}

/** Index of the closing quote of a string; the end of the text if there is none. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

export function stringifyExact(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // The value contains a bigint.
    return stringify(value) ?? 'null';
  }
}
