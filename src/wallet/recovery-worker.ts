/** Worker thread that recovers signers from concatenated 32-byte digests and their signatures. */
import type { Address } from '../num/units.ts';
import { recover } from './recover-signer.ts';

export interface RecoveryTask {
  readonly digests: Uint8Array;
  readonly signatures: readonly string[];
}

/** Signers in the order of the signatures; null for an invalid signature. */
export function recoverAll({ digests, signatures }: RecoveryTask): (Address | null)[] {
  return signatures.map((signature, i) =>
    recover(digests.subarray(32 * i, 32 * (i + 1)), signature),
  );
}
