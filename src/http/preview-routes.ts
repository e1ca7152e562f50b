/** Previews of orders: what a request would do now, without sending it (docs/API.md). */
import type { FastifyInstance } from 'fastify';
import { MESSAGES } from '../contract/messages.ts';
import { RequestError } from '../gateway/request-error.ts';
import { previewOrders } from '../gateway/preview.ts';
import type { Keccak } from '../gateway/ports.ts';
import { mustKnow } from './access.ts';
import type { Copies } from './copies.ts';
import type { Host } from './exchange-host.ts';
import { bodyOf } from './read-body.ts';
import { sendBody, sendError } from './replies.ts';

/** Requests that a preview counts as: it copies the exchange. */
const PREVIEW_COST = 5;

const ROUTES = [
  ['/preview/order', 'submitOrder'],
  ['/preview/orders', 'submitOrders'],
] as const;

export interface PreviewOptions {
  readonly host: Host;
  readonly copies: Copies;
  readonly keccak: Keccak;
}

export function previewRoutes(app: FastifyInstance, options: PreviewOptions): void {
  const { host, copies, keccak } = options;
  for (const [path, endpoint] of ROUTES) {
    // Token, rate and body limits are those of the request itself.
    const access = { config: { access: { endpoint, cost: PREVIEW_COST } } };
    app.post(path, access, async (request, reply) => {
      try {
        const { verified } = mustKnow(request);
        if (verified === null) throw new RequestError(MESSAGES.missingToken);
        const { caller } = verified;
        const input = bodyOf(request);
        const preview = await copies.run((copy) => {
          const context = { view: host.view, nowUs: host.nowUs(), keccak, ids: host.ids };
          return previewOrders(context, copy(), endpoint, input, caller);
        });
        const durable = host.exchange.durable();
        if (durable !== null) await durable;
        return await sendBody(reply, preview);
      } catch (error) {
        return sendError(reply, error);
      }
    });
  }
}
