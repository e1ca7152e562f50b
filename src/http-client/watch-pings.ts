/** Silence of a server, which pings every 30 seconds. */
import type { WebSocket } from 'ws';

const SILENCE_MS = 75_000;

/**
 * Terminates a silent connection. After a long turn of the event loop, timers come before the reads
 * of what has arrived meanwhile, so a connection counts as silent only behind the reads.
 */
export function watchPings(
  socket: Pick<WebSocket, 'on' | 'once' | 'terminate'>,
  silenceMs = SILENCE_MS,
): void {
  let isSilent = false;
  const lost = setTimeout(() => {
    isSilent = true;
    setImmediate(() => {
      if (isSilent) socket.terminate();
    });
  }, silenceMs);
  const alive = (): void => {
    isSilent = false;
    lost.refresh();
  };
  socket.on('ping', alive);
  socket.on('message', alive);
  socket.once('close', () => {
    clearTimeout(lost);
  });
  lost.unref();
}
