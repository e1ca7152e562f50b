/**
 * Address checksum by letter case (EIP-55): a hex letter is upper-case if the same digit of the
 * Keccak-256 of the lower-case text is 8 or more. An address in one case has no checksum.
 */
import type { Keccak } from './ports.ts';

/** True if an address (0x and 40 hex digits) has a correct checksum or none. */
export function isChecksumRight(address: string, keccak: Keccak): boolean {
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return true;
  const hash = keccak(Uint8Array.from(lower, (digit) => digit.charCodeAt(0)));
  for (let i = 0; i < digits.length; i++) {
    const digit = lower.charAt(i);
    const isCapital = Number.parseInt(hash.charAt(i), 16) >= 8;
    if (digits.charAt(i) !== (isCapital ? digit.toUpperCase() : digit)) return false;
  }
  return true;
}
