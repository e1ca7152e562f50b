/** Ports of the gateway: cryptography, implemented by the adapters in `wallet`. */
import type { Address } from '../num/units.ts';

/** Keccak-256 of bytes: 64 lower-case hex digits. */
export type Keccak = (bytes: Uint8Array) => string;

/** A signed request as the contract sends it. */
export interface SignedRequest {
  readonly kind: 'Order' | 'Transfer' | 'Delegate' | 'Signers' | 'Margin';
  readonly body: Readonly<Record<string, unknown>>;
  readonly signatures: readonly string[];
}

/** Recovers the signers of requests. */
export interface SignatureVerifier {
  /** Recovers signers asynchronously ahead of `signersOf`; null if there is nothing to wait for. */
  ahead?(requests: readonly SignedRequest[]): Promise<unknown> | null;
  /** Distinct addresses of valid signatures; fewer than the signatures if one is invalid. */
  signersOf(request: SignedRequest): readonly Address[];
  /** The request's EIP-712 digest as 64 lower-case hex digits. */
  digestOf(request: Omit<SignedRequest, 'signatures'>): string;
  /** Releases the resources of `ahead`. */
  close?(): Promise<void>;
}
