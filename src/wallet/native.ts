/** secp256k1 by its native library; null where it is not installed. */
import { createRequire } from 'node:module';

/** The part of the package `secp256k1` that is used; its types are no dependency of users. */
export interface Secp256k1 {
  /** Throws on a signature that has no public key. */
  ecdsaRecover(
    signature: Uint8Array,
    recoveryId: number,
    digest: Uint8Array,
    compressed: boolean,
  ): Uint8Array;
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
}

function load(): Secp256k1 | null {
  try {
    return createRequire(import.meta.url)('secp256k1') as Secp256k1;
  } catch {
    return null;
  }
}

export const native: Secp256k1 | null = load();
