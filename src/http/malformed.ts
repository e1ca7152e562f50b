/**
 * Answers to what never becomes a request: malformed HTTP, headers that are too long, requests that take too long, connections beyond the
 * limit, upgrades to anything but the feeds. In the words and the form of every other error, then the connection is closed.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { MESSAGES, type ErrorReply } from '../contract/messages.ts';

/** The parser's faults that are not plainly malformed HTTP. */
const REPLIES: Readonly<Record<string, ErrorReply>> = {
  HPE_HEADER_OVERFLOW: MESSAGES.headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: MESSAGES.bodyTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: MESSAGES.requestTimedOut,
};

/** For the server's `clientError`. */
export function answerMalformed(error: Error & { readonly code?: string }, stream: Duplex): void {
  const { code = '' } = error;
  if (code === 'ECONNRESET' || !stream.writable) stream.destroy();
  else refuse(stream, REPLIES[code] ?? MESSAGES.malformedRequest);
}

/** Answers on a bare connection and closes it. */
export function refuse(stream: Duplex, { status, message }: ErrorReply): void {
  const body = JSON.stringify(message);
  // The other end may be gone, which is no error of ours.
  stream.on('error', () => {
    stream.destroy();
  });
  stream.end(
    [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
      'content-type: text/plain; charset=utf-8',
      `content-length: ${String(Buffer.byteLength(body))}`,
      ...(status === 503 ? ['retry-after: 1'] : []),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
    () => {
      stream.destroy();
    },
  );
}
