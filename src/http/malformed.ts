/**
 * Replies to what never becomes a request: malformed HTTP, oversized headers, timeouts, `CONNECT`.
 * Then the connection is closed.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { MESSAGES, type ErrorReply } from '../contract/messages.ts';
import type { Admission } from './admission.ts';
import { afterAnswers, awaitsAnswers } from './connections.ts';
import { callerOfAddress } from './rate-limit.ts';
import { refuseLater } from './refuse.ts';

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
    if (!awaitsAnswers(socket)) refuseNext(admission, socket, REPLIES[code]);
  };
}

/** Node ends the connection of a `CONNECT`, and earlier requests on it would get no answer. */
export function answerConnect(server: Server, admission: Admission | null): void {
  server.on('connect', ({ socket }) => {
    // The server does not handle errors of a connection that it has given away.
    socket.on('error', () => {
      socket.destroy();
    });
    refuseNext(admission, socket, MESSAGES.routeNotFound);
  });
}

function refuseNext(
  admission: Admission | null,
  socket: Socket,
  reply: ErrorReply = MESSAGES.malformedRequest,
): void {
  const { remoteAddress = '' } = socket;
  const delayMs = admission?.refusalOf(callerOfAddress(remoteAddress)) ?? 0;
  afterAnswers(socket, () => {
    if (!socket.writable) socket.destroy();
    else refuseLater(socket, reply, delayMs);
  });
}
