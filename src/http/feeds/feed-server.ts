/** `/ws`: accepts connections, pings them and closes them. */
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { MESSAGES } from '../../contract/messages.ts';
import { REPLICA_HEADERS } from '../../contract/replica-headers.ts';
import { BATCH_BODY } from '../../contract/body-limits.ts';
import { afterAnswers } from '../connections.ts';
import { hasValidHost } from '../malformed.ts';
import { refuse, refuseLater } from '../refuse.ts';
import { callerOfAddress } from '../rate-limit.ts';
import { Connection, SLOW_BYTES, type ConnectionServices } from './connection.ts';
import { FrameTurns } from './frame-turns.ts';
import { Publisher } from './publisher.ts';

const PATH = '/ws';
/** Frames of one message. */
export const MAX_FRAGMENTS = 64;
const PING_EVERY_MS = 30_000;
/** Pings without a sign of life at which a client is gone: a busy one may miss the first. */
const MAX_UNANSWERED = 2;
const BACKLOG_EVERY_MS = 1000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_WAIT_MS = 2000;

/** A close frame has at most 123 bytes of reason. */
const shortened = (reason: string): string =>
  reason.length <= 123 ? reason : `${reason.slice(0, 120)}...`;

export interface FeedServices extends Omit<ConnectionServices, 'publisher'> {
  /** Client address, resolved behind trusted proxies. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Max unsent bytes of all clients together. */
  readonly backlogBytes: number;
}

type FeedConnections = ConnectionServices & Pick<FeedServices, 'addressOf'>;

export interface FeedLoad {
  readonly connections: number;
  /** Clients with so much unsent that they lose book deltas. */
  readonly slowReaders: number;
  /** Unsent bytes of all clients. */
  readonly backlogBytes: number;
}

export class FeedServer {
  private readonly publisher: Publisher;
  private readonly sockets = new WebSocketServer({
    noServer: true,
    maxPayload: BATCH_BODY.bytes,
    maxFragments: MAX_FRAGMENTS,
    // A connection answers a limited number of pings.
    autoPong: false,
  });
  private readonly open = new Map<WebSocket, Connection>();
  /** Pings since the last sign of life of a client. */
  private readonly unanswered = new WeakMap<WebSocket, number>();
  private isPinging = false;
  private readonly timers: NodeJS.Timeout[];
  private readonly backlogBytes: number;
  private readonly leaving: () => string;

  constructor(server: HttpServer, services: FeedServices) {
    this.publisher = new Publisher(services.host);
    this.backlogBytes = services.backlogBytes;
    const frameTurns = new FrameTurns();
    const shared: FeedConnections = { ...services, publisher: this.publisher, frameTurns };
    const { host } = services;
    this.leaving = () => host.leaving;
    this.sockets.on('headers', (headers: string[]) => {
      const { replica } = host.exchange;
      if (replica === null) return;
      headers.push(`${REPLICA_HEADERS.role}: ${replica.role}`);
      headers.push(`${REPLICA_HEADERS.lag}: ${String(Math.ceil(replica.lagMs))}`);
    });
    // A handshake with another method, or without a key.
    this.sockets.on('wsClientError', (_error, stream) => {
      refuse(stream, MESSAGES.malformedRequest);
    });
    server.on('upgrade', (request, stream: Duplex, head: Buffer) => {
      // The server does not handle errors of an upgraded connection.
      stream.on('error', () => {
        stream.destroy();
      });
      afterAnswers(request.socket, () => {
        if (!stream.destroyed) this.upgrade(request, stream, head, shared);
      });
    });
    this.timers = [
      setInterval(() => {
        this.ping();
      }, PING_EVERY_MS),
      setInterval(() => {
        this.boundBacklog();
      }, BACKLOG_EVERY_MS),
    ];
    for (const timer of this.timers) timer.unref();
  }

  private upgrade(
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    services: FeedConnections,
  ): void {
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== PATH || request.headers.upgrade?.toLowerCase() !== 'websocket') {
      refuse(stream, MESSAGES.upgradeNotOffered);
      return;
    }
    const address = services.addressOf(request);
    const delayMs = services.admission?.refusalOf(callerOfAddress(address)) ?? null;
    if (delayMs !== null) {
      refuseLater(stream, MESSAGES.tooManyRequests, delayMs);
      return;
    }
    if (!hasValidHost(request)) {
      refuse(stream, MESSAGES.malformedRequest);
      return;
    }
    this.sockets.handleUpgrade(request, stream, head, (socket) => {
      // It is not read while it awaits earlier answers.
      stream.resume();
      this.admit(socket, new Connection(socket, stream, services, address));
    });
  }

  get connections(): number {
    return this.open.size;
  }

  get load(): FeedLoad {
    let slowReaders = 0;
    let backlogBytes = 0;
    for (const { backlog } of this.open.values()) {
      backlogBytes += backlog;
      if (backlog > SLOW_BYTES) slowReaders += 1;
    }
    return { connections: this.open.size, slowReaders, backlogBytes };
  }

  private admit(socket: WebSocket, connection: Connection): void {
    this.open.set(socket, connection);
    socket.on('close', () => {
      this.open.delete(socket);
    });
  }

  /**
   * Terminates clients that are gone; closes those with an expired token. After a long turn, timers
   * come before the reads of what has arrived meanwhile, so it looks behind the reads.
   */
  private ping(): void {
    if (this.isPinging) return;
    this.isPinging = true;
    setImmediate(() => {
      this.isPinging = false;
      for (const [socket, connection] of this.open) this.pingOne(socket, connection);
    });
  }

  private pingOne(socket: WebSocket, connection: Connection): void {
    const unanswered = connection.gate.showsLife() ? 0 : (this.unanswered.get(socket) ?? 0);
    if (unanswered >= MAX_UNANSWERED) {
      socket.terminate();
      return;
    }
    connection.recheck();
    if (socket.readyState === socket.OPEN) socket.ping();
    this.unanswered.set(socket, unanswered + 1);
  }

  /** Bounds the unsent bytes of all clients; beyond it the slowest readers are closed. */
  private boundBacklog(): void {
    let total = 0;
    const closing: Connection[] = [];
    const waiting: Connection[] = [];
    for (const [socket, connection] of this.open) {
      if (connection.backlog === 0) continue;
      total += connection.backlog;
      (socket.readyState === socket.OPEN ? waiting : closing).push(connection);
    }
    if (total <= this.backlogBytes) return;
    waiting.sort((a, b) => b.backlog - a.backlog);
    for (const connection of [...closing, ...waiting]) {
      if (total <= this.backlogBytes / 2) return;
      total -= connection.backlog;
      connection.disconnect();
    }
  }

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.publisher.close();
    for (const socket of this.open.keys()) {
      socket.close(CLOSE_GOING_AWAY, shortened(this.leaving()));
    }
    this.sockets.close();
    if (this.open.size === 0) return;
    // Terminates clients that do not complete the close handshake.
    const last = setTimeout(() => {
      for (const socket of this.open.keys()) socket.terminate();
    }, CLOSE_WAIT_MS);
    for (const socket of this.open.keys()) {
      socket.once('close', () => {
        if (this.open.size === 0) clearTimeout(last);
      });
    }
  }
}
