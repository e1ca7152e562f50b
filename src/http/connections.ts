/** Limits of connections: how many are open, feeds included, and requests ahead of one's answers. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MESSAGES } from '../contract/messages.ts';
import { refuse } from './malformed.ts';

/** Requests of one connection that may wait for answers (pipelining). */
const MAX_PIPELINED = 100;

/** One beyond the limit gets 503 and is closed. */
export class ConnectionLimit {
  open = 0;

  constructor(server: Server, max: number) {
    // Runs before the server's own listener, which starts reading.
    server.prependListener('connection', (socket: Socket) => {
      this.open += 1;
      socket.once('close', () => {
        this.open -= 1;
      });
      if (this.open > max) refuse(socket, MESSAGES.tooManyConnections);
    });
  }
}

/** The parser of a connection: undocumented, and absent in other runtimes. */
interface ParsedSocket extends Socket {
  parser?: { onIncoming?: (() => number) | null } | null;
}
/** Result of `onIncoming` that ends parsing, as after an upgrade. */
const STOP_PARSING = 2;

/**
 * Closes a connection with more requests ahead of their answers. One read of 64 KiB may contain two
 * thousand requests, which the server would all start before it returns to other connections.
 */
export function limitPipelining(server: Server): void {
  const ahead = new WeakMap<Socket, number>();
  const listeners = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket = request.socket as ParsedSocket;
    const count = (ahead.get(socket) ?? 0) + 1;
    ahead.set(socket, count);
    if (count > MAX_PIPELINED) {
      if (socket.parser) socket.parser.onIncoming = () => STOP_PARSING;
      socket.destroy();
      return;
    }
    response.once('close', () => {
      ahead.set(socket, (ahead.get(socket) ?? 1) - 1);
    });
    for (const listener of listeners) listener.call(server, request, response);
  });
}
