/**
 * Who signed a digest: secp256k1 by its native library where it loads, by ethers otherwise. Both accept the same signatures: 65 bytes
 * in hex with or without 0x, low s, v of 27, 28, 0 or 1. A signature that is anything else was made by nobody.
 */
import { recoverAddress } from 'ethers';
import { address, type Address } from '../num/units.ts';
import { keccakBytes } from './keccak.ts';
import { native } from './native.ts';

/** Half of the group's order: a larger s is a second signature for the same message, so it counts for nothing. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const SIGNATURE = /^(?:0x)?[0-9a-fA-F]{130}$/;

export type Recover = (digest: Uint8Array, signature: string) => Address | null;

export const recoverByEthers: Recover = (digest, signature) => {
  const parsed = parseSignature(signature);
  if (parsed === null) return null;
  try {
    const yParity = parsed.recovery === 0 ? '1b' : '1c';
    const hex = `0x${Buffer.from(parsed.rs).toString('hex')}${yParity}`;
    return address(recoverAddress(digest, hex).toLowerCase());
  } catch {
    return null;
  }
};

const library = native;

export const recoverByLibrary: Recover | null =
  library === null
    ? null
    : (digest, signature) => {
        const parsed = parseSignature(signature);
        if (parsed === null) return null;
        try {
          const key = library.ecdsaRecover(parsed.rs, parsed.recovery, digest, false);
          const hashed = Buffer.from(keccakBytes(key.subarray(1)));
          return address(`0x${hashed.toString('hex', 12)}`);
        } catch {
          return null;
        }
      };

/** The address whose key made this signature; null when it is no signature. */
export const recover: Recover = recoverByLibrary ?? recoverByEthers;

function parseSignature(text: string): { rs: Uint8Array; recovery: 0 | 1 } | null {
  if (!SIGNATURE.test(text)) return null;
  const hex = text.startsWith('0x') ? text.slice(2) : text;
  const s = BigInt(`0x${hex.slice(64, 128)}`);
  if (s === 0n || s > HALF_ORDER) return null;
  const bytes = Buffer.from(hex, 'hex');
  const v = bytes[64];
  if (v === 0 || v === 27) return { rs: bytes.subarray(0, 64), recovery: 0 };
  if (v === 1 || v === 28) return { rs: bytes.subarray(0, 64), recovery: 1 };
  return null;
}
