/** Limits open connections, feeds included; one beyond the limit gets 503 and is closed. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { MESSAGES } from '../contract/messages.ts';
import { refuse } from './malformed.ts';

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
