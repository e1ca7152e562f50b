/**
 * Limits of connections: how many are open, and requests that one sends ahead of its answers. A
 * connection whose refusal waits is not read; one that has sent more by then closes after it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MESSAGES } from '../contract/messages.ts';
import { refuse, type RefusalHeaders } from './refuse.ts';

/** Requests of one connection that may wait for answers (pipelining). */
const MAX_PIPELINED = 100;

/** One beyond the limit gets 503 and is closed. */
export class ConnectionLimit {
  open = 0;

  constructor(server: Server, max: number, headers: RefusalHeaders) {
    // Runs before the server's own listener, which starts reading.
    server.prependListener('connection', (socket: Socket) => {
      this.open += 1;
      socket.once('close', () => {
        this.open -= 1;
      });
      if (this.open > max) refuse(socket, MESSAGES.tooManyConnections, headers);
    });
  }
}

/**
 * Answers a client that ends its sending side after its requests, as `nc -N` does; Node would end
 * the connection before the answers. The property is not documented, so it is set only.
 */
export function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
}

/** Time for what has arrived during a long turn of the event loop. */
const GRACE_MS = 500;

/**
 * Ends a connection that was idle for its time. After a long turn of the event loop, timers come
 * before the reads and answers of what has happened meanwhile, so these have a moment more.
 */
export function endIdle(server: Server): void {
  server.on('timeout', (socket: Socket) => {
    const { bytesRead, bytesWritten } = socket;
    setTimeout(() => {
      const isIdle = socket.bytesRead === bytesRead && socket.bytesWritten === bytesWritten;
      if (isIdle) socket.destroy();
    }, GRACE_MS);
  });
}

/** Shorter, so that a connection that is idle too gets its reply. */
const UNREAD_MS = 100;

type ClientErrorHandler = (error: Error & { readonly code?: string }, socket: Socket) => void;

/**
 * Handles the time limit of a request after what the client has sent is read. The check of the
 * limit is a timer, so after a long turn of the event loop it comes before these reads. A request
 * that still arrives has as much time again.
 */
export function timeOutUnread(handle: ClientErrorHandler, limitMs: number): ClientErrorHandler {
  return (error, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      handle(error, socket);
      return;
    }
    const hadSent = socket.bytesRead > 0;
    const { last } = stateOf(socket);
    const unfinished = last?.complete === true ? undefined : last;
    const endsMs = performance.now() + limitMs;
    const wait = (): void => {
      const { bytesRead } = socket;
      setTimeout(() => {
        if (socket.destroyed) return;
        // Node times a message from its first byte, so this one has its own limit.
        if (!hadSent && socket.bytesRead > 0) return;
        const current = stateOf(socket).last;
        if (current?.complete === true && (current !== last || current === unfinished)) return;
        if (socket.bytesRead > bytesRead && performance.now() < endsMs) wait();
        else handle(error, socket);
      }, UNREAD_MS);
    };
    wait();
  };
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

const STATE = Symbol('state of a connection');

interface ConnectionState {
  /** Requests without an answer. */
  ahead: number;
  /** A refusal waits, and whether the connection has sent another request since. */
  held: 'no' | 'yes' | 'sent';
  /** For its limits; empty until it is asked for. */
  name: string;
  /** Its latest request. */
  last: IncomingMessage | undefined;
  /** Is called after the answers of its requests, but for the last `unanswered` ones. */
  next: (() => void) | null;
  unanswered: number;
}

interface WithState {
  [STATE]: ConnectionState | undefined;
}

/** State of a connection in a property of its socket, which costs less than a map of sockets. */
function stateOf(socket: Socket): ConnectionState {
  return ((socket as Socket & WithState)[STATE] ??= {
    ahead: 0,
    held: 'no',
    name: '',
    last: undefined,
    next: null,
    unanswered: 0,
  });
}

let named = 0;

/** Reads nothing more from the connection until `letGo`. */
export function holdBack(socket: Socket): void {
  stateOf(socket).held = 'yes';
  socket.pause();
}

/** Reads the connection again. True if it sent requests meanwhile: these are not answered. */
export function letGo(socket: Socket): boolean {
  const state = stateOf(socket);
  const mustClose = state.held === 'sent';
  state.held = 'no';
  if (!mustClose) socket.resume();
  return mustClose;
}

/** A name for the limits of a connection. */
export function connectionName(socket: Socket): string {
  const state = stateOf(socket);
  if (state.name === '') {
    named += 1;
    state.name = `connection ${String(named)}`;
  }
  return state.name;
}

/** True if an earlier request of the connection has no answer yet. */
export function isAhead(socket: Socket): boolean {
  return stateOf(socket).ahead > 1;
}

/** One function for all answers: a closure for each costs more. */
function onAnswerClosed(this: ServerResponse): void {
  const state = stateOf(this.req.socket);
  state.ahead -= 1;
  if (state.next === null || state.ahead > state.unanswered) return;
  const { next } = state;
  state.next = null;
  next();
}

/**
 * Calls `next` once the earlier requests of the connection have their answers, and reads nothing
 * meanwhile. Bytes that are written before them would be read as the answer of another request. A
 * request that has not arrived as a whole gets no other answer than that of `next`.
 */
export function afterAnswers(socket: Socket, next: () => void): void {
  const state = stateOf(socket);
  const unanswered = state.last?.complete === false ? 1 : 0;
  if (state.ahead <= unanswered) {
    next();
    return;
  }
  state.unanswered = unanswered;
  state.next = next;
  socket.pause();
}

/** True between a call of `afterAnswers` and what it was called with. */
export function awaitsAnswers(socket: Socket): boolean {
  return stateOf(socket).next !== null;
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
    const state = stateOf(socket);
    state.last = request;
    if (state.held !== 'no') {
      state.held = 'sent';
      stopParsing(socket);
      return;
    }
    state.ahead += 1;
    if (state.ahead > MAX_PIPELINED) {
      stopParsing(socket);
      socket.destroy();
      return;
    }
    response.on('close', onAnswerClosed);
    for (const listener of listeners) listener.call(server, request, response);
  });
  // Node would answer one with an unknown `Expect` itself, past all limits; it may be ignored.
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response);
  });
}
