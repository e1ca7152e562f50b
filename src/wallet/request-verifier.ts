/** The gateway's signature verifier: recovers the signers of a request's EIP-712 digest. */
import { getBytes } from 'ethers';
import type { ExchangeConfig } from '../engine/config.ts';
import type { SignatureVerifier, SignedRequest } from '../gateway/ports.ts';
import type { Address } from '../num/units.ts';
import { recover } from './recover.ts';
import { TypedData } from './typed-data.ts';

export class RequestVerifier implements SignatureVerifier {
  private readonly typedData: TypedData;

  constructor(config: ExchangeConfig) {
    this.typedData = new TypedData(config);
  }

  signersOf({ kind, body, signatures }: SignedRequest): readonly Address[] {
    const digest = getBytes(this.typedData.digestOf(kind, body));
    const signers = new Set<Address>();
    for (const signature of signatures) {
      const signer = recover(digest, signature);
      if (signer !== null) signers.add(signer);
    }
    return [...signers];
  }

  digestOf({ kind, body }: Omit<SignedRequest, 'signatures'>): string {
    return this.typedData.digestOf(kind, body).slice(2);
  }
}
