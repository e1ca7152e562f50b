/** Worker thread of signature recovery: 32-byte digests in a row, and a signature for each. */
import workerpool from 'workerpool';
import type { Address } from '../num/units.ts';
import { recover } from './recover-signer.ts';

export interface RecoveryTask {
  readonly digests: Uint8Array;
  readonly signatures: readonly string[];
}

/** Signers in the order of the signatures; null where a signature is not valid. */
function recoverAll({ digests, signatures }: RecoveryTask): (Address | null)[] {
  return signatures.map((signature, i) =>
    recover(digests.subarray(32 * i, 32 * (i + 1)), signature),
  );
}

workerpool.worker({ recoverAll });
