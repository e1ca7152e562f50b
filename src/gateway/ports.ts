/**
 * What the gateway needs from outside: cryptography that floors below the adapters must not import. Adapters live on
 * floor 6 (wallet).
 */
import type { Address } from '../num/units.ts';

/** Keccak-256 of bytes: 64 lower-case hex digits. */
export type Keccak = (bytes: Uint8Array) => string;

/** A signed request as the contract sends it. */
export interface SignedRequest {
  readonly kind: 'Order' | 'Transfer' | 'Delegate' | 'Signers' | 'Margin';
  readonly body: Readonly<Record<string, unknown>>;
  readonly signatures: readonly string[];
}

/** Recovers who signed. */
export interface SignatureVerifier {
  /** Recovers what `signersOf` will be asked for, while others are served; null when there is nothing to wait for. */
  ahead?(requests: readonly SignedRequest[]): Promise<unknown> | null;
  /** Distinct addresses whose signatures hold; fewer than given when one does not. */
  signersOf(request: SignedRequest): readonly Address[];
  /** The request's EIP-712 digest as 64 lower-case hex digits. */
  digestOf(request: Omit<SignedRequest, 'signatures'>): string;
  /** Lets go of what `ahead` needs. */
  close?(): Promise<void>;
}
