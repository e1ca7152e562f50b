/**
 * The contract over HTTP: one route per endpoint, generated from the endpoint table with its
 * documentation. Checks follow: size and JSON, token, rate, then the gateway. Every reply is
 * sent after the state it shows is durable.
 */
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import swagger from '@fastify/swagger';
import Fastify, { LogController, type FastifyInstance, type FastifyRequest } from 'fastify';
import {
  ENDPOINT_IDS,
  ENDPOINTS,
  PAGE_HEADERS,
  type Endpoint,
  type EndpointId,
} from '../contract/endpoints.ts';
import { badJson, MESSAGES } from '../contract/messages.ts';
import type { Reply } from '../gateway/context.ts';
import { Fields } from '../gateway/fields.ts';
import type { Keccak } from '../gateway/ports.ts';
import { RequestError } from '../gateway/request-error.ts';
import { clientAddress } from './client-address.ts';
import { ConnectionLimit } from './connections.ts';
import { parseExact, stringifyExact } from '../contract/exact-json.ts';
import { docsPage } from './docs-page.ts';
import type { Faults } from './injected-faults.ts';
import { asyncApi } from '../contract/asyncapi.ts';
import { FeedServer } from './feeds/feed-server.ts';
import type { Host } from './exchange-host.ts';
import { answerMalformed } from './malformed.ts';
import type { Metrics } from './server-metrics.ts';
import { documentationOf } from './openapi.ts';
import { operatorRoutes } from './operator-routes.ts';
import { callerOfAddress, RateLimit } from './rate-limit.ts';
import { sendBody, sendError, sendPage, sendText } from './replies.ts';
import { simRoutes } from './sim-routes.ts';
import type { WalletAuth } from './wallet-auth.ts';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const KEEP_ALIVE_MS = 65_000;
const PREFLIGHT_S = 600;
/** Log levels that include requests. */
const LOGGED = ['info', 'debug', 'trace'];
/** No TLS here, so no directive upgrades requests; a TLS proxy sets its own headers. */
const HELMET = {
  strictTransportSecurity: false,
  contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
} as const;

/** Resource limits per client; the defaults suit the open internet. */
export interface ServerLimits {
  /** Open connections, feeds included. */
  readonly connections: number;
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** From the first to the last byte of a request. */
  readonly requestMs: number;
  /** Max unsent bytes of all feed clients together; beyond it the slowest readers are closed. */
  readonly backlogBytes: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  connections: 10_000,
  bodyBytes: 1_048_576,
  headerBytes: 16_384,
  requestMs: 10_000,
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
  readonly browsers: BrowserOptions;
  readonly limits?: Partial<ServerLimits>;
  /** Proxies whose `x-forwarded-for` is trusted, for a rate limit by address behind one. */
  readonly trustProxy?: readonly string[];
}

export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const app = openFastify(options, limits);
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => stringifyExact);
  readBodies(app);
  observe(app, options);
  app.setErrorHandler((error, _request, reply) => sendError(reply, asRequestError(error)));
  app.setNotFoundHandler((_request, reply) => sendText(reply, MESSAGES.routeNotFound));
  await documentation(app, options);
  const connections = new ConnectionLimit(app.server, limits.connections);
  operations(app, options);
  const { requestsPerSecond } = options.host;
  const limit = requestsPerSecond === null ? null : new RateLimit(requestsPerSecond);
  contractRoutes(app, options, limit);
  const { simToken: token, host, faults, metrics } = options;
  if (token !== null) simRoutes(app, { host, faults, token });
  if (options.operator !== null) operatorRoutes(app, { host, ...options.operator });
  const feeds = new FeedServer(app.server, {
    host,
    auth: options.auth,
    faults,
    limit,
    simToken: token,
    metrics,
    addressOf: clientAddress(options.trustProxy ?? []),
    backlogBytes: limits.backlogBytes,
    onError: (error) => {
      app.log.error({ err: error }, 'feed request failed');
    },
  });
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
  { logLevel, trustProxy = [] }: ServerOptions,
  limits: ServerLimits,
): FastifyInstance {
  return Fastify({
    // Standard output is for results; logs go to standard error.
    logger: logLevel === 'silent' ? false : { level: logLevel, stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines carry the request id; a child logger would cost more than most requests.
    childLoggerFactory: (logger) => logger,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.ceil(limits.requestMs / 5),
    },
    routerOptions: { maxParamLength: limits.headerBytes, ignoreTrailingSlash: true },
    clientErrorHandler: answerMalformed,
    frameworkErrors: (_error, _request, reply) => {
      sendText(reply, MESSAGES.malformedRequest);
    },
    genReqId: (request) => {
      const id = request.headers['x-request-id'];
      return typeof id === 'string' && REQUEST_ID.test(id) ? id : crypto.randomUUID();
    },
  });
}

/** Request ids, metrics, request log, and rejection of requests after shutdown starts. */
function observe(app: FastifyInstance, { metrics }: ServerOptions): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  const logs = LOGGED.includes(app.log.level);
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    metrics.answered(route, reply.statusCode, reply.elapsedTime);
    if (logs) {
      const { method, ip } = request;
      const ms = Math.round(reply.elapsedTime * 1000) / 1000;
      request.log.info(
        { reqId: request.id, method, route, status: reply.statusCode, ms, ip },
        'answered',
      );
    }
    done();
  });
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.addHook('onRequest', (_request, reply, done) => {
    if (closing) sendText(reply, MESSAGES.shuttingDown);
    else done();
  });
}

