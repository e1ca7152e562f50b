/**
 * The OpenAPI 3.1 document of a server, from the tables of endpoints, control routes and messages.
 * Records and requests with a name are components; a schema refers to them by identity.
 */
import type { Schema } from './schema-types.ts';
import { AuditRecord, CONTROL_ROUTES, type ControlRoute } from './control-routes.ts';
import { ENDPOINT_IDS, ENDPOINTS, PAGE_HEADERS, type Endpoint } from './endpoints.ts';
import { MESSAGES } from './messages.ts';
import * as S from './schemas.ts';
import { LOGIN_GUIDE, SIGNING_VECTORS } from './signing-guide.ts';
import { ORDER_TYPE_WORDS } from './words.ts';

type Json = Readonly<Record<string, unknown>>;

const COMPONENTS: Readonly<Record<string, Schema>> = {
  Order: S.OrderRecord,
  OrderRequest: S.OrderRequest,
  AttachedTrigger: S.AttachedTrigger,
  CancelRequest: S.BatchCancelRequest,
  CancelResult: S.BatchCancelResponse,
  OrderList: S.FilterResponse,
  AuthMessage: S.AuthMessage,
  AuthChallenge: S.AuthChallenge,
  Claims: S.Claims,
  Token: S.TokenRecord,
  Balance: S.BalanceRecord,
  Stats: S.StatsRecord,
  Transfer: S.TransferRecord,
  TransferRequest: S.TransferRequest,
  MaxTransfer: S.MaxTransferRecord,
  Delegate: S.DelegateRecord,
  DelegateRequest: S.DelegateRequest,
  Signers: S.SignersRecord,
  SignersRequest: S.SignersRequest,
  Margin: S.MarginRecord,
  MarginRequest: S.MarginRequest,
  Position: S.PositionRecord,
  VaultSnapshot: S.ClsSnapshot,
  Summary: S.SummaryRecord,
  Price: S.PriceRecord,
  MarkComposition: S.MarkCompositionRecord,
  Candle: S.CandleRecord,
  Trade: S.TradeRecord,
  Level: S.LevelRecord,
  Book: S.BookRecord,
  MarginTier: S.TierRecord,
  FundingTerms: S.FundingRecord,
  Market: S.MarketRecord,
  Config: S.ConfigRecord,
  Time: S.TimeRecord,
  Message: S.MessageRecord,
  AuditEntry: AuditRecord,
};
/** The server accepts these in any case; a document of patterns would hide the words. */
const ORDER_TYPE = { type: 'string', enum: ORDER_TYPE_WORDS.slice(1) };

/** One-line description of each status. */
const STATUSES = {
  400: 'Malformed, or rejected by a rule',
  401: 'Missing or invalid token, or a used login',
  403: 'Not delegated, or a signature is invalid or missing',
  404: 'Not found',
  408: 'Timed out',
  409: 'Nonce or reference used, or clientId in use',
  413: 'Body too large',
  415: 'Body is not JSON',
  429: 'Too many requests or new accounts; Retry-After gives the delay in seconds',
  431: 'Request headers too large',
  500: 'Internal server error',
  503: 'Shutting down, or writes have stopped',
} as const;
type Status = keyof typeof STATUSES;
const ALWAYS: readonly Status[] = [400, 404, 408, 413, 415, 429, 431, 500, 503];

export interface DocumentOptions {
  readonly title: string;
  /** Without their tokens these routes do not exist. */
  readonly simulation: boolean;
  readonly operator: boolean;
  /** Whether `/metrics` is served with the API; default true. */
  readonly metrics?: boolean;
}

export function openApi({ title, simulation, operator, metrics = true }: DocumentOptions): Json {
  const names = new Map<object, string>(
    Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]),
  );
  const paths: Record<string, Record<string, Json>> = {};
  const add = (path: string, method: string, operation: Json): void => {
    (paths[path] ??= {})[method.toLowerCase()] = operation;
  };
  for (const id of ENDPOINT_IDS) {
    const endpoint: Endpoint = ENDPOINTS[id];
    add(endpoint.path, endpoint.method, operationOf(id, endpoint, names));
  }
  for (const route of CONTROL_ROUTES) {
    if (route.scheme === 'simulation' && !simulation) continue;
    if (route.scheme === 'operator' && !operator) continue;
    if (route.id === 'metrics' && !metrics) continue;
    add(route.path, route.method, controlOperation(route, names));
  }
  const schemas: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(COMPONENTS)) schemas[name] = inside(schema, names);
  const responses: Record<string, Json> = {};
  for (const status of Object.keys(STATUSES)) {
    responses[`Error${status}`] = errorOf(Number(status) as Status);
  }
  return {
    openapi: '3.1.0',
    info: { title: `${title} API`, version: '1', description: LOGIN_GUIDE },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas,
      responses,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        simulation: { type: 'http', scheme: 'bearer' },
        operator: { type: 'http', scheme: 'bearer' },
      },
    },
    'x-signing-vectors': SIGNING_VECTORS,
  };
}

