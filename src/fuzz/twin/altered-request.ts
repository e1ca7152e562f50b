/**
 * A request with one field at a bound of its schema, just beyond it, of another type, missing, or
 * unknown. Bounds are those of the contract; the twin decides what is accepted.
 */
import { ENDPOINTS, type Endpoint, type EndpointId } from '../../contract/endpoints.ts';
import type { Dice } from '../dice.ts';

interface Schema {
  readonly type?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

type Request = Readonly<Record<string, unknown>>;

/** A nonce at a bound would refuse all later requests of its account. */
const KEPT = ['nonce', 'signatures'];
const LONGEST_TEXT = 64;

export function alteredRequest(endpoint: EndpointId, request: Request, dice: Dice): Request {
  const { request: schema, path, method, signedBy } = ENDPOINTS[endpoint] as Endpoint;
  const { properties = {} } = schema as Schema;
  // A path with another parameter is another route.
  const names = Object.keys(properties).filter(
    (name) => !KEPT.includes(name) && !path.includes(`{${name}}`),
  );
  const { orders } = request as { readonly orders?: readonly Request[] };
  if (endpoint === 'submitOrders' && orders !== undefined && orders.length > 0) {
    const place = dice.below(orders.length);
    const altered = alteredRequest('submitOrder', orders[place] ?? {}, dice);
    // A client cannot sign fields of wrong types.
    return {
      ...request,
      orders: orders.with(place, altered).map((order) => ({ ...order, signatures: ['0x'] })),
    };
  }
  const altered = alteredField(request, properties, names, method, dice);
  return signedBy === 'none' ? altered : { ...altered, signatures: ['0x'] };
}

function alteredField(
  request: Request,
  properties: Readonly<Record<string, Schema>>,
  names: readonly string[],
  method: Endpoint['method'],
  dice: Dice,
): Request {
  if (names.length === 0 || dice.chance(80)) return { ...request, unknownField: '1' };
  const name = dice.pick(names);
  const field = properties[name] ?? {};
  const old = request[name];
  if (old !== undefined && dice.chance(100)) {
    return Object.fromEntries(Object.entries(request).filter(([other]) => other !== name));
  }
  const value = dice.pick(valuesAt(field, old));
  // A query has text only.
  const isText = method !== 'POST';
  return { ...request, [name]: isText && value !== null ? textOf(value) : value };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'bigint' ? String(value) : JSON.stringify(value);

function valuesAt(field: Schema, old: unknown): readonly unknown[] {
  const schema = field.anyOf?.find(({ type }) => type !== 'null') ?? field;
  const { type, minimum = 0, maximum = 2 ** 31 - 1, minLength = 0 } = schema;
  const foreign = type === 'string' ? [0, true, {}] : ['', 'x', {}];
  if (type === 'integer' || type === 'number') {
    const bounds = [minimum - 1, minimum, minimum + 1, maximum - 1, maximum, maximum + 1];
    return [...bounds, 0.5, 2n ** 53n, -(2 ** 31), ...foreign];
  }
  if (type === 'boolean') return [true, false, 0, 'true', ...foreign];
  if (type === 'array') {
    const { maxItems = 16 } = schema;
    return [[], Array(maxItems).fill('0x'), Array(maxItems + 1).fill('0x'), ...foreign];
  }
  if (type !== 'string') return [null, {}, ...foreign];
  const longest = schema.maxLength ?? LONGEST_TEXT;
  const texts = [minLength, longest, longest + 1].map((length) => '7'.repeat(length));
  const changed =
    typeof old === 'string' && old !== ''
      ? [old.toUpperCase(), old.slice(0, -1), `${old}0`, ` ${old}`, `-${old}`, `${old}.0`]
      : [];
  return [...texts, ...changed, '-0', '1e3', '0.', '\u00e9', ...foreign];
}
