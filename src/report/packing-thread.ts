/**
 * Thread of `packed-journal.ts`: compresses the pieces that it receives. After the last one, which
 * is followed by null, it sends all of it as base64.
 */
import { parentPort } from 'node:worker_threads';
import { createGzip } from 'node:zlib';
import { GZIP_LEVEL } from './gzip-level.ts';

/** A stream of zlib waits for a turn of the event loop after so many bytes. */
const CHUNK_BYTES = 1 << 20;

const port = parentPort;
if (port === null) throw new Error('this file is run as a thread');
const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: CHUNK_BYTES });
const pieces: Uint8Array[] = [];

gzip.on('data', (piece: Uint8Array) => {
  pieces.push(piece);
});
gzip.on('end', () => {
  port.postMessage(Buffer.concat(pieces).toString('base64'));
});
port.on('message', (piece: Uint8Array | null) => {
  if (piece === null) gzip.end();
  else gzip.write(piece);
});
