import type { WebSocket } from 'ws';

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
