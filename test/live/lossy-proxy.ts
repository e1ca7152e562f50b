/** A proxy whose connections can be lost, and which can hide a path of the server. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PAGE_HEADERS } from '../../src/contract/endpoints.ts';

const OWN_HEADERS = ['host', 'connection', 'content-length'];

export class LossyProxy {
  /** Paths with this beginning are answered 404. */
  hidden: string | null = null;
  /** Awaited before a feed is connected. */
  beforeUpgrade: () => Promise<void> = () => Promise.resolve();
  private target: string;
  private isDown = false;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(target: string) {
    this.target = target;
    this.server = createServer((request, response) => {
      if (this.hidden !== null && request.url!.startsWith(this.hidden)) {
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end('"No such endpoint"');
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = Object.entries(request.headers).flatMap(
          ([name, value]): [string, string][] =>
            typeof value === 'string' && !OWN_HEADERS.includes(name) ? [[name, value]] : [],
        );
        const body = chunks.length === 0 ? null : Buffer.concat(chunks);
        fetch(this.target + request.url!, { method: request.method!, headers, body }).then(
          async (answer) => {
            response.statusCode = answer.status;
            response.setHeader('content-type', answer.headers.get('content-type') ?? 'text/plain');
            for (const name of [PAGE_HEADERS.next, PAGE_HEADERS.keptSince]) {
              const value = answer.headers.get(name);
              if (value !== null) response.setHeader(name, value);
            }
            response.end(await answer.text());
          },
          () => request.socket.destroy(),
        );
      });
    });
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      if (this.isDown) socket.destroy();
    });
    this.server.on('upgrade', (request, socket, head) => {
      void this.beforeUpgrade().then(() => this.upgrade(request, socket, head));
    });
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { hostname, port } = new URL(this.target);
    const upstream = connect(Number(port), hostname, () => {
      const headers = request.rawHeaders.reduce(
        (text, part, i) => text + part + (i % 2 === 0 ? ': ' : '\r\n'),
        '',
      );
      upstream.write(`GET ${request.url!} HTTP/1.1\r\n${headers}\r\n`);
      upstream.write(head);
      socket.pipe(upstream).pipe(socket);
    });
    for (const end of [socket, upstream]) {
      for (const event of ['error', 'close'] as const) {
        end.on(event, () => {
          socket.destroy();
          upstream.destroy();
        });
      }
    }
  }

  static async start(target: string): Promise<LossyProxy> {
    const proxy = new LossyProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Closes every connection, and refuses new ones. */
  lose(): void {
    this.isDown = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** `target`: of another server from now on. */
  restore(target = this.target): void {
    this.target = target;
    this.isDown = false;
  }

  stop(): Promise<unknown> {
    this.lose();
    return new Promise((resolve) => this.server.close(resolve));
  }
}
