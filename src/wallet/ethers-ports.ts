/** Cryptographic ports of the gateway, and the test wallets of scenarios. */
import type { Keccak } from '../gateway/ports.ts';
import { address, type Address } from '../num/units.ts';
import { keccakBytes } from './keccak.ts';
import { native, type Secp256k1 } from './native.ts';

type AddressOfKey = (key: Uint8Array) => Address;

export const keccak: Keccak = (bytes) => hexOf(keccakBytes(bytes));

/** Importing ethers takes about 100 ms, and its first key derivation another 100 ms. */
const addressOfKey = native === null ? await byEthers() : byLibrary(native);

/** Address of the private key keccak256(name), for scenarios. Never use it for real money. */
export function addressOfName(name: string): Address {
  return addressOfKey(keccakBytes(new TextEncoder().encode(name)));
}

export function byLibrary(library: Secp256k1): AddressOfKey {
  return (key) => {
    const point = library.publicKeyCreate(key, false);
    return address(`0x${hexOf(keccakBytes(point.subarray(1))).slice(24)}`);
  };
}

export async function byEthers(): Promise<AddressOfKey> {
  const { computeAddress } = await import('ethers/transaction');
  return (key) => address(computeAddress(`0x${hexOf(key)}`).toLowerCase());
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
