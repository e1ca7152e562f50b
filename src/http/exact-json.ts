/**
 * JSON whose integers are exact: beyond 2^53 they are bigints, on the way in and on the way out. Bodies that hold no long number take
 * the runtime's own parser.
 */
import { parse, stringify } from 'lossless-json';

/** Deeper than this is no request. */
const MAX_DEPTH = 16;
/** What may be a long integer: outside of a string it is, inside it only costs time. */
const LONG_INTEGER = /(?<=[:,[\s])-?\d{16,}/g;
const INTEGER = /^-?\d+$/;

/** Throws `SyntaxError` in words. */
export function parseExact(text: string): unknown {
  checkDepth(text);
  if (isExactAsNumbers(text)) return JSON.parse(text) as unknown;
  return parse(text, undefined, (digits) => {
    const number = Number(digits);
    return Number.isSafeInteger(number) || !INTEGER.test(digits) ? number : BigInt(digits);
  });
}

function isExactAsNumbers(text: string): boolean {
  for (const [digits] of text.matchAll(LONG_INTEGER)) {
    if (!Number.isSafeInteger(Number(digits))) return false;
  }
  return true;
}

/** Nesting outside of strings, before any parser goes down it. */
function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) {
        throw new SyntaxError(`nested deeper than ${String(MAX_DEPTH)} levels`);
      }
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
}

export function stringifyExact(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // A bigint is among it.
    return stringify(value) ?? 'null';
  }
}
