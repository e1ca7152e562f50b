/**
 * The bytes of a journal, wherever they are: in memory, in a file, or in a `File` of a browser that
 * a worker reads synchronously. Ranges are read on demand, so a journal may exceed memory.
 */
export interface JournalBytes {
  readonly size: number;
  /** The bytes from `from` up to `to`, both within `size`. */
  read(from: number, to: number): Uint8Array;
}

export function bytesInMemory(bytes: Uint8Array): JournalBytes {
  return { size: bytes.length, read: (from, to) => bytes.subarray(from, to) };
}
