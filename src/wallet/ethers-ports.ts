/** The gateway's cryptographic ports by ethers, and the test wallets of scenarios. */
import { keccak256 } from 'ethers/crypto';
import { computeAddress } from 'ethers/transaction';
import { toUtf8Bytes } from 'ethers/utils';
import type { Keccak } from '../gateway/ports.ts';
import { address, type Address } from '../num/units.ts';
import { keccakBytes } from './keccak.ts';

export const keccak: Keccak = (bytes) => Buffer.from(keccakBytes(bytes)).toString('hex');

/** A scenario's account: the address of the private key keccak256(name). Never for money. */
export function addressOfName(name: string): Address {
  return address(computeAddress(keccak256(toUtf8Bytes(name))).toLowerCase());
}
