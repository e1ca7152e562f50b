/**
 * Builds the request of a step from its `with` and defaults, so that a scenario contains only
 * relevant fields. Required fields come from the API schemas; the defaults are listed below.
 *
 * A plain number is sent as its source text if the API field is text, and as an integer if it is an
 * integer.
 */
import { ENDPOINTS, type EndpointId } from '../contract/endpoints.ts';
import { ZERO_ADDRESS } from '../gateway/encode.ts';
import type { MapNode, SourceNode } from './source-node.ts';

/** Later than any time the exchange can represent, so it means never. */
const NEVER_MS = 9_007_199_254_740_991;

/** Keys with an address, in which an account name is replaced by its address. */
const ADDRESS_KEYS: ReadonlySet<string> = new Set([
  'account',
  'accountFrom',
  'accountTo',
  'counterpartyAccount',
  'delegate',
  'originator',
  'signers',
  'target',
]);

export const isAddressKey = (key: string | null): boolean => key !== null && ADDRESS_KEYS.has(key);

export interface RequestContext {
  /** Address of the caller; null for a request without an account. */
  readonly caller: string | null;
  /** Symbol of the scenario's only market. */
  readonly onlySymbol: string | null;
  readonly cashFeedId: string;
  /** Value of a text under a key: a saved value, an account's address, or itself. */
  readonly resolve: (text: string, key: string | null) => unknown;
  readonly nonces: NonceCounter;
}

/** Next unused nonce of each scope: 1, 2, 3 … or one above the highest written in the scenario. */
export class NonceCounter {
  private readonly highest = new Map<string, bigint>();

  next(scope: string): number | bigint {
    const nonce = (this.highest.get(scope) ?? 0n) + 1n;
    this.highest.set(scope, nonce);
    return exactInteger(nonce);
  }

  saw(scope: string, nonce: unknown): void {
    if (typeof nonce !== 'number' && typeof nonce !== 'bigint') return;
    const written = BigInt(nonce);
    if (written > (this.highest.get(scope) ?? 0n)) this.highest.set(scope, written);
  }
}

export function buildRequest(
  endpoint: EndpointId,
  written: MapNode | null,
  context: RequestContext,
): unknown {
  // TypeBox schemas are JSON Schema; only the keywords of `Schema` are used.
  const schema = ENDPOINTS[endpoint].request as Schema;
  return build(written ?? undefined, schema, null, context);
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** `node` undefined: the field is omitted and only the schema's defaults apply. */
function build(
  node: SourceNode | undefined,
  schema: Schema | undefined,
  key: string | null,
  context: RequestContext,
): unknown {
  if (node === undefined) return withDefaults({}, schema, context);
  switch (node.kind) {
    case 'scalar':
      if (node.type === 'null') return null;
      if (node.type === 'boolean') return node.text === 'true';
      if (node.type === 'number') return buildNumber(node.text, schema);
      return context.resolve(node.text, key);
    case 'list':
      return node.items.map((item) => build(item, itemsOf(schema), key, context));
    case 'map': {
      const fields = [...node.entries].map(([name, { value }]): [string, unknown] => [
        name,
        build(value, propertyOf(objectOf(schema), name), name, context),
      ]);
      return withDefaults(Object.fromEntries(fields), objectOf(schema), context);
    }
  }
}

function buildNumber(text: string, schema: Schema | undefined): unknown {
  const wanted = [schema, ...(schema?.anyOf ?? [])].map((option) => option?.type);
  return wanted.includes('integer') && /^-?\d+$/.test(text) ? exactInteger(BigInt(text)) : text;
}

/** Fills omitted required fields; the nonce last, because its scope is the request's account. */
function withDefaults(
  explicit: Record<string, unknown>,
  schema: Schema | undefined,
  context: RequestContext,
): Record<string, unknown> {
  const fields = explicit;
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    if (Object.hasOwn(fields, name)) continue;
    const isRequired = schema?.required?.includes(name) === true;
    if (!isRequired && name !== 'account') continue;
    const value = defaultOf(name, property, context);
    if (value !== undefined) fields[name] = value;
  }
  if (schema?.properties?.['nonce'] === undefined) return fields;
  const owner = String(fields['account'] ?? fields['target']);
  const isOrder = schema.properties['orderType'] !== undefined;
  const scope = isOrder ? `${owner}/${String(fields['subaccountIndex'])}` : owner;
  if (Object.hasOwn(fields, 'nonce')) context.nonces.saw(scope, fields['nonce']);
  else fields['nonce'] = context.nonces.next(scope);
  return fields;
}

function defaultOf(name: string, schema: Schema, context: RequestContext): unknown {
  switch (name) {
    case 'account':
    case 'accountFrom':
    case 'accountTo':
    case 'target':
      return context.caller ?? undefined;
    case 'subaccountIndex':
    case 'subaccountIndexFrom':
    case 'subaccountIndexTo':
    case 'originatorFee':
      return 0;
    case 'symbol':
      return context.onlySymbol ?? undefined;
    case 'feedId':
      return context.cashFeedId;
    case 'orderType':
      return 'limit';
    case 'originator':
      return ZERO_ADDRESS;
    case 'expiresAt':
      return NEVER_MS;
    case 'signatures':
      return [];
    case 'flags':
      return build(undefined, schema, name, context);
    case 'ioc':
    case 'postOnly':
    case 'reduceOnly':
      return false;
    default:
      return undefined;
  }
}

const propertyOf = (schema: Schema | undefined, name: string): Schema | undefined =>
  schema?.properties !== undefined && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined;

/** The object schema among the alternatives of a nullable field. */
const objectOf = (schema: Schema | undefined): Schema | undefined =>
  schema?.anyOf?.find(({ type }) => type === 'object') ?? schema;

const itemsOf = (schema: Schema | undefined): Schema | undefined =>
  schema?.items ?? schema?.anyOf?.find(({ type }) => type === 'array')?.items;

function exactInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
