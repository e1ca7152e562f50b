/**
 * Runs a decoder of framed data over a stream, or over bytes in memory. The decoder is a generator:
 * it yields the number of bytes that it needs next, or decompressed data.
 */
import { TapeError } from '../tape/record.ts';

/** A chunk of decompressed data. */
export type Block = Uint8Array;
/** Number of bytes requested; fewer are returned only at the end of the data. */
export type Want = number;
export type FrameSteps = Generator<Block | Want, void, Uint8Array>;

/** Decompressed data of a stream. */
export async function* plainData(
  source: AsyncIterable<Uint8Array>,
  steps: FrameSteps,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  let step = steps.next();
  const advance = function* (ended: boolean): Generator<Uint8Array> {
    while (step.done !== true) {
      const { value } = step;
      if (typeof value !== 'number') {
        yield value;
        step = steps.next();
        continue;
      }
      if (bytes < value && !ended) return;
      const [first = new Uint8Array(0)] = held;
      const all = held.length > 1 && first.length < value ? Buffer.concat(held) : first;
      if (all !== first) held = [all];
      const taken = all.subarray(0, value);
      if (taken.length === all.length) held.shift();
      else held[0] = all.subarray(taken.length);
      bytes -= taken.length;
      step = steps.next(taken);
    }
  };
  for await (const chunk of source) {
    if (chunk.length > 0) held.push(chunk);
    bytes += chunk.length;
    yield* advance(false);
  }
  yield* advance(true);
}

/** Decompressed data of bytes in memory. Throws `TapeError` if they are more than `most` bytes. */
export function wholeData(bytes: Uint8Array, steps: FrameSteps, most: number): Uint8Array {
  const blocks: Block[] = [];
  let at = 0;
  let size = 0;
  let step = steps.next();
  while (step.done !== true) {
    if (typeof step.value === 'number') {
      const taken = bytes.subarray(at, at + step.value);
      at += taken.length;
      step = steps.next(taken);
    } else {
      size += step.value.length;
      if (size > most) {
        throw new TapeError(`compressed data have more than the ${String(most)} bytes allowed`);
      }
      blocks.push(step.value);
      step = steps.next();
    }
  }
  return blocks.length === 1 && blocks[0] !== undefined ? blocks[0] : Buffer.concat(blocks);
}
