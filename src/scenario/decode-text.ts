/** The text of a scenario file, which is UTF-8. */
import type { Problem } from './source-node.ts';

const FATAL = new TextDecoder('utf-8', { fatal: true });
const LOSSY = new TextDecoder('utf-8', { ignoreBOM: true });
const NEW_LINE = 0x0a;

/** The text, or the place of the first byte that is not UTF-8. */
export function decodeText(bytes: Uint8Array): string | Problem {
  try {
    return FATAL.decode(bytes);
  } catch {
    const valid = bytes.subarray(0, firstWrong(bytes));
    const lineStart = valid.lastIndexOf(NEW_LINE) + 1;
    const line = valid.filter((byte) => byte === NEW_LINE).length + 1;
    const column = LOSSY.decode(valid.subarray(lineStart)).length + 1;
    return { place: { line, column }, path: '', message: 'is not UTF-8 text' };
  }
}

/** Index of the first byte that does not survive. */
function firstWrong(bytes: Uint8Array): number {
  const kept = new TextEncoder().encode(LOSSY.decode(bytes));
  return bytes.findIndex((byte, i) => byte !== kept[i]);
}
