/**
 * The checks before a body is read: token, then limits. A refused request costs no more
 * than its headers, whatever its body holds.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS, type Endpoint, type EndpointId } from '../contract/endpoints.ts';
import { bodyLimitsOf, CONTROL_BODY, SMALL_BODY } from '../contract/body-limits.ts';
import type { JsonLimits } from '../contract/json-scan.ts';
import { MESSAGES, type ErrorReply } from '../contract/messages.ts';
import { RequestError } from '../gateway/request-error.ts';
import { hasValidHost } from './malformed.ts';
import { tooManyRequests, type Admission, type Rate } from './admission.ts';
import { holdsToken } from './bearer-token.ts';
import { connectionName, holdBack, isAhead, letGo, stopParsing } from './connections.ts';
import type { WorkCaller } from './fair-queue.ts';
import { callerOfAddress } from './rate-limit.ts';
import { DRAIN_BYTES, readBody } from './read-body.ts';
import { sendError } from './replies.ts';
import type { Verified, WalletAuth } from './wallet-auth.ts';

/** Headers of a request; Node keeps one more, so that their number is seen to be larger. */
const MAX_HEADERS = 100;
export const KEPT_HEADERS = MAX_HEADERS + 1;
const SCHEME = /^Bearer /i;
const SCHEME_LENGTH = 'Bearer '.length;
/** Requests that a body of tiny parts counts as. */
const TINY_PARTS_COST = 20;

/** Access to a route; a route without it is public and counts as one request. */
export interface RouteAccess {
  readonly endpoint?: EndpointId;
  /** A fixed token, and the answer without it. */
  readonly control?: { readonly token: string; readonly refusal: ErrorReply };
  readonly rate?: Rate;
  /** Requests that one request counts as. */
  readonly cost?: number;
}

const PUBLIC: RouteAccess = {};

/** Caller of a request, set before its body is read. */
export interface Known {
  /** Account, or address. */
  readonly caller: string;
  /** For the order of work: the account, or the connection. */
  readonly work: WorkCaller;
  readonly verified: Verified | null;
  /** Of the route; undefined without one. Fastify makes an object whenever its options are read. */
  readonly url: string | undefined;
  readonly access: RouteAccess;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess;
  }
  interface FastifyRequest {
    known: Known | null;
  }
}

export interface AccessOptions {
  readonly auth: WalletAuth;
  /** null: without limits. */
  readonly admission: Admission | null;
}

export function checkAccess(app: FastifyInstance, options: AccessOptions): void {
  app.decorateRequest('known', null);
  app.addHook('onRequest', (request, reply, done) => {
    const checked = admit(request, options);
    if (!(checked instanceof Promise)) {
      finish(request, reply, checked, done);
      return;
    }
    void checked.then((refusal) => {
      finish(request, reply, refusal, done);
    });
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const known = mustKnow(request);
    const limits = limitsOf(request);
    const takes = (bytes: number): boolean =>
      options.admission?.takesBytes(known.caller, known.verified !== null, bytes) !== false;
    const countTinyParts = (): void => {
      options.admission?.refusalOf(known.caller, 'caller', TINY_PARTS_COST);
    };
    readBody(payload, { limits, takes, countTinyParts }, done);
  });
}

export function mustKnow({ known }: FastifyRequest): Known {
  if (known === null) throw new Error('the access of a request is checked before its body');
  return known;
}

interface Refusal {
  readonly error: RequestError;
  readonly delayMs: number;
}