/** API documents, their page, and security headers. */
async function documentation(
  app: FastifyInstance,
  { browsers, host }: ServerOptions,
): Promise<void> {
  const { origins, securityHeaders } = browsers;
  if (origins.length > 0) {
    await app.register(cors, {
      origin: origins.includes('*') ? '*' : [...origins],
      methods: ['GET', 'POST', 'DELETE'],
      allowedHeaders: ['authorization', 'content-type', 'x-request-id'],
      exposedHeaders: [...Object.values(PAGE_HEADERS), 'x-request-id', 'retry-after'],
      maxAge: PREFLIGHT_S,
    });
  }
  if (securityHeaders === 'all') await app.register(helmet, HELMET);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: `${host.view.config.name} API`, version: '1' },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          simulation: { type: 'http', scheme: 'bearer' },
          operator: { type: 'http', scheme: 'bearer' },
        },
      },
    },
  });
  // Documentation pages get security headers; JSON records need only one of them.
  await app.register(async (pages) => {
    if (securityHeaders === 'pages') await pages.register(helmet, HELMET);
    await docsPage(pages);
  });
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  const feeds = asyncApi(host.view.config.name);
  app.get('/asyncapi.json', { schema: { hide: true } }, () => feeds);
  app.get('/ws', { schema: { hide: true } }, (_request, reply) =>
    sendText(reply.header('upgrade', 'websocket'), MESSAGES.upgradeRequired),
  );
}

/** Accepts UTF-8 JSON bodies with exact integers only. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      const { 'content-encoding': encoding = 'identity' } = request.headers;
      if (encoding !== 'identity') {
        done(new RequestError(MESSAGES.encodingNotOffered));
        return;
      }
      try {
        const text = UTF8.decode(body);
        done(null, text === '' ? undefined : parseExact(text));
      } catch (error) {
        done(new RequestError(badJson((error as Error).message)));
      }
    },
  );
}

/** Framework errors before a handler runs, in the contract's form. */
function asRequestError(error: unknown): unknown {
  const { code, statusCode = 500 } = error as {
    readonly code?: string;
    readonly statusCode?: number;
  };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new RequestError(MESSAGES.bodyTooLarge);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new RequestError(MESSAGES.notJson);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new RequestError(badJson('its length differs from Content-Length'));
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

function operations(app: FastifyInstance, { host, metrics }: ServerOptions): void {
  app.get('/healthz', { schema: { hide: true } }, (_request, reply) =>
    sendBody(reply, { status: 'ok' }),
  );
  app.get('/readyz', { schema: { hide: true } }, (_request, reply) => {
    const { failure } = host.exchange;
    if (failure !== null) return sendText(reply, MESSAGES.unavailable);
    return sendBody(reply, { status: 'ready', sequenceNumber: host.view.seq });
  });
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
}

function contractRoutes(
  app: FastifyInstance,
  options: ServerOptions,
  limit: RateLimit | null,
): void {
  const take = createHandler(options, limit);
  for (const id of ENDPOINT_IDS) {
    const { method, path } = ENDPOINTS[id];
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      schema: documentationOf(id),
      handler: (request, reply) => {
        take(id, request).then(
          ({ status, body, page }) => {
            if (options.faults.dropsReply(id)) return request.raw.destroy();
            if (status !== 200) return sendText(reply, { status, message: String(body) });
            return page === undefined ? sendBody(reply, body) : sendPage(reply, body, page);
          },
          (error: unknown) => sendError(reply, error),
        );
      },
    });
  }
}

type Handle = (id: EndpointId, request: FastifyRequest) => Promise<Reply>;

/** Handler of an endpoint; throws `RequestError`. */
function createHandler({ host, auth, faults }: ServerOptions, limit: RateLimit | null): Handle {
  const authorise = async ({ access }: Endpoint, request: FastifyRequest) => {
    if (access === 'public') return null;
    const header = request.headers.authorization;
    if (header === undefined) throw new RequestError(MESSAGES.missingToken);
    const token = /^Bearer ([\w.-]+)$/i.exec(header)?.[1];
    if (token === undefined) throw new RequestError(MESSAGES.invalidToken);
    return auth.verify(token);
  };

  return async (id, request) => {
    const injected = faults.inject(id);
    if (injected !== null) await injected;
    const endpoint: Endpoint = ENDPOINTS[id];
    const known = await authorise(endpoint, request);
    const account = known === null ? callerOfAddress(request.ip) : known.caller.account;
    if (limit?.accepts(account, host.nowUs()) === false) {
      throw new RequestError(MESSAGES.tooManyRequests);
    }
    const input = inputOf(endpoint, request);
    if (id === 'getAuth') return { status: 200, body: auth.challenge(input) };
    if (id === 'postAuth') return { status: 200, body: await auth.login(input) };
    if (id === 'getClaims' && known !== null) {
      new Fields(input, [], true);
      // A token whose wallet lost its rights is invalid (R-9.5a); any read checks that.
      const check = await host.handle('getClsHistory', { limit: 1 }, known.caller);
      return check.status === 200 ? { status: 200, body: known.claims } : check;
    }
    const verified = host.verifyAhead(id, input);
    if (verified !== null) await verified;
    return host.handle(id, input, known?.caller ?? null);
  };
}

/** Query and path parameters, or the body, as one object. */
function inputOf({ method }: Endpoint, request: FastifyRequest): unknown {
  if (method === 'POST') return request.body ?? {};
  return { ...(request.query as object), ...(request.params as object) };
}
