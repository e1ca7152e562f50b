/**
 * Runs a decoder of framed data over a stream. The decoder is a generator: it yields the number of
 * bytes that it needs next, or decompressed data.
 */

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
