/** The gateway's cryptographic ports by ethers, and the test wallets of scenarios. */
import { computeAddress, keccak256, toUtf8Bytes } from 'ethers';
import type { Keccak } from '../gateway/ports.ts';
import { address, type Address } from '../num/units.ts';

export const keccak: Keccak = (bytes) => keccak256(bytes).slice(2);

/** A scenario's account: the address of the private key keccak256(name). Never for money. */
export function addressOfName(name: string): Address {
  return address(computeAddress(keccak256(toUtf8Bytes(name))).toLowerCase());
}
