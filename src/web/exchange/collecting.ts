/**
 * Requests that need signatures of several wallets. A request is text that one signer hands to the
 * next; each adds a signature, and whoever completes the quorum sends it. The text holds nothing
 * secret. It has the contract's fields and no others, so a signer sees exactly what is signed.
 */
import { signal } from '@preact/signals';
import { ENDPOINTS, type EndpointId } from '../../contract/endpoints.ts';
import { fitsSchema } from './fits-schema.ts';
import type { Config } from './markets.ts';
import { plainSignature, signerOf, type Struct } from './wallet.ts';

export type Body = Readonly<Record<string, unknown>>;

/** The struct that is signed, by endpoint. */
export const STRUCTS: Readonly<Partial<Record<EndpointId, Struct>>> = {
  submitOrder: 'Order',
  submitOrders: 'Order',
  transfer: 'Transfer',
  updateMargin: 'Margin',
  updateDelegates: 'Delegate',
  updateSigners: 'Signers',
};

export interface Collected {
  readonly endpoint: EndpointId;
  /** Bodies with their signatures so far; several in a batch of orders. */
  readonly parts: readonly Body[];
}

/** Requests of this tab; newest first. */
export const collected = signal<readonly Collected[]>([]);

const MAX_TEXT = 400_000;
const MAX_PARTS = 100;
const MARK = 'orrery-request:';

/** Identity of a request, whatever its signatures. */
export const nameOf = ({ endpoint, parts }: Collected): string =>
  JSON.stringify([endpoint, parts.map((part) => ({ ...part, signatures: null }))]);

export function accountOf({ endpoint, parts }: Collected): string {
  const named = parts[0]?.[endpoint === 'transfer' ? 'target' : 'account'];
  return typeof named === 'string' ? named.toLowerCase() : '';
}

export function textOf({ endpoint, parts }: Collected): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ endpoint, parts }));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const base64 = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return MARK + base64;
}

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Signatures of one part. */
const signaturesOf = (part: Body): readonly string[] => part['signatures'] as readonly string[];

/** Whether a part is a body of its endpoint, with any number of signatures in the right form. */
function isPart(endpoint: EndpointId, value: unknown): value is Body {
  if (!isObject(value)) return false;
  const { signatures } = value;
  const schema = ENDPOINTS[endpoint === 'submitOrders' ? 'submitOrder' : endpoint].request;
  return (
    Array.isArray(signatures) &&
    signatures.every((one) => typeof one === 'string' && /^0x[0-9a-fA-F]{130}$/.test(one)) &&
    fitsSchema(schema as unknown as Body, { ...value, signatures: [] })
  );
}

/** Reads a text or a link. Throws `RangeError` if it is no request. */
export function readText(given: string): Collected {
  const text = given
    .trim()
    .replace(/^.*#sign=/, '')
    .replace(MARK, '');
  if (text === '' || text.length > MAX_TEXT || !/^[A-Za-z0-9_-]+$/.test(text)) {
    throw new RangeError('This is not a request that was handed over');
  }
  let read: unknown;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new RangeError('This request is cut off or changed: copy it again');
  }
  const { endpoint, parts } = isObject(read) ? read : {};
  const isKnown = typeof endpoint === 'string' && Object.hasOwn(STRUCTS, endpoint);
  const isRight =
    isKnown &&
    Array.isArray(parts) &&
    parts.length > 0 &&
    parts.length <= (endpoint === 'submitOrders' ? MAX_PARTS : 1) &&
    parts.every((part) => isPart(endpoint as EndpointId, part));
  if (!isRight) throw new RangeError('This is not a request of this exchange');
  const of: Collected = { endpoint: endpoint as EndpointId, parts };
  const accounts = new Set(of.parts.map((part) => accountOf({ ...of, parts: [part] })));
  if (accounts.size > 1) throw new RangeError('The orders of a batch have one account');
  return of;
}

/** A request as its account's signers see it. */
export interface Counted {
  /** Signers that signed all parts. */
  readonly by: readonly string[];
  /** The request with one signature of each signer, and none of other wallets. */
  readonly of: Collected;
}

/** Counts signatures. Those of other wallets are left out, since a request has a limited number. */
export function counted(config: Config, of: Collected, signers: readonly string[]): Counted {
  const struct = STRUCTS[of.endpoint];
  if (struct === undefined) return { by: [], of };
  const found = of.parts.map((part) => {
    const byWallet = new Map<string | null, string>();
    for (const one of signaturesOf(part)) byWallet.set(signerOf(config, struct, part, one), one);
    return new Map(
      signers.flatMap((signer) => {
        const one = byWallet.get(signer);
        return one === undefined ? [] : [[signer, plainSignature(one)] as const];
      }),
    );
  });
  const parts = of.parts.map((part, i) => ({
    ...part,
    signatures: [...(found[i]?.values() ?? [])],
  }));
  const by = signers.filter((signer) => found.every((one) => one.has(signer)));
  return { by, of: { ...of, parts } };
}

/** The request with the signatures of both; other requests stay as they are. */
export function merge(known: readonly Collected[], added: Collected): readonly Collected[] {
  const name = nameOf(added);
  const same = known.find((one) => nameOf(one) === name);
  if (same === undefined) return [added, ...known];
  const parts = same.parts.map((part, i) => {
    const both = [part, added.parts[i]].flatMap((one) =>
      one === undefined ? [] : signaturesOf(one),
    );
    return { ...part, signatures: [...new Set(both)] };
  });
  return known.map((one) => (one === same ? { ...one, parts } : one));
}

export const drop = (of: Collected): void => {
  const name = nameOf(of);
  collected.value = collected.value.filter((one) => nameOf(one) !== name);
};
