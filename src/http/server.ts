/**
 * The contract over HTTP: one route per endpoint, generated from the endpoint table with its
 * documentation. Checks follow: token, rate, size and JSON, then the gateway. Every reply is
 * sent after the state it shows is durable.
 */
import { randomUUID } from 'node:crypto';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import swagger from '@fastify/swagger';
import Fastify, { LogController, type FastifyInstance } from 'fastify';
import { MESSAGES } from '../contract/messages.ts';
import type { Keccak } from '../gateway/ports.ts';
import { keccak } from '../wallet/crypto-ports.ts';
import { RequestError } from '../gateway/request-error.ts';
import { checkAccess, KEPT_HEADERS } from './access.ts';
import { AccountOpenings } from './account-openings.ts';
import { Admission } from './admission.ts';
import { clientAddress } from './client-address.ts';
import {
  answerHalfClosed,
  ConnectionLimit,
  endIdle,
  limitPipelining,
  timeOutUnread,
} from './connections.ts';
import { openApi } from '../contract/openapi.ts';
import { contractRoutes } from './contract-routes.ts';
import { stringifyExact } from '../contract/exact-json.ts';
import { Copies } from './copies.ts';
import { docsPage, LARGE_COST } from './docs-page.ts';
import { exchangePage } from './exchange-page.ts';
import { historyRoutes } from './history-routes.ts';
import type { Faults } from './injected-faults.ts';
import { asyncApi } from '../contract/asyncapi.ts';
import { FeedServer } from './feeds/feed-server.ts';
import type { Host } from './exchange-host.ts';
import { answerConnect, answerMalformed } from './malformed.ts';
import type { Metrics } from './server-metrics.ts';
import { originHeaders, EXPOSED_HEADERS } from './origin-headers.ts';
import { operationsRoutes } from './operations-routes.ts';
import { operatorRoutes } from './operator-routes.ts';
import { previewRoutes } from './preview-routes.ts';
import { FairQueue } from './fair-queue.ts';
import { sendBody, sendError, sendJson, sendText } from './replies.ts';
import { simRoutes } from './sim-routes.ts';
import type { WalletAuth } from './wallet-auth.ts';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const KEEP_ALIVE_MS = 65_000;
const PREFLIGHT_S = 600;
/** Lag up to which a follower is ready for reads. */
const READY_LAG_MS = 5000;
/** The form of lines for operators (`operator-log.ts`). */
const LOGGER = {
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (level: string) => ({ level }) },
};
/** Log levels that include requests. */
const LOGGED = ['info', 'debug', 'trace'];
/** No TLS here, so no directive upgrades requests; a TLS proxy sets its own headers. */
const HELMET = {
  strictTransportSecurity: false,
  contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
} as const;

/**
 * Interval of checks for requests past their time. It is short: `endIdle` closes a connection that
 * is silent for as long, without the 408.
 */
const REQUEST_CHECK_MS = 50;

/** Resource limits per client; the defaults suit the open internet. */
export interface ServerLimits {
  /** Open connections, feeds included. */
  readonly connections: number;
  readonly headerBytes: number;
  /** From the first to the last byte of a request. */
  readonly requestMs: number;
  /** New accounts and subaccounts an hour and address. */
  readonly accountsPerHour: number;
  /** Max unsent bytes of all feed clients together; beyond it the slowest readers are closed. */
  readonly backlogBytes: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  connections: 10_000,
  headerBytes: 16_384,
  requestMs: 10_000,
  accountsPerHour: 600,
  backlogBytes: 268_435_456,
};

/** Cross-origin access (CORS) and security headers. */
export interface BrowserOptions {
  /** Allowed origins; `*`: any; empty: none. */
  readonly origins: readonly string[];
  /** Helmet's headers on the documentation page only, on every reply, or left to a proxy. */
  readonly securityHeaders: 'pages' | 'all' | 'off';
}

export interface ServerOptions {
  readonly host: Host;
  readonly auth: WalletAuth;
  readonly faults: Faults;
  readonly metrics: Metrics;
  readonly simToken: string | null;
  /** null: no /operator routes. */
  readonly operator: { readonly token: string; readonly keccak: Keccak } | null;
  /** From `trace` to `silent`; requests are logged at `info`. */
  readonly logLevel: string;
  /** Whether `/metrics` is served with the API, beside or instead of a port of its own. */
  readonly servesMetrics: boolean;
  /** False: previews of orders are refused; those of operators are not. */
  readonly previews: boolean;
  readonly browsers: BrowserOptions;
  readonly limits?: Partial<ServerLimits>;
  /** Proxies whose `x-forwarded-for` is trusted, for a rate limit by address behind one. */
  readonly trustProxy?: readonly string[];
}