/** Sets `request.known`, or returns the refusal; a promise only for a token that is not cached. */
function admit(
  request: FastifyRequest,
  options: AccessOptions,
): Refusal | null | Promise<Refusal | null> {
  const { admission } = options;
  const { config, url } = request.routeOptions;
  const of = config.access ?? PUBLIC;
  const { endpoint, control, rate, cost } = of;
  const address = callerOfAddress(request.ip);
  const anonymous = {
    caller: address,
    work: request.raw.socket,
    verified: null,
    url,
    access: of,
  };
  const count = (caller: string, by?: Rate): Refusal | null => {
    const delayMs = admission?.refusalOf(caller, by, cost) ?? null;
    return delayMs === null ? null : { error: tooManyRequests(), delayMs };
  };
  const fault = headerFault(request);
  if (fault !== null) {
    request.known = anonymous;
    return count(address) ?? { error: new RequestError(fault), delayMs: 0 };
  }
  const { access } =
    endpoint === undefined ? { access: 'public' } : (ENDPOINTS[endpoint] as Endpoint);
  if (control !== undefined && holdsToken(request, control.token)) {
    request.known = { ...anonymous, work: `${address} control` };
    return count(`${address} control`, 'wide');
  }
  if (access === 'public') {
    const { socket } = request.raw;
    // Others behind the same address may flood it, so a probe counts by its connection.
    const isProbe = rate === 'probe' && !isAhead(socket);
    request.known = anonymous;
    const refused = isProbe ? count(connectionName(socket), rate) : count(address);
    if (refused !== null || control === undefined) return refused;
    return { error: new RequestError(control.refusal), delayMs: 0 };
  }
  return admitToken(request, options, anonymous, count);
}

function headerFault({ raw }: FastifyRequest): ErrorReply | null {
  if (raw.rawHeaders.length > 2 * MAX_HEADERS) return MESSAGES.tooManyHeaders;
  return hasValidHost(raw) ? null : MESSAGES.malformedRequest;
}

function admitToken(
  request: FastifyRequest,
  { auth }: AccessOptions,
  anonymous: Known,
  count: (caller: string) => Refusal | null,
): Refusal | null | Promise<Refusal | null> {
  const accept = (verified: Verified): Refusal | null => {
    const { account } = verified.caller;
    const { url, access } = anonymous;
    request.known = { caller: account, work: account, verified, url, access };
    return count(account);
  };
  const reject = (error: RequestError): Refusal => count(anonymous.caller) ?? { error, delayMs: 0 };
  const header = request.headers.authorization;
  if (header === undefined) return reject(new RequestError(MESSAGES.missingToken));
  // The form of a known token is known to be right.
  const cached = SCHEME.test(header) ? auth.cached(header.slice(SCHEME_LENGTH)) : null;
  if (cached !== null) return accept(cached);
  const token = /^Bearer ([\w.-]+)$/i.exec(header)?.[1];
  if (token === undefined) return reject(new RequestError(MESSAGES.invalidToken));
  // Verification costs more than the rest of a small request, so it counts by address first.
  const refused = count(`${anonymous.caller} tokens`);
  if (refused !== null) return refused;
  return auth
    .verify(token)
    .then(accept, (error: unknown) =>
      error instanceof RequestError ? reject(error) : { error: error as RequestError, delayMs: 0 },
    );
}

function finish(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal | null,
  done: () => void,
): void {
  if (refusal === null) {
    done();
    return;
  }
  const { error, delayMs } = refusal;
  // The rest of a small body is read and dropped; a large one ends the connection.
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers;
  if (chunked !== undefined || Number(length ?? 0) > DRAIN_BYTES) {
    void reply.header('connection', 'close');
    stopParsing(request.raw.socket);
  }
  if (delayMs === 0) {
    sendError(reply, error);
    return;
  }
  const { socket } = request.raw;
  holdBack(socket);
  setTimeout(() => {
    if (letGo(socket)) void reply.header('connection', 'close');
    sendError(reply, error);
  }, delayMs);
}

function limitsOf(request: FastifyRequest): JsonLimits {
  const { endpoint, control } = mustKnow(request).access;
  if (control !== undefined) return CONTROL_BODY;
  return endpoint === undefined ? SMALL_BODY : bodyLimitsOf(endpoint);
}
