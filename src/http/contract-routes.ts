/**
 * Routes of the endpoint table. The body is parsed, handled and encoded in the caller's turn
 * (`FairQueue`); waits for signers and for the disk are outside of it. A request for which nothing
 * has to be waited for is answered in one turn of the event loop, without a promise.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINT_IDS, ENDPOINTS, type EndpointId } from '../contract/endpoints.ts';
import { stringifyExact } from '../contract/exact-json.ts';
import { Fields } from '../gateway/fields.ts';
import { mustKnow } from './access.ts';
import { opensAccount, type AccountOpenings } from './account-openings.ts';
import type { Host, HostReply } from './exchange-host.ts';
import { expectedParseMs, expectedReplyMs, expectedRequestMs } from './expected-cost.ts';
import { isLarge, type FairQueue, type WorkCaller } from './fair-queue.ts';
import { inQueue, refuseBeyondWaiting } from './in-queue.ts';
import type { Faults } from './injected-faults.ts';
import { Body, bodyOf } from './read-body.ts';
import { callerOfAddress } from './rate-limit.ts';
import { ReadAnswers, READS_OF_STATE } from './read-answers.ts';
import { sendError, sendPage, sendText, showReplica } from './replies.ts';
import type { Verified, WalletAuth } from './wallet-auth.ts';

export interface ContractOptions {
  readonly host: Host;
  readonly auth: WalletAuth;
  readonly faults: Faults;
  readonly queue: FairQueue;
  /** null: without a limit. */
  readonly openings: AccountOpenings | null;
}

export function contractRoutes(app: FastifyInstance, options: ContractOptions): void {
  const answers = new ReadAnswers(options.host);
  for (const id of ENDPOINT_IDS) {
    const { method, path } = ENDPOINTS[id];
    const route = new ContractRoute(id, options, READS_OF_STATE.has(id) ? answers : null);
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { access: { endpoint: id } },
      handler: (request, reply) => {
        route.handle(request, reply);
      },
    });
  }
}

type Soon<T> = T | Promise<T>;

/** A request after the piece of work that reads its body. */
interface Begun {
  readonly input: unknown;
  /** To wait for before the request is handled; null: nothing. */
  readonly signers: Promise<unknown> | null;
  /** null: it is not handled yet. */
  readonly reply: Soon<HostReply> | null;
}

class ContractRoute {
  private readonly id: EndpointId;
  private readonly options: ContractOptions;
  /** Answers of the present state; null if those of this endpoint depend on more. */
  private readonly answers: ReadAnswers | null;

  constructor(id: EndpointId, options: ContractOptions, answers: ReadAnswers | null) {
    this.id = id;
    this.options = options;
    this.answers = answers;
  }

  handle(request: FastifyRequest, reply: FastifyReply): void {
    try {
      if (this.sendKept(request, reply)) return;
      const { seq } = this.options.host.view;
      const answer = this.answer(request);
      if (answer instanceof Promise) {
        answer.then(
          (late) => {
            this.deliver(request, reply, late, null);
          },
          (error: unknown) => sendError(reply, error),
        );
      } else this.deliver(request, reply, answer, seq);
    } catch (error) {
      sendError(reply, error);
    }
  }

  /** True if an answer of the present state is sent again. */
  private sendKept(request: FastifyRequest, reply: FastifyReply): boolean {
    const { answers } = this;
    const { faults, queue } = this.options;
    if (answers === null || faults.areArmed) return false;
    const { verified } = mustKnow(request);
    this.options.host.catchUp();
    const kept = answers.find(verified, request.raw.url ?? '');
    if (kept === null) return false;
    refuseBeyondWaiting(queue, request);
    const sent = inQueue(queue, request, () => sendPage(reply, kept.text, kept.page), 0);
    // It is not sent if the client has gone while it waited.
    if (sent instanceof Promise) sent.catch((error: unknown) => sendError(reply, error));
    return true;
  }

  /** Throws `RequestError`, or rejects with it. */
  private answer(request: FastifyRequest): Soon<HostReply> {
    const { faults } = this.options;
    const injected = faults.inject(this.id);
    return injected === null ? this.read(request) : injected.then(() => this.read(request));
  }

