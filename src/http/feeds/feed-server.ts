/** `/ws`: connections, their pings, and their end. */
import type { Server as HttpServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { Connection, type ConnectionServices } from './connection.ts';
import { Publisher } from './publisher.ts';

const PATH = '/ws';
const MAX_MESSAGE_BYTES = 1 << 20;
const MAX_CONNECTIONS = 10_000;
const PING_EVERY_MS = 30_000;
const CLOSE_GOING_AWAY = 1001;

export class FeedServer {
  private readonly publisher: Publisher;
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  private readonly alive = new WeakSet<WebSocket>();
  private readonly pings: NodeJS.Timeout;

  constructor(server: HttpServer, services: Omit<ConnectionServices, 'publisher'>) {
    this.publisher = new Publisher(services.host);
    server.on('upgrade', (request, stream: Duplex, head: Buffer) => {
      const { pathname } = new URL(request.url ?? '/', 'http://host');
      if (pathname !== PATH || this.sockets.clients.size >= MAX_CONNECTIONS) {
        const status = pathname === PATH ? '503 Service Unavailable' : '404 Not Found';
        stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
        return;
      }
      this.sockets.handleUpgrade(request, stream, head, (socket) => {
        this.alive.add(socket);
        socket.on('pong', () => {
          this.alive.add(socket);
        });
        const address = request.socket.remoteAddress ?? 'unknown';
        new Connection(socket, { ...services, publisher: this.publisher }, address);
      });
    });
    this.pings = setInterval(() => {
      for (const socket of this.sockets.clients) {
        if (!this.alive.delete(socket)) socket.terminate();
        else socket.ping();
      }
    }, PING_EVERY_MS);
    this.pings.unref();
  }

  get connections(): number {
    return this.sockets.clients.size;
  }

  close(): void {
    clearInterval(this.pings);
    this.publisher.close();
    for (const socket of this.sockets.clients) socket.close(CLOSE_GOING_AWAY, 'Shutting down');
    this.sockets.close();
  }
}
