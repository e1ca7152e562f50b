/** Pieces of a request in the turn of its caller (`FairQueue`). */
import type { FastifyRequest } from 'fastify';
import { mustKnow } from './access.ts';
import { tooManyRequests } from './admission.ts';
import { isLarge, type FairQueue } from './fair-queue.ts';

/** Max pieces of work that wait for one caller; beyond it requests are refused. */
const MAX_WAITING = 500;

/** Throws `RequestError` when the caller has too much waiting. */
export function refuseBeyondWaiting(queue: FairQueue, request: FastifyRequest): void {
  if (queue.waitingOf(mustKnow(request).work) >= MAX_WAITING) throw tooManyRequests();
}

/** Large requests without a token are work of their address: a new connection is no new caller. */
export function inQueue<T>(
  queue: FairQueue,
  request: FastifyRequest,
  run: () => T,
  expectedMs: number,
  continues = false,
): T | Promise<Awaited<T>> {
  const { work, caller } = mustKnow(request);
  return queue.run(isLarge(expectedMs) ? caller : work, run, expectedMs, continues);
}
