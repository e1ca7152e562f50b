/**
 * Routes of the endpoint table. The body is parsed, handled and encoded in the caller's turn
 * (`FairQueue`); waits for signers and for the disk are outside of it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINT_IDS, ENDPOINTS, type Endpoint, type EndpointId } from '../contract/endpoints.ts';
import { Fields } from '../gateway/fields.ts';
import { mustKnow } from './access.ts';
import type { Host, HostReply } from './exchange-host.ts';
import { expectedParseMs, expectedReplyMs, expectedRequestMs } from './expected-cost.ts';
import type { FairQueue } from './fair-queue.ts';
import { inQueue, refuseBeyondWaiting } from './in-queue.ts';
import type { Faults } from './injected-faults.ts';
import { Body, bodyOf } from './read-body.ts';
import { sendBody, sendError, sendPage, sendText, showReplica } from './replies.ts';
import type { WalletAuth } from './wallet-auth.ts';

export interface ContractOptions {
  readonly host: Host;
  readonly auth: WalletAuth;
  readonly faults: Faults;
  readonly queue: FairQueue;
}

export function contractRoutes(app: FastifyInstance, options: ContractOptions): void {
  const { faults, queue } = options;
  for (const id of ENDPOINT_IDS) {
    const { method, path } = ENDPOINTS[id];
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { access: { endpoint: id } },
      handler: (request, reply) => {
        handle(id, request, options).then(
          (answer) => {
            if (faults.dropsReply(id)) request.raw.destroy();
            else {
              const ms = expectedReplyMs(answer.body);
              void inQueue(queue, request, () => send(reply, answer), ms, true);
            }
          },
          (error: unknown) => sendError(reply, error),
        );
      },
    });
  }
}

function send(reply: FastifyReply, { status, body, page, shows }: HostReply): FastifyReply {
  if (shows !== undefined) showReplica(reply, shows);
  if (status !== 200) return sendText(reply, { status, message: String(body) });
  return page === undefined ? sendBody(reply, body) : sendPage(reply, body, page);
}

/** Throws `RequestError`. */
async function handle(
  id: EndpointId,
  request: FastifyRequest,
  { host, auth, faults, queue }: ContractOptions,
): Promise<HostReply> {
  const injected = faults.inject(id);
  if (injected !== null) await injected;
  const { work, verified } = mustKnow(request);
  refuseBeyondWaiting(queue, request);
  const bytes = request.body instanceof Body ? request.body.bytes : 0;
  const read = (): unknown => inputOf(ENDPOINTS[id], request);
  const input = await inQueue(queue, request, read, expectedParseMs(bytes));
  if (id === 'getAuth') return { status: 200, body: auth.challenge(input) };
  if (id === 'postAuth')
    return { status: 200, body: await queue.run(work, () => auth.login(input)) };
  if (id === 'getClaims' && verified !== null) {
    new Fields(input, [], true);
    // A token whose wallet lost its rights is invalid (R-9.5a); any read checks that.
    const check = await host.handle('getClsHistory', { limit: 1 }, verified.caller);
    return check.status === 200 ? { status: 200, body: verified.claims } : check;
  }
  const signers = host.verifyAhead(id, input);
  if (signers !== null) await signers;
  const carry = (): Promise<HostReply> => host.handle(id, input, verified?.caller ?? null);
  return inQueue(queue, request, carry, expectedRequestMs(input), true);
}

/** Query and path parameters, or the body, as one object. */
function inputOf({ method }: Endpoint, request: FastifyRequest): unknown {
  if (method === 'POST') return bodyOf(request);
  return { ...(request.query as object), ...(request.params as object) };
}
