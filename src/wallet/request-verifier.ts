/** Signature verifier of the gateway: recovers the signers of a request's EIP-712 digest. */
import type { ExchangeConfig } from '../engine/config.ts';
import type { SignatureVerifier, SignedRequest } from '../gateway/ports.ts';
import type { Address } from '../num/units.ts';
import { recover } from './recover-signer.ts';
import type { RecoveryPool } from './recovery-pool.ts';
import { bytesOf, TypedData } from './typed-data.ts';

export class RequestVerifier implements SignatureVerifier {
  private readonly typedData: TypedData;
  private readonly pool: RecoveryPool | null;
  /** Signers recovered ahead of time, by request body and signature. */
  private readonly known = new WeakMap<object, Map<string, Address | null>>();

  /** @param pool recovers ahead of time; null: every signature is recovered inline */
  constructor(config: ExchangeConfig, pool: RecoveryPool | null = null) {
    this.typedData = new TypedData(config);
    this.pool = pool;
  }

  ahead(requests: readonly SignedRequest[]): Promise<unknown> | null {
    const under = requests.flatMap((request) => this.recoverAhead(request));
    const [only = null] = under;
    return under.length > 1 ? Promise.all(under) : only;
  }

  private recoverAhead({ kind, body, signatures }: SignedRequest): Promise<void>[] {
    const { pool } = this;
    if (pool === null) return [];
    let digest: Uint8Array;
    try {
      digest = bytesOf(this.typedData.digestOf(kind, body));
    } catch {
      // A field has a wrong type; the gateway rejects the request with the reason.
      return [];
    }
    const found = new Map<string, Address | null>();
    this.known.set(body, found);
    return signatures.flatMap((signature) => {
      const answer = pool.recover(digest, signature);
      if (answer === null) return [];
      return [
        answer.then((recovered) => {
          if (recovered !== null) found.set(signature, recovered.signer);
        }),
      ];
    });
  }

  async close(): Promise<void> {
    await this.pool?.close();
  }

  signersOf({ kind, body, signatures }: SignedRequest): readonly Address[] {
    const known = this.known.get(body);
    const signers = new Set<Address>();
    for (const signature of signatures) {
      const found = known?.get(signature);
      const signer =
        found === undefined
          ? recover(bytesOf(this.typedData.digestOf(kind, body)), signature)
          : found;
      if (signer !== null) signers.add(signer);
    }
    return [...signers];
  }

  digestOf({ kind, body }: Omit<SignedRequest, 'signatures'>): string {
    return this.typedData.digestOf(kind, body).slice(2);
  }
}
