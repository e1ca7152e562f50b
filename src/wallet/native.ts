/** Native secp256k1 binding; null if it is not installed. */
import { createRequire } from 'node:module';

export type Secp256k1 = Pick<typeof import('secp256k1'), 'ecdsaRecover' | 'publicKeyCreate'>;

function load(): Secp256k1 | null {
  try {
    return createRequire(import.meta.url)('secp256k1') as Secp256k1;
  } catch {
    return null;
  }
}

export const native: Secp256k1 | null = load();
