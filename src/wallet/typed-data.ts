/**
 * EIP-712 digests of signed requests (R-9.2): the structs of GET /config, over the request as sent.
 * A null or absent field is encoded as "", 0 or the all-empty struct. Addresses count by value,
 * text by its characters.
 *
 * Encoded by hand, because every signed request needs a digest. ethers is the test oracle
 * (test/http/wallet.test.ts).
 */
import { setHex } from '../base/hex.ts';
import { DOMAIN_FIELDS, EIP712_TYPES, eip712Domain } from '../gateway/eip712.ts';
import type { SignedRequest } from '../gateway/ports.ts';
import { hexOf, keccakBytes } from './keccak.ts';

type Kind = SignedRequest['kind'];
type Body = Readonly<Record<string, unknown>>;
export interface TypedField {
  readonly name: string;
  readonly type: string;
}
/** The fields that identify an exchange: of its configuration, or as GET /config publishes them. */
export type Domain = Parameters<typeof eip712Domain>[0];

const WORD = 32;
const ADDRESS_BYTES = 20;
const DOMAIN = 'EIP712Domain';
const EMPTY: Body = {};
/** Size of the cache of hashed texts: symbols, order types and round prices repeat. */
const MAX_CACHED_TEXTS = 4096;
const utf8 = new TextEncoder();

/** EIP-712 digests for one exchange. */
export class TypedData {
  private readonly domain: Record<string, unknown>;
  private readonly structs = new Map<string, Struct>();
  /** Digests by request body: verification and the order id use the same digest. */
  private readonly digests = new WeakMap<object, string>();
  private readonly texts = new Map<string, Uint8Array>();
  /** 0x1901, the hash of the domain and that of the last struct. */
  private readonly joined = new Uint8Array(2 + 2 * WORD);

  constructor(of: Domain) {
    this.domain = eip712Domain(of);
    this.joined.set([0x19, 0x01]);
    this.joined.set(this.hashStruct(structOf(DOMAIN), this.domain), 2);
    for (const name of Object.keys(EIP712_TYPES)) this.structs.set(name, structOf(name));
    for (const struct of this.structs.values()) struct.empty = this.hashStruct(struct, EMPTY);
  }

  /** 0x and 64 hex digits. */
  digestOf(kind: string, body: Body): string {
    let digest = this.digests.get(body);
    if (digest === undefined) {
      this.joined.set(this.hashStruct(this.struct(kind), body), 2 + WORD);
      digest = `0x${hexOf(keccakBytes(this.joined))}`;
      this.digests.set(body, digest);
    }
    return digest;
  }

  /** Typed data for a wallet to sign. */
  payloadOf(kind: Kind, body: Body): SigningPayload {
    return signingPayload(this.domain, kind, body);
  }

  private struct(name: string): Struct {
    const struct = this.structs.get(name);
    if (struct === undefined) throw new RangeError(`unknown struct: ${name}`);
    return struct;
  }

  private hashStruct({ fields, words, view }: Struct, body: Body): Uint8Array {
    words.fill(0, WORD);
    let at = WORD;
    for (const { name, type } of fields) {
      this.encode(words, view, at, type, own(body, name));
      at += WORD;
    }
    return keccakBytes(words);
  }

  private encode(
    words: Uint8Array,
    view: DataView,
    at: number,
    type: string,
    value: unknown,
  ): void {
    switch (type) {
      case 'string':
        words.set(this.hashText((value ?? '') as string), at);
        return;
      case 'address':
        encodeAddress(words, at, value as string);
        return;
      case 'address[]': {
        const items = (value ?? []) as readonly string[];
        const list = new Uint8Array(WORD * items.length);
        for (const [i, item] of items.entries()) encodeAddress(list, WORD * i, item);
        words.set(keccakBytes(list), at);
        return;
      }
      case 'bool':
        words[at + WORD - 1] = value === true ? 1 : 0;
        return;
      case 'uint32':
      case 'uint64':
      case 'uint256':
        encodeInteger(view, at, (value ?? 0) as number | bigint);
        return;
      default: {
        const struct = this.struct(type);
        const none = value === undefined || value === null;
        words.set(none ? struct.empty : this.hashMember(struct, value as Body), at);
      }
    }
  }

