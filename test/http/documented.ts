/**
 * Validates answers against the OpenAPI document: the status is one of the operation's, the type is
 * the documented one, and JSON has the documented fields and no others.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApi } from '../../src/contract/openapi.ts';

type Json = Record<string, unknown>;
interface Operation {
  readonly responses: Readonly<
    Record<string, { $ref?: string; content?: Readonly<Record<string, { schema?: object }>> }>
  >;
}

const DOCUMENT = openApi({ title: 'Orrery', simulation: true, operator: true }) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Json };
};
/** Paths of which the document has a part of the fields only. */
const PARTIAL = ['/openapi.json', '/asyncapi.json'];
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'document', components: closed(DOCUMENT.components) as object });
const compiled = new Map<string, ValidateFunction>();
const routes = Object.entries(DOCUMENT.paths).map(([path, operations]) => ({
  path,
  operations,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}));

/** Throws if the document does not have this answer. */
export function mustBeDocumented(
  method: string,
  path: string,
  answer: { readonly status: number; readonly type: string; readonly text: string },
): void {
  const [bare = ''] = path.split('?', 1);
  const route = routes.find(({ pattern }) => pattern.test(bare));
  const operation = route?.operations[method.toLowerCase()];
  const { status, type, text } = answer;
  if (route === undefined || operation === undefined) {
    if (status === 200 && !bare.startsWith('/docs')) throw new Error(`${path} is not documented`);
    return;
  }
  const place = `${method} ${route.path} ${String(status)}`;
  const response = operation.responses[String(status)];
  if (response === undefined) throw new Error(`${place}: no such status in the document: ${text}`);
  if (response.$ref !== undefined) {
    const isText = type.startsWith('text/plain') && typeof JSON.parse(text) === 'string';
    if (!isText) throw new Error(`${place}: an error is text in JSON, not ${type}: ${text}`);
    return;
  }
  const [media = '', { schema } = {}] = Object.entries(response.content ?? {})[0] ?? [];
  if (!type.startsWith(media)) throw new Error(`${place}: ${type} is not ${media}`);
  if (schema === undefined) return;
  let check = compiled.get(place);
  if (check === undefined) {
    const strict = PARTIAL.includes(route.path) ? schema : (closed(schema) as object);
    check = ajv.compile(absolute(strict) as object);
    compiled.set(place, check);
  }
  if (check(JSON.parse(text))) return;
  throw new Error(`${place}: ${ajv.errorsText(check.errors)}: ${text.slice(0, 500)}`);
}

/** Objects with fields have no others. */
function closed(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const copy: Json = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = closed(value);
  if ('properties' in copy && !('additionalProperties' in copy))
    copy['additionalProperties'] = false;
  return absolute(copy);
}

/** References by the identity of the document. */
function absolute(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(absolute);
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string'
        ? value.replace(/^#/, 'document#')
        : absolute(value),
    ]),
  );
}
