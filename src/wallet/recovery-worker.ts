/** Worker thread of signature recovery. A task is few large values, which are cheap to copy. */
import workerpool from 'workerpool';
import { recover } from './recover-signer.ts';
import { SIGNATURE_DIGITS, SIGNER_LENGTH, type RecoveryTask } from './recovery-task.ts';

/** Signers in the order of the signatures, in a row; spaces where a signature is not valid. */
function recoverAll({ digests, signatures }: RecoveryTask): string {
  let signers = '';
  for (let i = 0; 32 * i < digests.length; i++) {
    const digest = digests.subarray(32 * i, 32 * (i + 1));
    const signature = signatures.slice(SIGNATURE_DIGITS * i, SIGNATURE_DIGITS * (i + 1));
    signers += recover(digest, signature) ?? ' '.repeat(SIGNER_LENGTH);
  }
  return signers;
}

workerpool.worker({ recoverAll });
