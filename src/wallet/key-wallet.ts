/** A wallet of a private key in memory; its signatures are those that ethers makes. */
import type { Address } from '../num/units.ts';
import { addressOfKey } from './crypto-ports.ts';
import { personalDigest } from './personal-message.ts';
import { secp256k1 } from './secp256k1.ts';
import { bytesOf, primaryTypeOf, TypedData, type Domain, type TypedField } from './typed-data.ts';

const KEY = /^(?:0x)?[0-9a-fA-F]{64}$/;

export class KeyWallet {
  readonly address: Address;
  private readonly key: Uint8Array;

  /** Throws when the key is not one of the curve. */
  constructor(key: Uint8Array) {
    if (!secp256k1.privateKeyVerify(key)) throw new RangeError('not a private key of secp256k1');
    this.key = key;
    this.address = addressOfKey(key);
  }

  /** null unless the text is 64 hex digits, with or without 0x, of a key. */
  static ofHex(text: string): KeyWallet | null {
    const key = KEY.test(text) ? Buffer.from(text.replace(/^0x/, ''), 'hex') : null;
    return key !== null && secp256k1.privateKeyVerify(key) ? new KeyWallet(key) : null;
  }

  /** By EIP-191. */
  signMessage(text: string): Promise<string> {
    return Promise.resolve(this.sign(personalDigest(text)));
  }

  /** By EIP-712, of the contract's structs alone. */
  signTypedData(
    domain: Domain,
    types: Readonly<Record<string, readonly TypedField[]>>,
    message: Record<string, unknown>,
  ): Promise<string> {
    const digest = new TypedData(domain).digestOf(primaryTypeOf(types), message);
    return Promise.resolve(this.sign(bytesOf(digest)));
  }

  private sign(digest: Uint8Array): string {
    const { signature, recid } = secp256k1.ecdsaSign(digest, this.key);
    return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`;
  }
}