function operationOf(
  id: string,
  { summary, method, path, access, signedBy, request, response, pages }: Endpoint,
  names: ReadonlyMap<object, string>,
): Json {
  const isLogin = id === 'postAuth';
  const statuses: Status[] = [
    ...ALWAYS,
    ...(access === 'public' && !isLogin ? [] : ([401, 403] as const)),
    ...(signedBy === 'none' ? [] : ([409] as const)),
  ];
  return {
    operationId: id,
    summary,
    tags: [path.split('/')[1] ?? ''],
    security: access === 'public' ? [] : [{ bearer: [] }],
    ...inputOf(method, path, request, names),
    responses: {
      200: {
        description: 'Done',
        content: { 'application/json': { schema: named(response, names) } },
        ...(pages === undefined ? {} : { headers: LIST_HEADERS }),
      },
      ...errorsOf(statuses),
    },
  };
}

function controlOperation(route: ControlRoute, names: ReadonlyMap<object, string>): Json {
  const { id, summary, method, path, scheme, request, response, pages } = route;
  const tag =
    scheme === 'none' ? 'server' : scheme === 'bearer' ? (path.split('/')[1] ?? '') : scheme;
  const content =
    typeof response === 'string'
      ? { [response]: {} }
      : { 'application/json': { schema: named(response, names) } };
  return {
    operationId: id,
    summary,
    tags: [tag],
    security: scheme === 'none' ? [] : [{ [scheme]: [] }],
    ...inputOf(method, path, request, names),
    responses: {
      200: {
        description: 'Done',
        content,
        ...(pages === undefined ? {} : { headers: LIST_HEADERS }),
      },
      ...errorsOf([...ALWAYS, ...(scheme === 'none' ? [] : ([401, 403, 409] as const))]),
    },
  };
}

/** Body of a POST, and parameters in path and query. */
function inputOf(
  method: string,
  path: string,
  request: Schema | null,
  names: ReadonlyMap<object, string>,
): Json {
  const { properties = {}, required = [] } = (request ?? {}) as {
    readonly properties?: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inQuery = method === 'POST' ? [] : Object.keys(properties);
  const parameters = [
    ...inPath.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: named(properties[name] ?? S.Symbol, names),
    })),
    ...inQuery
      .filter((name) => !inPath.includes(name))
      .map((name) => ({
        name,
        in: 'query',
        required: required.includes(name),
        // Empty as absent: all subaccounts.
        ...(name === 'subaccountIndex' && !required.includes(name)
          ? { allowEmptyValue: true }
          : {}),
        schema: named(properties[name] ?? {}, names),
      })),
  ];
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(method !== 'POST' || request === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: named(request, names) } },
          },
        }),
  };
}

/** The schema, or a reference to its component. */
function named(schema: object, names: ReadonlyMap<object, string>): unknown {
  const name = names.get(schema);
  return name === undefined ? inside(schema, names) : { $ref: `#/components/schemas/${name}` };
}

/** The schema with references in place of the components inside it. */
function inside(schema: object, names: ReadonlyMap<object, string>): unknown {
  if (schema === S.OrderTypeText) return ORDER_TYPE;
  const change = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? named(value, names) : value;
  if (Array.isArray(schema)) return schema.map(change);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, change(value)]));
}

function errorsOf(statuses: readonly Status[]): Json {
  const sorted = [...new Set(statuses)].sort((a, b) => a - b);
  return Object.fromEntries(
    sorted.map((status) => [
      String(status),
      { $ref: `#/components/responses/Error${String(status)}` },
    ]),
  );
}

/** An error body is its text as a JSON string. Texts without parameters are listed. */
function errorOf(status: Status): Json {
  const texts = Object.values(MESSAGES).filter((one) => one.status === status);
  const examples: Record<string, Json> = {};
  for (const [i, { message }] of texts.entries()) {
    examples[`text${String(i + 1)}`] = { value: JSON.stringify(message) };
  }
  return {
    description: STATUSES[status],
    content: {
      'text/plain': { schema: { type: 'string' }, examples },
    },
  };
}

const LIST_HEADERS = {
  [PAGE_HEADERS.next]: {
    description:
      'Value of `cursor` for the next page, with the same parameters; absent on the last page',
    schema: { type: 'string' },
  },
  [PAGE_HEADERS.keptSince]: {
    description: 'Start of retention (ms); present if the requested range begins before it',
    schema: { type: 'integer', format: 'int64' },
  },
};