export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { requestsPerSecond } = options.host;
  const nowUs = (): number => options.host.limitsUs();
  const admission = requestsPerSecond === null ? null : new Admission(requestsPerSecond, nowUs);
  const app = openFastify(options, limits, admission);
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => stringifyExact);
  showOrigin(app, options.browsers.origins);
  observe(app, options);
  app.setErrorHandler((error, _request, reply) => sendError(reply, asRequestError(error)));
  checkAccess(app, { auth: options.auth, admission });
  app.setNotFoundHandler((_request, reply) => sendText(reply, MESSAGES.routeNotFound));
  await documentation(app, options);
  const unreadHeaders = originHeaders(options.browsers.origins, null);
  const connections = new ConnectionLimit(app.server, limits.connections, unreadHeaders);
  app.server.maxHeadersCount = KEPT_HEADERS;
  limitPipelining(app.server);
  answerHalfClosed(app.server);
  answerConnect(app.server, admission);
  endIdle(app.server);
  operations(app, options);
  const queue = new FairQueue();
  const openings = admission === null ? null : new AccountOpenings(limits.accountsPerHour, nowUs);
  contractRoutes(app, { ...options, queue, openings });
  const { simToken: token, host, faults, metrics } = options;
  if (token !== null) simRoutes(app, { host, faults, token });
  historyRoutes(app, { host, keccak, queue });
  const copies = new Copies(host);
  previewRoutes(app, { host, copies: options.previews ? copies : null, keccak, queue });
  if (options.operator !== null) operatorRoutes(app, { host, copies, ...options.operator });
  await exchangePage(app);
  const feeds = new FeedServer(app.server, {
    host,
    auth: options.auth,
    faults,
    admission,
    queue,
    simToken: token,
    metrics,
    addressOf: clientAddress(options.trustProxy ?? []),
    backlogBytes: limits.backlogBytes,
    onError: (error) => {
      app.log.error({ event: 'feed_failed', err: error }, 'feed request failed');
    },
  });
  if (options.operator !== null) {
    operationsRoutes(app, {
      ...{ host, admission, token: options.operator.token },
      connections: () => connections.open,
      feeds: () => feeds.load,
    });
  }
  metrics.countConnections(
    () => connections.open,
    () => feeds.connections,
  );
  app.addHook('preClose', (done) => {
    feeds.close();
    done();
  });
  await app.ready();
  return app;
}

function openFastify(
  { logLevel, browsers: { origins }, trustProxy = [] }: ServerOptions,
  limits: ServerLimits,
  admission: Admission | null,
): FastifyInstance {
  return Fastify({
    // Standard output is for results; logs go to standard error.
    logger: logLevel === 'silent' ? false : { ...LOGGER, level: logLevel, stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines carry the request id; a child logger would cost more than most requests.
    childLoggerFactory: (logger) => logger,
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestMs,
      // Node would answer without a text, past all limits; `hasValidHost` checks it.
      requireHostHeader: false,
      connectionsCheckingInterval: REQUEST_CHECK_MS,
    },
    routerOptions: { maxParamLength: limits.headerBytes, ignoreTrailingSlash: true },
    clientErrorHandler: timeOutUnread(
      answerMalformed(admission, originHeaders(origins, null)),
      limits.requestMs,
    ),
    frameworkErrors: (_error, request, reply) => {
      void reply.headers(originHeaders(origins, request.headers.origin ?? ''));
      sendText(reply, MESSAGES.malformedRequest);
    },
    genReqId: (request) => {
      const id = request.headers['x-request-id'];
      return typeof id === 'string' && REQUEST_ID.test(id) ? id : randomUUID();
    },
  });
}

/**
 * Lets pages of the allowed origins read refusals too. The plugin, which answers preflights, comes
 * behind the limits and so behind these.
 */
function showOrigin(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(originHeaders(origins, request.headers.origin ?? ''));
    done();
  });
}

