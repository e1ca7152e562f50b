/**
 * Lines of a byte stream without line ends. A line over the limit throws, which bounds the buffer.
 */
import { TapeError } from './record.ts';

const MAX_LINE = 16 * 1024 * 1024;

/** `decode` turns the bytes of one line into text (UTF-8). */
export async function* lines(
  source: AsyncIterable<Uint8Array>,
  decode: (bytes: Uint8Array) => string,
): AsyncGenerator<string> {
  let rest: Uint8Array = new Uint8Array(0);
  let number = 1;
  for await (const chunk of source) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(10, start);
      if (end < 0) break;
      const line = chunk.subarray(start, end);
      yield decode(rest.length === 0 ? line : joined(rest, line));
      rest = new Uint8Array(0);
      start = end + 1;
      number += 1;
    }
    if (start < chunk.length) rest = joined(rest, chunk.subarray(start));
    if (rest.length > MAX_LINE) {
      throw new TapeError(`line ${String(number)}: longer than ${String(MAX_LINE)} bytes`);
    }
  }
  if (rest.length > 0) yield decode(rest);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
