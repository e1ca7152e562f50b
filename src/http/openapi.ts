/** Route schemas of the endpoint table, input of the OpenAPI 3.1 document. */
import { ENDPOINTS, PAGE_HEADERS, type Endpoint, type EndpointId } from '../contract/endpoints.ts';

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** One-line description of each status. */
const STATUSES = {
  400: 'Malformed, or rejected by a rule',
  401: 'Missing or invalid token',
  403: 'Not delegated, or a required signature is missing',
  404: 'Not found',
  408: 'Timed out',
  409: 'Nonce used, or clientId in use',
  413: 'Body too large',
  415: 'Body is not JSON',
  429: 'Too many requests; Retry-After gives the delay',
  500: 'Internal server error',
  503: 'Shutting down, or writes have stopped',
} as const;
const PUBLIC = [400, 404, 408, 429, 500, 503] as const;
const PRIVATE = [400, 401, 403, 404, 408, 429, 500, 503] as const;
const WRITES = [409, 413, 415] as const;

export function documentationOf(id: EndpointId): Record<string, unknown> {
  const endpoint: Endpoint = ENDPOINTS[id];
  const { summary, method, path, access, request } = endpoint;
  const { properties = {}, required = [] } = request as ObjectSchema;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const pick = (names: readonly string[]): Record<string, unknown> => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    required: required.filter((name) => names.includes(name)),
  });
  const inQuery = Object.keys(properties).filter((name) => !inPath.includes(name));
  return {
    operationId: id,
    summary,
    tags: [path.split('/')[1] ?? ''],
    ...(access === 'public' ? {} : { security: [{ bearer: [] }] }),
    ...(method === 'POST' ? { body: request } : { querystring: pick(inQuery) }),
    ...(inPath.length > 0 ? { params: pick(inPath) } : {}),
    response: responsesOf(endpoint),
  };
}

function responsesOf({ method, access, response, pages }: Endpoint): Record<string, unknown> {
  const statuses = [
    ...(access === 'public' ? PUBLIC : PRIVATE),
    ...(method === 'POST' ? WRITES : []),
  ];
  const errors = statuses.map((status) => [status, errorOf(STATUSES[status])] as const);
  return {
    200: {
      description: 'Done',
      ...response,
      ...(pages === undefined ? {} : { headers: LIST_HEADERS }),
    },
    ...Object.fromEntries(errors),
  };
}

/** An error body is its text as a JSON string. */
function errorOf(description: string): object {
  return { description, content: { 'text/plain': { schema: { type: 'string' } } } };
}

const LIST_HEADERS = {
  [PAGE_HEADERS.next]: {
    type: 'string',
    description:
      'Value of `cursor` for the next page, with the same parameters; absent on the last page',
  },
  [PAGE_HEADERS.keptSince]: {
    type: 'integer',
    description: 'Start of retention (ms); present if the requested range begins before it',
  },
};
