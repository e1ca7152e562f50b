/** A TCP proxy to a server on loopback that can be cut: bytes stop, connections stay open. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Proxy {
  readonly port: number;
  private readonly server: Server;
  private readonly sockets: Set<Socket>;
  private isCut = false;

  private constructor(server: Server, sockets: Set<Socket>) {
    this.server = server;
    this.sockets = sockets;
    this.port = (server.address() as AddressInfo).port;
  }

  static start(target: number): Promise<Proxy> {
    const sockets = new Set<Socket>();
    let proxy: Proxy | null = null;
    const server = createServer((client) => {
      const upstream = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(from);
        if (proxy?.isCut === true) from.pause();
        from.on('data', (chunk: Buffer) => to.write(chunk));
        from.on('error', () => to.destroy());
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      }
    });
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        proxy = new Proxy(server, sockets);
        resolve(proxy);
      });
    });
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  heal(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Closes the connections; new ones are accepted. */
  drop(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  stop(): void {
    this.drop();
    this.server.close();
  }
}
