/**
 * Replies to connections that never become a request: malformed HTTP, oversized headers, timeouts,
 * too many connections, unsupported upgrades. Then the connection is closed.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { MESSAGES, type ErrorReply } from '../contract/messages.ts';

/** Parser errors with their own reply; any other is malformed HTTP. */
const REPLIES: Readonly<Record<string, ErrorReply>> = {
  HPE_HEADER_OVERFLOW: MESSAGES.headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: MESSAGES.bodyTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: MESSAGES.requestTimedOut,
};

/** Handler of the server's `clientError`. */
export function answerMalformed(error: Error & { readonly code?: string }, stream: Duplex): void {
  const { code = '' } = error;
  if (code === 'ECONNRESET' || !stream.writable) stream.destroy();
  else refuse(stream, REPLIES[code] ?? MESSAGES.malformedRequest);
}

/** Replies on a raw connection and closes it. */
export function refuse(stream: Duplex, { status, message }: ErrorReply): void {
  const body = JSON.stringify(message);
  // The client may have disconnected; ignored.
  stream.on('error', () => {
    stream.destroy();
  });
  stream.end(
    [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
      'content-type: text/plain; charset=utf-8',
      `content-length: ${String(Buffer.byteLength(body))}`,
      ...(status === 503 || status === 429 ? ['retry-after: 1'] : []),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
    () => {
      stream.destroy();
    },
  );
}
