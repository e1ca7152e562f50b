/** A thread that recovers signers: digests one after the other, 32 bytes each, and the signature for each. */
import type { Address } from '../num/units.ts';
import { recover } from './recover-signer.ts';

export interface RecoveryTask {
  readonly digests: Uint8Array;
  readonly signatures: readonly string[];
}

/** In the order of the signatures; null where nobody made it. */
export function recoverAll({ digests, signatures }: RecoveryTask): (Address | null)[] {
  return signatures.map((signature, i) =>
    recover(digests.subarray(32 * i, 32 * (i + 1)), signature),
  );
}
