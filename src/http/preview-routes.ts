/**
 * Previews of orders: what a request would do now, without sending it (docs/API.md). Reading and
 * checking a request, and writing its answer, are in the caller's turn; copies have turns of their
 * own (`Copies`).
 */
import type { FastifyInstance } from 'fastify';
import { MESSAGES } from '../contract/messages.ts';
import { RequestError } from '../gateway/request-error.ts';
import { previewOrders, refusedPreview } from '../gateway/preview.ts';
import type { Keccak } from '../gateway/ports.ts';
import { mustKnow } from './access.ts';
import type { Copies } from './copies.ts';
import type { Host } from './exchange-host.ts';
import { expectedParseMs, expectedReplyMs, expectedRequestMs } from './expected-cost.ts';
import type { FairQueue } from './fair-queue.ts';
import { inQueue, refuseBeyondWaiting, refuseEnded } from './in-queue.ts';
import { Body, bodyOf } from './read-body.ts';
import { sendBody, sendError } from './replies.ts';

/** Requests that a preview counts as: it copies the exchange. */
const PREVIEW_COST = 5;

const ROUTES = [
  ['/preview/order', 'submitOrder'],
  ['/preview/orders', 'submitOrders'],
] as const;

export interface PreviewOptions {
  readonly host: Host;
  /** null: no previews. */
  readonly copies: Copies | null;
  readonly keccak: Keccak;
  readonly queue: FairQueue;
}

export function previewRoutes(app: FastifyInstance, options: PreviewOptions): void {
  const { host, copies, keccak, queue } = options;
  for (const [path, endpoint] of ROUTES) {
    // Token, rate and body limits are those of the request itself.
    const access = { config: { access: { endpoint, cost: PREVIEW_COST } } };
    app.post(path, access, async (request, reply) => {
      try {
        if (copies === null) throw new RequestError(MESSAGES.previewsStopped);
        const { verified } = mustKnow(request);
        if (verified === null) throw new RequestError(MESSAGES.missingToken);
        const { caller } = verified;
        refuseBeyondWaiting(queue, request);
        const bytes = request.body instanceof Body ? request.body.bytes : 0;
        const input = await inQueue(queue, request, () => bodyOf(request), expectedParseMs(bytes));
        const expectedMs = expectedRequestMs(input);
        const context = () => ({ view: host.view, nowUs: host.nowUs(), keccak, ids: host.ids });
        // A request that is refused before its first command costs no copy.
        const check = () => refusedPreview(context(), endpoint, input, caller);
        const preview =
          (await inQueue(queue, request, check, expectedMs, true)) ??
          (await copies.run(caller.account, (copy) => {
            // It has waited for the copies of others.
            refuseEnded(request);
            return previewOrders(context(), copy(), endpoint, input, caller);
          }));
        const durable = host.exchange.durable();
        if (durable !== null) await durable;
        const send = () => sendBody(reply, preview);
        return await inQueue(queue, request, send, expectedReplyMs(preview.orders), true);
      } catch (error) {
        return sendError(reply, error);
      }
    });
  }
}
