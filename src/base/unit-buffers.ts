/**
 * Buffers for the UTF-16 units of a text of up to 64 characters, one for each length. Filled and
 * passed to `String.fromCharCode(...units)`, they make the text at once: a string that grows by
 * characters becomes a tree of parts. An array is spread ten times as fast as a part of a typed
 * array.
 */
export const UNIT_BUFFERS: readonly number[][] = Array.from({ length: 65 }, (_, length) => {
  return Array.from({ length }, () => 0);
});
