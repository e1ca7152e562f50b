/** Wallets that sign: a private key for tests, or one injected by the browser (EIP-1193). */
import {
  computeAddress,
  hashMessage,
  recoverAddress,
  Signature,
  SigningKey,
  TypedDataEncoder,
} from 'ethers';
import type { Config } from './markets.ts';
import { messageOf as reasonOf } from './requests.ts';

export type Struct = 'Order' | 'Transfer' | 'Margin' | 'Delegate' | 'Signers';
type Message = Readonly<Record<string, unknown>>;
type Types = Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;

export interface PageWallet {
  /** Lower case. */
  readonly address: string;
  readonly kind: 'key' | 'injected';
  readonly signMessage: (text: string) => Promise<string>;
  readonly sign: (config: Config, struct: Struct, body: Message) => Promise<string>;
}

interface Provider {
  readonly request: (call: { method: string; params?: readonly unknown[] }) => Promise<unknown>;
  readonly on?: (event: string, listener: (value: unknown) => void) => void;
}

/** Structs that a struct refers to, with itself. */
function typesOf(types: Types, struct: string): Types {
  const found: Record<string, readonly { readonly name: string; readonly type: string }[]> = {};
  const add = (name: string): void => {
    const fields = types[name];
    if (fields === undefined || name in found) return;
    found[name] = fields;
    for (const { type } of fields) add(type);
  };
  add(struct);
  return found;
}

/** The fields of a struct as they are signed: absent ones are "", 0, false or empty. */
function messageOf(types: Types, struct: string, body: Message): Message {
  const values = (types[struct] ?? []).map(({ name, type }) => {
    const value = body[name];
    if (type in types) return [name, messageOf(types, type, (value ?? {}) as Message)];
    // An encoder takes any text as true, also "false".
    if (type === 'bool' && typeof (value ?? false) !== 'boolean') {
      throw new TypeError(`${name} must be true or false`);
    }
    if (value !== undefined && value !== null) return [name, value];
    if (type.endsWith('[]')) return [name, []];
    return [name, type === 'string' ? '' : type === 'bool' ? false : 0];
  });
  return Object.fromEntries(values) as Message;
}

/** Paths and values of what a wallet signs. Throws `TypeError` if the body cannot be signed. */
export function signedFields(
  { types }: Pick<Config, 'types'>,
  struct: Struct,
  body: Message,
): readonly (readonly [string, string])[] {
  return fieldsOf(messageOf(types as Types, struct, body), '');
}

function fieldsOf(value: unknown, path: string): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [[path, String(value)]];
  if (Array.isArray(value)) return [[path, value.map(String).join(', ')]];
  return Object.entries(value).flatMap(([name, inner]) =>
    fieldsOf(inner, path === '' ? name : `${path}.${name}`),
  );
}

function digestOf({ domain, types: known }: Config, struct: Struct, body: Message): string {
  const types = known as Types;
  const named = typesOf(types, struct);
  const fields = named as unknown as Record<string, { name: string; type: string }[]>;
  return TypedDataEncoder.hash(domain, fields, messageOf(types, struct, body));
}

/** The wallet that signed, in lower case; null if the signature or the body cannot be read. */
export function signerOf(
  config: Config,
  struct: Struct,
  body: Message,
  signature: string,
): string | null {
  try {
    return recoverAddress(digestOf(config, struct, body), signature).toLowerCase();
  } catch {
    return null;
  }
}

/** A signature in the one form that the exchange and every library read alike: v is 27 or 28. */
export const plainSignature = (text: string): string => Signature.from(text).serialized;

const KEY = /^(?:0x)?[0-9a-fA-F]{64}$/;

/** Throws when the text is not a private key. */
export function walletOfKey(text: string): PageWallet {
  if (!KEY.test(text)) throw new RangeError('A private key has 64 hexadecimal digits');
  const key = new SigningKey(`0x${text.replace(/^0x/, '')}`);
  return {
    address: computeAddress(key).toLowerCase(),
    kind: 'key',
    signMessage: (message) => Promise.resolve(key.sign(hashMessage(message)).serialized),
    sign: (config, struct, body) =>
      Promise.resolve(key.sign(digestOf(config, struct, body)).serialized),
  };
}

export function injectedProvider(): Provider | null {
  const { ethereum } = globalThis as { readonly ethereum?: Provider };
  return ethereum ?? null;
}

/** Accounts that the person allows the page to see. */
export async function injectedAccounts(provider: Provider): Promise<string[]> {
  return addressesOf(await provider.request({ method: 'eth_requestAccounts' }));
}

/** Accounts in a wallet's answer or event, in lower case. Some locked wallets give null. */
export const addressesOf = (accounts: unknown): string[] =>
  Array.isArray(accounts) ? accounts.map((address) => String(address).toLowerCase()) : [];

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

export function injectedWallet(provider: Provider, address: string): PageWallet {
  return {
    address,
    kind: 'injected',
    signMessage: async (text) => {
      const hex = [...new TextEncoder().encode(text)].map((byte) =>
        byte.toString(16).padStart(2, '0'),
      );
      const params = [`0x${hex.join('')}`, address];
      return String(await provider.request({ method: 'personal_sign', params }));
    },
    sign: async ({ domain, types: known, chainId }, struct, body) => {
      const types = known as Types;
      await useChain(provider, chainId);
      const payload = {
        types: { EIP712Domain: DOMAIN_FIELDS, ...typesOf(types, struct) },
        domain,
        primaryType: struct,
        message: asText(messageOf(types, struct, body)),
      };
      const params = [address, JSON.stringify(payload)];
      return String(await provider.request({ method: 'eth_signTypedData_v4', params }));
    },
  };
}

/** Integers as decimal text, which wallets read exactly. */
function asText(message: Message): Message {
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => {
      if (typeof value === 'number') return [name, String(value)];
      const isStruct = typeof value === 'object' && value !== null && !Array.isArray(value);
      return [name, isStruct ? asText(value as Message) : value];
    }),
  );
}

/** Asks the wallet to change to the exchange's chain: it signs for its own chain only. */
async function useChain(provider: Provider, chainId: number): Promise<void> {
  const wanted = `0x${chainId.toString(16)}`;
  const now = await provider.request({ method: 'eth_chainId' });
  if (typeof now === 'string' && BigInt(now) === BigInt(wanted)) return;
  try {
    await provider.request({
      method: 'wallet_switchEthereumChain',
      params: [{ chainId: wanted }],
    });
  } catch (error) {
    const needed = `this exchange needs chain ${String(chainId)}`;
    if (isUnknownChain(error)) {
      throw new Error(
        `The wallet has no network of this chain; ${needed}. Add one to the wallet, or start the ` +
          'server with the chainId of a network that the wallet has',
        { cause: error },
      );
    }
    throw new Error(
      `The wallet is on chain ${String(Number(now))}; ${needed}: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

const UNKNOWN_CHAIN = 4902;

/** Some wallets give the code of an unknown chain (EIP-3085) inside of another error. */
function isUnknownChain(error: unknown): boolean {
  const { code, data } = (error ?? {}) as {
    readonly code?: unknown;
    readonly data?: { readonly originalError?: { readonly code?: unknown } };
  };
  return code === UNKNOWN_CHAIN || data?.originalError?.code === UNKNOWN_CHAIN;
}
