/** How many connections may be open at once, feeds among them: one more is answered 503 and closed, so that memory has a bound. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { MESSAGES } from '../contract/messages.ts';
import { refuse } from './malformed.ts';

export class ConnectionLimit {
  open = 0;

  constructor(server: Server, most: number) {
    // Before the server's own listener, which would begin to read.
    server.prependListener('connection', (socket: Socket) => {
      this.open += 1;
      socket.once('close', () => {
        this.open -= 1;
      });
      if (this.open > most) refuse(socket, MESSAGES.tooManyConnections);
    });
  }
}