  /** Of a struct in another one. That of an order's flags is one of a few. */
  private hashMember(struct: Struct, body: Body): Uint8Array {
    const { fields, ofFlags } = struct;
    if (ofFlags === null) return this.hashStruct(struct, body);
    let flags = 0;
    for (const { name } of fields) flags = flags * 2 + (own(body, name) === true ? 1 : 0);
    const known = ofFlags.get(flags) ?? this.hashStruct(struct, body);
    ofFlags.set(flags, known);
    return known;
  }

  private hashText(text: string): Uint8Array {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    const hashed = keccakBytes(utf8.encode(text));
    if (this.texts.size >= MAX_CACHED_TEXTS) this.texts.clear();
    this.texts.set(text, hashed);
    return hashed;
  }
}

interface Struct {
  readonly fields: readonly TypedField[];
  /** What is hashed: the type, then one word a field. No struct is inside another of its kind. */
  readonly words: Uint8Array;
  readonly view: DataView;
  /** Its hash when nothing is given. */
  empty: Uint8Array;
  /** Its hashes by the bits of its fields, if all are booleans; otherwise null. */
  readonly ofFlags: Map<number, Uint8Array> | null;
}

function structOf(name: string): Struct {
  const { [name]: fields = [], ...nested } = typesOf(name);
  const others = Object.keys(nested)
    .sort()
    .map((one) => typeText(one, nested[one] ?? []));
  const encoded = utf8.encode([typeText(name, fields), ...others].join(''));
  const ofFlags = fields.every(({ type }) => type === 'bool')
    ? new Map<number, Uint8Array>()
    : null;
  const words = new Uint8Array(WORD * (fields.length + 1));
  words.set(keccakBytes(encoded));
  const view = new DataView(words.buffer);
  return { fields, words, view, empty: new Uint8Array(WORD), ofFlags };
}

/** `Flags(bool ioc,bool postOnly,bool reduceOnly)` */
function typeText(name: string, fields: readonly TypedField[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`;
}

function encodeAddress(words: Uint8Array, at: number, address: string | undefined): void {
  if (address !== undefined) setHex(words, at + WORD - ADDRESS_BYTES, address, 2, ADDRESS_BYTES);
}

function encodeInteger(view: DataView, at: number, value: number | bigint): void {
  const last = at + WORD - 8;
  if (typeof value === 'bigint') {
    view.setBigUint64(last, value);
  } else {
    view.setUint32(last, Math.floor(value / 2 ** 32));
    view.setUint32(last + 4, value >>> 0);
  }
}

/** EIP-712 typed data in the form of wallet APIs. */
export interface SigningPayload {
  readonly domain: Record<string, unknown>;
  readonly types: Record<string, TypedField[]>;
  readonly message: Record<string, unknown>;
}

/** Typed data of a request. `domain` is the EIP-712 domain that GET /config publishes. */
export function signingPayload(
  domain: Record<string, unknown>,
  kind: Kind,
  body: Body,
): SigningPayload {
  return { domain, types: typesOf(kind), message: messageOf(kind, body) };
}

/** The struct that no other one holds. */
export function primaryTypeOf(types: Readonly<Record<string, readonly TypedField[]>>): string {
  const held = new Set(Object.values(types).flatMap((fields) => fields.map(({ type }) => type)));
  const [primary, ...others] = Object.keys(types).filter((name) => !held.has(name));
  if (primary === undefined || others.length > 0) throw new RangeError('one struct must hold all');
  return primary;
}

/** The bytes of 0x and hex digits. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex');
}

/** The struct and those in it: without the domain, as wallets take them. */
function typesOf(kind: string): Record<string, TypedField[]> {
  const fields = kind === DOMAIN ? DOMAIN_FIELDS : (EIP712_TYPES[kind] ?? []);
  const nested = fields.map(({ type }) => type).filter((type) => type in EIP712_TYPES);
  const structs: Record<string, TypedField[]> = { [kind]: [...fields] };
  for (const name of nested) structs[name] = [...(EIP712_TYPES[name] ?? [])];
  return structs;
}

/** The request as the message of its struct. */
function messageOf(struct: string, body: unknown): Record<string, unknown> {
  const fields = (body ?? EMPTY) as Body;
  return Object.fromEntries(
    (EIP712_TYPES[struct] ?? []).map(({ name, type }) => [name, valueOf(type, own(fields, name))]),
  );
}

function own(body: Body, name: string): unknown {
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
