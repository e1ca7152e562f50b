/**
 * A task of signature recovery as it crosses to a worker thread: two values, whatever the number of
 * signatures, because each value is copied by itself.
 */
import { address, type Address } from '../num/units.ts';

/** Hex digits of a signature, and characters of a signer with its 0x. */
export const SIGNATURE_DIGITS = 130;
export const SIGNER_LENGTH = 42;
const NONE = ' '.repeat(SIGNATURE_DIGITS);

export interface RecoveryTask {
  /** 32 bytes each, in a row. */
  readonly digests: Uint8Array;
  /** `SIGNATURE_DIGITS` characters each, in a row. */
  readonly signatures: string;
}

export function recoveryTask(
  jobs: readonly { readonly digest: Uint8Array; readonly signature: string }[],
): RecoveryTask {
  const digests = new Uint8Array(32 * jobs.length);
  let signatures = '';
  for (const [i, { digest, signature }] of jobs.entries()) {
    digests.set(digest, 32 * i);
    const digits = signature.startsWith('0x') ? signature.slice(2) : signature;
    signatures += digits.length === SIGNATURE_DIGITS ? digits : NONE;
  }
  return { digests, signatures };
}

/** The i-th signer of an answer; null where a signature is not valid. */
export function signerAt(answer: string, i: number): Address | null {
  const signer = answer.slice(SIGNER_LENGTH * i, SIGNER_LENGTH * (i + 1));
  return signer.startsWith('0x') ? address(signer) : null;
}