  private read(request: FastifyRequest): Soon<HostReply> {
    const { queue } = this.options;
    refuseBeyondWaiting(queue, request);
    if (ENDPOINTS[this.id].method !== 'POST') {
      return this.carry(request, inputOf(request));
    }
    const bytes = request.body instanceof Body ? request.body.bytes : 0;
    const begun = inQueue(queue, request, () => this.begin(request), expectedParseMs(bytes));
    return begun instanceof Promise
      ? begun.then((late) => this.goOn(request, late))
      : this.goOn(request, begun);
  }

  /** Reads the body, and handles a small request at once if no signer has to be recovered. */
  private begin(request: FastifyRequest): Begun {
    const { id } = this;
    const { host } = this.options;
    const input = bodyOf(request);
    if (id === 'postAuth') return { input, signers: null, reply: null };
    const signers = host.verifyAhead(id, input);
    if (signers !== null || isLarge(expectedRequestMs(input))) {
      return { input, signers, reply: null };
    }
    return { input, signers, reply: this.apply(request, input) };
  }

  private goOn(request: FastifyRequest, { input, signers, reply }: Begun): Soon<HostReply> {
    if (reply !== null) return reply;
    if (this.id === 'postAuth') return this.login(mustKnow(request).work, input);
    return signers === null
      ? this.inTurn(request, input, true)
      : signers.then(() => this.inTurn(request, input, true));
  }

  /** `input`: query and path parameters. */
  private carry(request: FastifyRequest, input: unknown): Soon<HostReply> {
    const { id } = this;
    const { verified } = mustKnow(request);
    if (id === 'getAuth') return { status: 200, body: this.options.auth.challenge(input) };
    if (id === 'getClaims' && verified !== null) return this.claims(verified, input);
    return this.inTurn(request, input, false);
  }

  /** `begun`: reading the body was a piece of work. */
  private inTurn(request: FastifyRequest, input: unknown, begun: boolean): Soon<HostReply> {
    const { queue } = this.options;
    const run = (): Soon<HostReply> => this.apply(request, input);
    return inQueue(queue, request, run, expectedRequestMs(input), begun);
  }

  /** Throws `RequestError` if it would open more accounts than its address may. */
  private apply(request: FastifyRequest, input: unknown): Soon<HostReply> {
    const { id } = this;
    const { host, openings } = this.options;
    const { verified } = mustKnow(request);
    const caller = verified?.caller ?? null;
    if (openings === null || !opensAccount(host.view, id, input)) {
      return host.handle(id, input, caller);
    }
    const address = callerOfAddress(request.ip);
    openings.refuseBeyond(address);
    const reply = host.handle(id, input, caller);
    if (!opensAccount(host.view, id, input)) openings.count(address);
    return reply;
  }

  private async login(work: WorkCaller, input: unknown): Promise<HostReply> {
    const { auth, queue } = this.options;
    return { status: 200, body: await queue.run(work, () => auth.login(input)) };
  }

  private async claims({ caller, claims }: Verified, input: unknown): Promise<HostReply> {
    new Fields(input, [], true);
    // A token whose wallet lost its rights is invalid (R-9.5a); any read checks that.
    const check = await this.options.host.handle('getClsHistory', { limit: 1 }, caller);
    return check.status === 200 ? { status: 200, body: claims } : check;
  }

  /** `seq`: the state that the answer shows; null if it may be an earlier one. */
  private deliver(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: HostReply,
    seq: number | null,
  ): void {
    const { faults, queue } = this.options;
    if (faults.dropsReply(this.id)) {
      request.raw.destroy();
      return;
    }
    const run = (): FastifyReply => this.send(request, reply, answer, seq);
    void inQueue(queue, request, run, expectedReplyMs(answer.body), true);
  }

  private send(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, body, page, shows }: HostReply,
    seq: number | null,
  ): FastifyReply {
    if (shows !== undefined) showReplica(reply, shows);
    if (status !== 200) return sendText(reply, { status, message: String(body) });
    const text = stringifyExact(body);
    if (seq !== null) {
      const { verified } = mustKnow(request);
      this.answers?.keep(verified, request.raw.url ?? '', { text, page }, seq);
    }
    return sendPage(reply, text, page);
  }
}

/** Query and path. A name in both has two values, as one that the query repeats. */
function inputOf({ query, params }: FastifyRequest): object {
  const fields = query as Readonly<Record<string, unknown>>;
  const input = { ...fields };
  for (const [name, value] of Object.entries(params as object)) {
    input[name] = Object.hasOwn(fields, name) ? [fields[name], value] : value;
  }
  return input;
}
