/**
 * The contract over HTTP: a route an endpoint, made from the endpoint table, with its documentation. A request is taken in the order of
 * size and JSON, token, rate, then the gateway. Everything that a reply may show is on disk before it is sent.
 */
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, { LogController, type FastifyInstance, type FastifyRequest } from 'fastify';
import {
  ENDPOINT_IDS,
  ENDPOINTS,
  PAGE_HEADERS,
  type Endpoint,
  type EndpointId,
} from '../contract/endpoints.ts';
import { badJson, MESSAGES, type ErrorReply } from '../contract/messages.ts';
import type { Reply } from '../gateway/context.ts';
import { RequestError } from '../gateway/request-error.ts';
import { parseExact, stringifyExact } from './exact-json.ts';
import type { Faults } from './faults.ts';
import { asyncApi } from './feeds/asyncapi.ts';
import { FeedServer } from './feeds/feed-server.ts';
import type { Host } from './host.ts';
import type { Metrics } from './metrics.ts';
import { RateLimit } from './rate-limit.ts';
import { sendBody, sendError, sendPage, sendText } from './replies.ts';
import { simRoutes } from './sim-routes.ts';
import type { WalletAuth } from './wallet-auth.ts';

const BODY_BYTES = 1_048_576;
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;

export interface ServerOptions {
  readonly host: Host;
  readonly auth: WalletAuth;
  readonly faults: Faults;
  readonly metrics: Metrics;
  /** null: no limit. */
  readonly requestsPerSecond: number | null;
  readonly simToken: string | null;
  readonly logLevel: string;
  /** null: no other origin may call. */
  readonly corsOrigin: string | null;
}

export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logger: options.logLevel === 'silent' ? false : { level: options.logLevel },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : crypto.randomUUID();
    },
  });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => stringifyExact);
  readBodies(app);
  app.addHook('onSend', (request, reply, _payload, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    options.metrics.answered(route, reply.statusCode, reply.elapsedTime);
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
  app.setErrorHandler((error, _request, reply) => sendError(reply, asRequestError(error)));
  app.setNotFoundHandler((_request, reply) => sendText(reply, MESSAGES.routeNotFound));

  if (options.corsOrigin !== null) {
    const exposedHeaders = [...Object.values(PAGE_HEADERS), 'x-request-id', 'retry-after'];
    await app.register(cors, { origin: options.corsOrigin, exposedHeaders });
  }
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: `${options.host.view.config.name} API`, version: '1' },
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
    },
  });
  // What browsers show gets the headers for it; records need one of them.
  await app.register(async (pages) => {
    await pages.register(helmet);
    await pages.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  });
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  const feedDocument = asyncApi(options.host.view.config.name);
  app.get('/asyncapi.json', { schema: { hide: true } }, () => feedDocument);
  operations(app, options);
  const limit =
    options.requestsPerSecond === null ? null : new RateLimit(options.requestsPerSecond);
  contractRoutes(app, options, limit);
  const { simToken: token, host, faults } = options;
  if (token !== null) simRoutes(app, { host, faults, token });
  const feeds = new FeedServer(app.server, { host, auth: options.auth, limit });
  options.metrics.countConnections(() => feeds.connections);
  app.addHook('preClose', (done) => {
    feeds.close();
    done();
  });
  await app.ready();
  return app;
}

/** Bodies are UTF-8 JSON with exact integers; nothing else is read. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request, body: Buffer, done) => {
      try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
        done(null, text === '' ? undefined : parseExact(text));
      } catch (error) {
        done(new RequestError(badJson((error as Error).message)));
      }
    },
  );
}

/** Faults that the framework finds before a handler runs, in the contract's form. */
function asRequestError(error: unknown): unknown {
  switch ((error as { readonly code?: string }).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new RequestError(MESSAGES.bodyTooLarge);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new RequestError(MESSAGES.notJson);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new RequestError(badJson('its length is not what was announced'));
    default:
      return error;
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
  const take = takerOf(options, limit);
  for (const id of ENDPOINT_IDS) {
    const { method, path } = ENDPOINTS[id];
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      schema: schemaOf(id),
      handler: (request, reply) => {
        take(id, request).then(
          ({ status, body, page }) => {
            if (status !== 200) return sendText(reply, { status, message: String(body) });
            return page === undefined ? sendBody(reply, body) : sendPage(reply, body, page);
          },
          (error: unknown) => sendError(reply, error),
        );
      },
    });
  }
}

