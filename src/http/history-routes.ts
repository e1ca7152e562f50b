/** History of accounts (docs/API.md), with the token and the limits of other private reads. */
import type { FastifyInstance } from 'fastify';
import { stringifyExact } from '../contract/exact-json.ts';
import { HISTORY_LISTS, HISTORY_TOTALS, type HistoryList } from '../contract/history-lists.ts';
import { historyTotals, readHistory, type HistoryContext } from '../gateway/history-requests.ts';
import type { Keccak } from '../gateway/ports.ts';
import { mustKnow } from './access.ts';
import type { Host } from './exchange-host.ts';
import { sendBody, sendError, sendPage } from './replies.ts';

/** Requests that a page of history counts as. */
const HISTORY_COST = 2;

export function historyRoutes(app: FastifyInstance, host: Host, keccak: Keccak): void {
  const access = { config: { access: { endpoint: 'getTransfers', cost: HISTORY_COST } } } as const;
  const context = (): HistoryContext => ({
    engine: host.view,
    keccak,
    ids: host.ids,
    history: host.history,
  });
  app.get(HISTORY_TOTALS.path, access, async (request, reply) => {
    try {
      const caller = mustKnow(request).verified?.caller ?? null;
      host.catchUp();
      const totals = historyTotals(context(), request.query, caller);
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
        host.catchUp();
        const page = readHistory(context(), list, request.query, caller);
        await host.exchange.durable();
        return await sendPage(reply, stringifyExact(page.body), page);
      } catch (error) {
        return sendError(reply, error);
      }
    });
  }
}
