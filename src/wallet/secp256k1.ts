/**
 * The curve of signatures: libsecp256k1 where its binary loads. Elsewhere the package has the same
 * functions in JavaScript, some twenty times slower.
 */
import library from 'secp256k1';

/** The functions in use; typed here, so that declarations need no types of the package. */
export interface Secp256k1 {
  ecdsaRecover(
    signature: Uint8Array,
    recoveryId: number,
    digest: Uint8Array,
    compressed: boolean,
  ): Uint8Array;
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
  privateKeyVerify(key: Uint8Array): boolean;
  publicKeyCreate(key: Uint8Array, compressed: boolean): Uint8Array;
}

export const secp256k1: Secp256k1 = library;
