/** The messages that a server had sent before now, on a connection slower than others. */
import type { WebSocket } from 'ws';
import { FeedError } from './feed.ts';

/** Resolves once they have arrived: the answer to a ping comes behind them. */
export async function allReceived(
  socket: Pick<WebSocket, 'once' | 'off' | 'ping'>,
  waitMs: number,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const lost = (): void => {
      clearTimeout(late);
      socket.off('pong', arrived);
      socket.off('close', lost);
      reject(new FeedError('connection lost'));
    };
    const arrived = (): void => {
      clearTimeout(late);
      socket.off('close', lost);
      resolve();
    };
    const late = setTimeout(lost, waitMs);
    socket.once('pong', arrived);
    socket.once('close', lost);
    socket.ping();
  });
}