/** Request ids, metrics, request log, and rejection of requests after shutdown starts. */
function observe(app: FastifyInstance, { metrics, host }: ServerOptions): void {
  const logs = LOGGED.includes(app.log.level);
  app.addHook('onResponse', (request, reply, done) => {
    const route = (request.known ?? request.routeOptions).url ?? 'none';
    metrics.answered(route, reply.statusCode, reply.elapsedTime);
    if (logs) {
      const { method, ip } = request;
      const ms = Math.round(reply.elapsedTime * 1000) / 1000;
      request.log.info(
        { event: 'request', reqId: request.id, method, route, status: reply.statusCode, ms, ip },
        'answered',
      );
    }
    done();
    // Closing ended the idle connections; those with a request in progress become idle here.
    if (closing) setImmediate(() => app.server.closeIdleConnections());
  });
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    if (closing) sendText(reply, { ...MESSAGES.shuttingDown, message: host.leaving });
    else done();
  });
}

/** API documents, their page, and security headers. */
async function documentation(
  app: FastifyInstance,
  { browsers, host, simToken, operator, servesMetrics }: ServerOptions,
): Promise<void> {
  const { origins, securityHeaders } = browsers;
  if (origins.length > 0) {
    await app.register(cors, {
      origin: origins.includes('*') ? '*' : [...origins],
      methods: ['GET', 'POST', 'DELETE'],
      allowedHeaders: ['authorization', 'content-type', 'x-request-id'],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: PREFLIGHT_S,
    });
  }
  if (securityHeaders === 'all') await app.register(helmet, HELMET);
  const document = openApi({
    title: host.view.config.name,
    simulation: simToken !== null,
    operator: operator !== null,
    metrics: servesMetrics,
  });
  await app.register(swagger, {
    mode: 'static',
    // The plugin's types are those of a parsed document.
    specification: { document: document as never },
  });
  // Documentation pages get security headers; JSON records need only one of them.
  await app.register(async (pages) => {
    if (securityHeaders === 'pages') await pages.register(helmet, HELMET);
    await docsPage(pages, host.view.config.name);
  });
  const large = { config: { access: { cost: LARGE_COST } } };
  const text = stringifyExact(document);
  app.get('/openapi.json', large, (_request, reply) => sendJson(reply, text));
  const feeds = stringifyExact(asyncApi(host.view.config.name));
  app.get('/asyncapi.json', large, (_request, reply) => sendJson(reply, feeds));
  app.get('/ws', (_request, reply) =>
    sendText(reply.header('upgrade', 'websocket'), MESSAGES.upgradeRequired),
  );
}

/** Framework errors before a handler runs, in the contract's form. */
function asRequestError(error: unknown): unknown {
  const { code, statusCode = 500 } = error as {
    readonly code?: string;
    readonly statusCode?: number;
  };
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new RequestError(MESSAGES.notJson);
    default:
      if (error instanceof RequestError || statusCode >= 500) return error;
      // A plugin rejected the request, such as a path outside its folder.
      return new RequestError(
        statusCode === 403 || statusCode === 404
          ? MESSAGES.routeNotFound
          : MESSAGES.malformedRequest,
      );
  }
}

/** Health for probes, and metrics. */
function operations(app: FastifyInstance, { host, metrics, servesMetrics }: ServerOptions): void {
  const probe = { config: { access: { rate: 'probe' } } } as const;
  app.get('/healthz', probe, (_request, reply) => sendBody(reply, { status: 'ok' }));
  app.get('/readyz', probe, (_request, reply) => {
    const { failure, replica } = host.exchange;
    if (replica === null) {
      if (failure !== null) return sendText(reply, MESSAGES.unavailable);
      return sendBody(reply, { status: 'ready', sequenceNumber: host.view.seq });
    }
    const { role, epoch, lagMs, leader } = replica;
    const sequenceNumber = host.view.seq;
    const isReady = role === 'follower' ? lagMs <= READY_LAG_MS : failure === null;
    if (!isReady) return sendText(reply, MESSAGES.unavailable);
    const facts = { role, epoch, sequenceNumber, lagMs: Math.ceil(lagMs), leader };
    return sendBody(reply, { status: 'ready', ...facts });
  });
  // For a load balancer that sends commands to the leader.
  app.get('/leaderz', probe, (_request, reply) => {
    if (host.exchange.failure !== null) return sendText(reply, MESSAGES.unavailable);
    return sendBody(reply, { status: 'ready', sequenceNumber: host.view.seq });
  });
  if (!servesMetrics) return;
  const scrape = { config: { access: { cost: LARGE_COST } } };
  app.get('/metrics', scrape, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
}
