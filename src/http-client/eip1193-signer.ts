/** A browser wallet (EIP-1193) as a signer. */
import { DOMAIN_FIELDS } from '../gateway/eip712.ts';
import { primaryTypeOf, type TypedField } from '../wallet/typed-data.ts';
import type { RequestSigner } from './http-matcher-client.ts';

interface Provider {
  request(call: { method: string; params: unknown[] }): Promise<unknown>;
}

type Types = Readonly<Record<string, readonly TypedField[]>>;
type Message = Readonly<Record<string, unknown>>;

export function eip1193Signer(provider: Provider, address: string): RequestSigner {
  return {
    address,
    signMessage: async (text) => {
      const hex = `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
      return String(await provider.request({ method: 'personal_sign', params: [hex, address] }));
    },
    signTypedData: async (domain, types, message) => {
      const params = [address, JSON.stringify(typedPayload(domain, types, message))];
      return String(await provider.request({ method: 'eth_signTypedData_v4', params }));
    },
  };
}

/** What `eth_signTypedData_v4` takes: integers as decimal text, the chain's id in hex. */
export function typedPayload(domain: Message, types: Types, message: Message): Message {
  const primaryType = primaryTypeOf(types);
  const fields = DOMAIN_FIELDS.filter(({ name }) => domain[name] !== undefined);
  return {
    types: { EIP712Domain: fields, ...types },
    domain: Object.fromEntries(
      fields.map(({ name, type }) => [name, domainValue(type, domain[name])]),
    ),
    primaryType,
    message: structValue(types, primaryType, message),
  };
}

function domainValue(type: string, value: unknown): unknown {
  if (type === 'address') return String(value).toLowerCase();
  return type === 'uint256' ? `0x${BigInt(value as number | bigint).toString(16)}` : value;
}

function structValue(types: Types, struct: string, message: Message): Message {
  const values = (types[struct] ?? []).map(({ name, type }) => {
    const value = message[name];
    return [name, type in types ? structValue(types, type, value as Message) : plain(type, value)];
  });
  return Object.fromEntries(values) as Message;
}

function plain(type: string, value: unknown): unknown {
  if (type.endsWith('[]'))
    return (value as readonly unknown[]).map((one) => plain(type.slice(0, -2), one));
  if (type === 'address') return String(value).toLowerCase();
  return type.startsWith('uint') ? BigInt(value as number | bigint).toString() : value;
}
