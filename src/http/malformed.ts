/**
 * Replies to what never becomes a request: malformed HTTP, oversized headers, timeouts, `CONNECT`.
 * Then the connection is closed.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { MESSAGES, type ErrorReply } from '../contract/messages.ts';
import type { Admission } from './admission.ts';
import { afterAnswers, awaitsAnswers } from './connections.ts';
import { callerOfAddress } from './rate-limit.ts';
import { refuseLater, type RefusalHeaders } from './refuse.ts';

/** Characters of a host and a port. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/**
 * True with the `Host` that RFC 9112 asks for: exactly one in HTTP/1.1, and never two. A proxy may
 * route by another of two than this server, so neither is chosen.
 */
export function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count === 0) return httpVersion !== '1.1';
  return count === 1 && HOST.test(headers.host ?? '');
}

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
  headers: RefusalHeaders,
): (error: Error & { readonly code?: string }, socket: Socket) => void {
  return ({ code = '' }, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // The rest of what it sent is malformed too.
    if (!awaitsAnswers(socket)) refuseNext(admission, socket, { reply: REPLIES[code], headers });
  };
}

/** Node ends the connection of a `CONNECT`, and earlier requests on it would get no answer. */
export function answerConnect(server: Server, admission: Admission | null): void {
  server.on('connect', ({ socket }) => {
    // The server does not handle errors of a connection that it has given away.
    socket.on('error', () => {
      socket.destroy();
    });
    refuseNext(admission, socket, { reply: MESSAGES.routeNotFound });
  });
}

interface Refusal {
  readonly reply?: ErrorReply | undefined;
  readonly headers?: RefusalHeaders;
}

function refuseNext(
  admission: Admission | null,
  socket: Socket,
  { reply = MESSAGES.malformedRequest, headers }: Refusal,
): void {
  const { remoteAddress = '' } = socket;
  const delayMs = admission?.refusalOf(callerOfAddress(remoteAddress)) ?? 0;
  afterAnswers(socket, () => {
    if (!socket.writable) socket.destroy();
    else refuseLater(socket, reply, delayMs, headers);
  });
}
