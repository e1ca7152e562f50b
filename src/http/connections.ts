/**
 * Limits of connections: how many are open, and requests that one sends ahead of its answers. A
 * connection whose refusal waits is not read; one that has sent more by then closes after it.
 */
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

/** The parser of a connection. It is not documented, so nothing may depend on its presence. */
interface Parser {
  onIncoming?: ((request: IncomingMessage) => number) | null;
  [ON_BODY]?: unknown;
}
/** Callback for the bytes of a body. */
const ON_BODY = 3;
/** Result of `onIncoming` that ends parsing, as after an upgrade. */
const STOP_PARSING = 2;
/** The callback that `stopParsing` took from a parser; all parsers have the same one. */
let onBody: unknown = null;

function parserOf(socket: Socket): Parser | null {
  return (socket as Socket & { readonly parser?: Parser | null }).parser ?? null;
}

/**
 * Drops what a connection has sent and still sends, for one that closes after its answer. One read
 * of 64 KiB may contain ten thousand chunks or two thousand requests, and Node handles all of them
 * before it returns to other connections.
 */
export function stopParsing(socket: Socket): void {
  const parser = parserOf(socket);
  if (parser === null) return;
  parser.onIncoming = (request) => {
    (request as { upgrade?: boolean }).upgrade = false;
    return STOP_PARSING;
  };
  if (typeof parser[ON_BODY] === 'function') onBody = parser[ON_BODY];
  parser[ON_BODY] = null;
}

/** Node reuses parsers for later connections. */
function reviveParser(socket: Socket): void {
  const parser = parserOf(socket);
  if (parser !== null && parser[ON_BODY] === null) parser[ON_BODY] = onBody;
}

/** Connections whose refusal waits; true once they have sent another request. */
const held = new WeakMap<Socket, boolean>();
const names = new WeakMap<Socket, string>();
let named = 0;

/** Reads nothing more from the connection until `letGo`. */
export function holdBack(socket: Socket): void {
  held.set(socket, false);
  socket.pause();
}

/** Reads the connection again. True if it sent requests meanwhile: these are not answered. */
export function letGo(socket: Socket): boolean {
  const mustClose = held.get(socket) === true;
  held.delete(socket);
  if (!mustClose) socket.resume();
  return mustClose;
}

/** A name for the limits of a connection. */
export function connectionName(socket: Socket): string {
  let name = names.get(socket);
  if (name === undefined) {
    named += 1;
    name = `connection ${String(named)}`;
    names.set(socket, name);
  }
  return name;
}

/** Requests of a connection without an answer. */
const ahead = new WeakMap<Socket, number>();

/** True if an earlier request of the connection has no answer yet. */
export function isAhead(socket: Socket): boolean {
  return (ahead.get(socket) ?? 0) > 1;
}

/** Closes a connection with more requests ahead of their answers. */
export function limitPipelining(server: Server): void {
  // Behind the listener of the server, which gives the connection its parser.
  server.on('connection', reviveParser);
  const listeners = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (held.has(socket)) {
      held.set(socket, true);
      stopParsing(socket);
      return;
    }
    const count = (ahead.get(socket) ?? 0) + 1;
    ahead.set(socket, count);
    if (count > MAX_PIPELINED) {
      stopParsing(socket);
      socket.destroy();
      return;
    }
    response.once('close', () => {
      ahead.set(socket, (ahead.get(socket) ?? 1) - 1);
    });
    for (const listener of listeners) listener.call(server, request, response);
  });
}
