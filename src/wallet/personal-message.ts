/** The digest of a text that a wallet signs (EIP-191, version 0x45). */
import { keccakBytes } from './keccak.ts';

const utf8 = new TextEncoder();

export function personalDigest(text: string): Uint8Array {
  const bytes = utf8.encode(text);
  const prefix = utf8.encode(`\u0019Ethereum Signed Message:\n${String(bytes.length)}`);
  return keccakBytes(Buffer.concat([prefix, bytes]));
}