type Take = (id: EndpointId, request: FastifyRequest) => Promise<Reply>;

/** What an endpoint answers to a request; throws `RequestError`. */
function takerOf({ host, auth, faults }: ServerOptions, limit: RateLimit | null): Take {
  const authorise = async ({ access }: Endpoint, request: FastifyRequest) => {
    if (access === 'public') return null;
    const header = request.headers.authorization;
    if (header === undefined) throw new RequestError(MESSAGES.missingToken);
    const token = /^Bearer ([\w.-]+)$/i.exec(header)?.[1];
    if (token === undefined) throw new RequestError(MESSAGES.invalidToken);
    return auth.verify(token);
  };

  return async (id, request) => {
    const struck = faultOf(faults, id);
    if (struck !== null) throw new RequestError(struck);
    const delayMs = faults.delayMs();
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const endpoint: Endpoint = ENDPOINTS[id];
    const known = await authorise(endpoint, request);
    const account = known === null ? `ip ${request.ip}` : known.caller.account;
    if (limit?.accepts(account, host.nowUs()) === false) {
      throw new RequestError(MESSAGES.tooManyRequests);
    }
    const input = inputOf(endpoint, request);
    if (id === 'getAuth') return { status: 200, body: auth.challenge(input) };
    if (id === 'postAuth') return { status: 200, body: await auth.login(input) };
    if (id === 'getClaims' && known !== null) {
      // A token whose wallet may not act any more is none (R-9.5a); any read of the gateway says so.
      const check = await host.handle('getClsHistory', { limit: 1 }, known.caller);
      return check.status === 200 ? { status: 200, body: known.claims } : check;
    }
    return host.handle(id, input, known?.caller ?? null);
  };
}

function faultOf(faults: Faults, id: EndpointId): ErrorReply | null {
  if (faults.strikes('unavailable')) return MESSAGES.unavailable;
  if (faults.strikes('rateLimit')) return MESSAGES.tooManyRequests;
  if (id === 'getAuth' && faults.strikes('timeout')) return MESSAGES.requestTimedOut;
  return null;
}

/** Query and path parameters, or the body, as one object. */
function inputOf({ method }: Endpoint, request: FastifyRequest): unknown {
  if (method === 'POST') return request.body ?? {};
  return { ...(request.query as object), ...(request.params as object) };
}

/** A list's documentation with its headers. */
function listResponse(response: object): object {
  return {
    ...response,
    headers: {
      [PAGE_HEADERS.next]: {
        type: 'string',
        description:
          'Give it as `cursor` with the same parameters for the next page; absent on the last',
      },
      [PAGE_HEADERS.keptSince]: {
        type: 'integer',
        description:
          'Entries before this time (ms) are not kept any more, and the request reaches further back',
      },
    },
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** The documentation of a route. */
function schemaOf(id: EndpointId): Record<string, unknown> {
  const { summary, method, path, access, request, response, pages } = ENDPOINTS[id] as Endpoint;
  const { properties = {}, required = [] } = request as ObjectSchema;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const pick = (names: readonly string[]): Record<string, unknown> => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    required: required.filter((name) => names.includes(name)),
  });
  const inQuery = Object.keys(properties).filter((name) => !inPath.includes(name));
  const error = { type: 'string', description: 'What is wrong, as a JSON string' };
  return {
    operationId: id,
    summary,
    tags: [path.split('/')[1] ?? ''],
    ...(access === 'public' ? {} : { security: [{ bearer: [] }] }),
    ...(method === 'POST' ? { body: request } : { querystring: pick(inQuery) }),
    ...(inPath.length > 0 ? { params: pick(inPath) } : {}),
    response: {
      200: pages === undefined ? response : listResponse(response),
      400: error,
      401: error,
      403: error,
      404: error,
      429: error,
    },
  };
}
