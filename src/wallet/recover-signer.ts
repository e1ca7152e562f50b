/**
 * Recovers the signer of a digest. It accepts the signatures that ethers accepts: 65 bytes in hex
 * with optional 0x, low s, v of 27, 28, 0 or 1. Every other signature recovers to null.
 */
import { address, type Address } from '../num/units.ts';
import { keccakBytes } from './keccak.ts';
import { secp256k1, type Secp256k1 } from './secp256k1.ts';

/** Half of the group order; a larger s would be a second signature of the same message. */
const HALF_ORDER = Buffer.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0',
  'hex',
);
const ZERO = Buffer.alloc(32);
const SIGNATURE = /^(?:0x)?[0-9a-fA-F]{130}$/;

export type Recover = (digest: Uint8Array, signature: string) => Address | null;

/** The address whose key made this signature; null when it is no signature. */
export const recover: Recover = recoverBy(secp256k1);

export function recoverBy(library: Secp256k1): Recover {
  return (digest, signature) => {
    const parsed = parseSignature(signature);
    if (parsed === null) return null;
    try {
      return addressOfPoint(library.ecdsaRecover(parsed.rs, parsed.recovery, digest, false));
    } catch {
      return null;
    }
  };
}

/** The address of an uncompressed public key. */
export function addressOfPoint(point: Uint8Array): Address {
  return address(`0x${Buffer.from(keccakBytes(point.subarray(1))).toString('hex', 12)}`);
}

function parseSignature(text: string): { rs: Uint8Array; recovery: 0 | 1 } | null {
  if (!SIGNATURE.test(text)) return null;
  const bytes = Buffer.from(text.startsWith('0x') ? text.slice(2) : text, 'hex');
  if (bytes.compare(HALF_ORDER, 0, 32, 32, 64) > 0 || bytes.compare(ZERO, 0, 32, 32, 64) === 0) {
    return null;
  }
  const v = bytes[64];
  if (v === 0 || v === 27) return { rs: bytes.subarray(0, 64), recovery: 0 };
  if (v === 1 || v === 28) return { rs: bytes.subarray(0, 64), recovery: 1 };
  return null;
}
