/** Base64 of gzip, as journals are in a page. */

export async function unpack(pieces: readonly string[]): Promise<Uint8Array> {
  const packed = new Blob(pieces.map((piece) => bytesOf(piece)));
  return whole(packed.stream().pipeThrough(new DecompressionStream('gzip')));
}

export async function pack(bytes: Uint8Array): Promise<string> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  const packed = await whole(stream.pipeThrough(new CompressionStream('gzip')));
  const parts: string[] = [];
  for (let at = 0; at < packed.length; at += STEP) {
    parts.push(btoa(String.fromCharCode(...packed.subarray(at, at + STEP))));
  }
  return parts.join('');
}

/** A multiple of three, so that only the last part has padding. */
const STEP = 3 * 4096;

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function whole(stream: ReadableStream<BufferSource>): Promise<Uint8Array> {
  return new Uint8Array(
    await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
  );
}
