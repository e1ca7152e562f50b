/** Replies: records as JSON, errors as a JSON string, never a stack trace. */
import type { FastifyReply } from 'fastify';
import { PAGE_HEADERS } from '../contract/endpoints.ts';
import { internalError, storeUnavailable, type ErrorReply } from '../contract/messages.ts';
import type { PageInfo } from '../gateway/context.ts';
import { RequestError } from '../gateway/request-error.ts';
import { REPLICA_HEADERS } from '../contract/replica-headers.ts';
import { StoreStopped } from '../journal/store-stopped.ts';
import { stringifyExact } from '../contract/exact-json.ts';
import type { ShownState } from './exchange-host.ts';

const JSON_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
};
const TEXT_HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'x-content-type-options': 'nosniff',
};

export function sendBody(reply: FastifyReply, body: unknown): FastifyReply {
  return sendJson(reply, stringifyExact(body));
}

/** Names the state that a reply shows, where the journal is shared. */
export function showReplica(
  reply: FastifyReply,
  { role, epoch, place, timeUs, lagMs }: ShownState,
): void {
  void reply
    .header(REPLICA_HEADERS.role, role)
    .header(REPLICA_HEADERS.epoch, String(epoch))
    .header(REPLICA_HEADERS.place, String(place))
    .header(REPLICA_HEADERS.time, String(Math.floor(timeUs / 1000)))
    .header(REPLICA_HEADERS.lag, String(Math.ceil(lagMs)));
}

/** Sends text that is JSON already. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.headers(JSON_HEADERS).send(text);
}

/** Sends JSON, and pagination of a list in headers, so that the body is the contract's. */
export function sendPage(
  reply: FastifyReply,
  text: string,
  page: PageInfo | undefined,
): FastifyReply {
  if (page !== undefined) {
    const { next, keptSinceMs } = page;
    if (next !== null) void reply.header(PAGE_HEADERS.next, next);
    if (keptSinceMs !== null) void reply.header(PAGE_HEADERS.keptSince, String(keptSinceMs));
  }
  return sendJson(reply, text);
}

/** `retryAfterS`: of status 429. */
export function sendText(
  reply: FastifyReply,
  { status, message }: ErrorReply,
  retryAfterS = 1,
): FastifyReply {
  if (status === 429) void reply.header('retry-after', String(retryAfterS));
  return reply.code(status).headers(TEXT_HEADERS).send(JSON.stringify(message));
}

/** Sends an error; internal details go to the log only. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof RequestError) {
    return sendText(reply, error, error.retryAfterS);
  }
  if (error instanceof StoreStopped) return sendText(reply, storeUnavailable(error.message));
  reply.log.error({ reqId: reply.request.id, err: error }, 'request failed');
  return sendText(reply, internalError(`request ${reply.request.id}`));
}
