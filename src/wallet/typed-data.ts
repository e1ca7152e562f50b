/**
 * EIP-712 digests of signed requests: the structs that GET /config publishes, over the request as it was sent. What is null or
 * absent is "", 0 or the all-empty struct; addresses count by value, everything textual by its characters.
 */
import { keccak256, TypedDataEncoder } from 'ethers';
import type { ExchangeConfig } from '../engine/config.ts';
import { EIP712_TYPES, eip712Domain } from '../gateway/eip712.ts';
import type { SignedRequest } from '../gateway/ports.ts';

type Kind = SignedRequest['kind'];
interface Field {
  readonly name: string;
  readonly type: string;
}

/** Digests for one exchange. */
export class TypedData {
  private readonly domain: Record<string, unknown>;
  private readonly encoders = new Map<Kind, TypedDataEncoder>();
  private readonly domainHash: string;

  constructor(config: ExchangeConfig) {
    this.domain = eip712Domain(config);
    this.domainHash = TypedDataEncoder.hashDomain(this.domain);
    for (const kind of ['Order', 'Transfer', 'Delegate', 'Signers', 'Margin'] as const) {
      this.encoders.set(kind, new TypedDataEncoder(typesOf(kind)));
    }
  }

  /** 0x and 64 hex digits. */
  digestOf(kind: Kind, body: Readonly<Record<string, unknown>>): string {
    const encoder = this.encoders.get(kind);
    if (encoder === undefined) throw new RangeError(`no struct is called ${kind}`);
    return joinDigest(this.domainHash, encoder.hash(messageOf(kind, body)));
  }

  /** What a wallet is asked to sign. */
  payloadOf(kind: Kind, body: Readonly<Record<string, unknown>>): SigningPayload {
    return signingPayload(this.domain, kind, body);
  }
}

/** EIP-712 typed data as wallets take it. */
export interface SigningPayload {
  readonly domain: Record<string, unknown>;
  readonly types: Record<string, Field[]>;
  readonly message: Record<string, unknown>;
}

/** Of a request for an exchange with this domain, which GET /config publishes. */
export function signingPayload(
  domain: Record<string, unknown>,
  kind: Kind,
  body: Readonly<Record<string, unknown>>,
): SigningPayload {
  return { domain, types: typesOf(kind), message: messageOf(kind, body) };
}

function joinDigest(domainHash: string, structHash: string): string {
  return keccak256(`0x1901${domainHash.slice(2)}${structHash.slice(2)}`);
}

/** The struct and those in it, as ethers wants them: without the domain, nothing else besides. */
function typesOf(kind: string): Record<string, Field[]> {
  const fields = EIP712_TYPES[kind] ?? [];
  const nested = fields.map(({ type }) => type).filter((type) => type in EIP712_TYPES);
  return Object.fromEntries(
    [kind, ...nested].map((name) => [name, [...(EIP712_TYPES[name] ?? [])] as Field[]]),
  );
}

/** The request as the struct's message. */
function messageOf(struct: string, body: unknown): Record<string, unknown> {
  const given = (body ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    (EIP712_TYPES[struct] ?? []).map(({ name, type }) => [name, valueOf(type, own(given, name))]),
  );
}

function own(body: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}

function valueOf(type: string, value: unknown): unknown {
  if (type in EIP712_TYPES) return messageOf(type, value);
  if (type === 'address[]') return (value as readonly string[]).map((one) => one.toLowerCase());
  if (value === undefined || value === null) {
    if (type === 'string') return '';
    return type === 'bool' ? false : 0;
  }
  return type === 'address' ? (value as string).toLowerCase() : value;
}
