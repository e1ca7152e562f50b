/**
 * Replies to connections that never become a request: malformed HTTP, oversized headers, timeouts,
 * too many connections, unsupported upgrades. Then the connection is closed.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { MESSAGES, type ErrorReply } from '../contract/messages.ts';
import type { Admission } from './admission.ts';
import { afterAnswers, awaitsAnswers } from './connections.ts';
import { callerOfAddress } from './rate-limit.ts';

/** Parser errors with their own reply; any other is malformed HTTP. */
const REPLIES: Readonly<Record<string, ErrorReply>> = {
  HPE_HEADER_OVERFLOW: MESSAGES.headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: MESSAGES.bodyTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: MESSAGES.requestTimedOut,
};

/**
 * Handler of the server's `clientError`; a refusal counts as a request of the address. It comes
 * after the answers of earlier requests of the connection.
 */
export function answerMalformed(
  admission: Admission | null,
): (error: Error & { readonly code?: string }, socket: Socket) => void {
  return ({ code = '' }, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // The rest of what it sent is malformed too.
    if (awaitsAnswers(socket)) return;
    const { remoteAddress = '' } = socket;
    const delayMs = admission?.refusalOf(callerOfAddress(remoteAddress)) ?? 0;
    afterAnswers(socket, () => {
      if (!socket.writable) socket.destroy();
      else refuseLater(socket, REPLIES[code] ?? MESSAGES.malformedRequest, delayMs);
    });
  };
}

/** Keeps a connection that is not read any more, so that its client cannot repeat at once. */
export function refuseLater(stream: Duplex, reply: ErrorReply, delayMs: number): void {
  if (delayMs === 0) {
    refuse(stream, reply);
    return;
  }
  stream.pause();
  stream.on('error', () => {
    stream.destroy();
  });
  setTimeout(() => {
    refuse(stream, reply);
  }, delayMs);
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
