/**
 * History of accounts (docs/API.md), with the token and the limits of other private reads. A page
 * is made, and written, in the caller's turn (`FairQueue`).
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { stringifyExact } from '../contract/exact-json.ts';
import { HISTORY_LISTS, HISTORY_TOTALS, type HistoryList } from '../contract/history-lists.ts';
import { historyTotals, readHistory, type HistoryContext } from '../gateway/history-requests.ts';
import type { Keccak } from '../gateway/ports.ts';
import { mustKnow } from './access.ts';
import type { Host } from './exchange-host.ts';
import { expectedReplyMs, expectedRequestMs } from './expected-cost.ts';
import type { FairQueue } from './fair-queue.ts';
import { inQueue, refuseBeyondWaiting } from './in-queue.ts';
import { sendBody, sendError, sendPage, showReplica } from './replies.ts';

/** Requests that a page of history counts as. */
const HISTORY_COST = 2;

export interface HistoryOptions {
  readonly host: Host;
  readonly keccak: Keccak;
  readonly queue: FairQueue;
}

export function historyRoutes(app: FastifyInstance, { host, keccak, queue }: HistoryOptions): void {
  const access = { config: { access: { endpoint: 'getTransfers', cost: HISTORY_COST } } } as const;
  const context = (): HistoryContext => ({
    engine: host.view,
    keccak,
    ids: host.ids,
    history: host.history,
  });
  const show = (reply: FastifyReply): void => {
    const shown = host.shownState();
    if (shown !== null) showReplica(reply, shown);
  };
  app.get(HISTORY_TOTALS.path, access, async (request, reply) => {
    try {
      const caller = mustKnow(request).verified?.caller ?? null;
      refuseBeyondWaiting(queue, request);
      const totals = await inQueue(
        queue,
        request,
        () => {
          host.catchUp();
          show(reply);
          return historyTotals(context(), request.query, caller);
        },
        0,
      );
      await host.exchange.durable();
      return await sendBody(reply, totals);
    } catch (error) {
      return sendError(reply, error);
    }
  });
  for (const list of Object.keys(HISTORY_LISTS) as HistoryList[]) {
    app.get(HISTORY_LISTS[list].path, access, async (request, reply) => {
      try {
        const caller = mustKnow(request).verified?.caller ?? null;
        refuseBeyondWaiting(queue, request);
        const read = () => {
          host.catchUp();
          show(reply);
          return readHistory(context(), list, request.query, caller);
        };
        const page = await inQueue(queue, request, read, expectedRequestMs(request.query));
        await host.exchange.durable();
        const send = () => sendPage(reply, stringifyExact(page.body), page);
        return await inQueue(queue, request, send, expectedReplyMs(page.body), true);
      } catch (error) {
        return sendError(reply, error);
      }
    });
  }
}
