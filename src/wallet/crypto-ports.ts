/** Keccak for the gateway, and the accounts that scenarios name. No key here holds money. */
import type { Keccak } from '../gateway/ports.ts';
import type { Address } from '../num/units.ts';
import { hexOf, keccakBytes } from './keccak.ts';
import { addressOfPoint } from './recover-signer.ts';
import { secp256k1 } from './secp256k1.ts';

export const keccak: Keccak = (bytes) => hexOf(keccakBytes(bytes));

/** A scenario's account: the address of the private key of its name. Never for money. */
export function addressOfName(name: string): Address {
  return addressOfKey(keyOfName(name));
}

/** The private key keccak256(name). */
export function keyOfName(name: string): Uint8Array {
  return keccakBytes(new TextEncoder().encode(name));
}

export function addressOfKey(key: Uint8Array): Address {
  return addressOfPoint(secp256k1.publicKeyCreate(key, false));
}
