/** Pieces of a request in the turn of its caller (`FairQueue`). */
import type { FastifyRequest } from 'fastify';
import { RequestError } from '../gateway/request-error.ts';
import { mustKnow } from './access.ts';
import { tooManyRequests } from './admission.ts';
import { isLarge, type FairQueue } from './fair-queue.ts';

/** Max pieces of work that wait for one caller; beyond it requests are refused. */
const MAX_WAITING = 500;

/** Throws `RequestError` when the caller has too much waiting. */
export function refuseBeyondWaiting(queue: FairQueue, request: FastifyRequest): void {
  if (queue.waitingOf(mustKnow(request).work) >= MAX_WAITING) throw tooManyRequests();
}

/** No client reads it; counters of replies show it. */
const CLIENT_GONE = { status: 503, message: 'the client closed the connection' };

/** Throws `RequestError` once the client has closed the connection. */
export function refuseGone({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw new RequestError(CLIENT_GONE);
}

/**
 * Also once the client has ended its sending side. Most that do have left, and the few that still
 * read look the same: no costly work is done for either.
 */
export function refuseEnded({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed || raw.socket.readableEnded) throw new RequestError(CLIENT_GONE);
}

/**
 * Large requests without a token are work of their address: a new connection is no new caller. A
 * request that waits and has not begun is not done once its client has closed the connection. Its
 * later pieces are done: an error of a reply has no handler.
 */
export function inQueue<T>(
  queue: FairQueue,
  request: FastifyRequest,
  run: () => T,
  expectedMs: number,
  continues = false,
): T | Promise<Awaited<T>> {
  const { work, caller } = mustKnow(request);
  let waits = false;
  const runForClient = (): T => {
    if (waits) refuseGone(request);
    return run();
  };
  const result = queue.run(
    isLarge(expectedMs) ? caller : work,
    runForClient,
    expectedMs,
    continues,
  );
  waits = !continues;
  return result;
}
