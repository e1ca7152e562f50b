import type { WebSocket } from 'ws';

/** Of RFC 6455: the message is too large. */
export const CLOSE_TOO_LARGE = 1009;

/**
 * Sends a close frame behind the unsent messages, and ends the connection if the client has not
 * completed the close after `ms`.
 */
export function closeWithin(socket: WebSocket, ms: number, code: number, reason: string): void {
  const last = setTimeout(() => {
    socket.terminate();
  }, ms);
  socket.once('close', () => {
    clearTimeout(last);
  });
  socket.close(code, reason);
}
