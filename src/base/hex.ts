/** Hex digits as bytes. For a few bytes this costs less than a `Buffer`. */

/** Value of a hex digit, in either case. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : (code | 0x20) - 0x57;
}

/** The byte of two valid hex digits. */
export function hexByte(text: string, at: number): number {
  return (hexDigit(text, at) << 4) | hexDigit(text, at + 1);
}

/** Sets `count` bytes from valid hex digits. */
export function setHex(
  bytes: Uint8Array,
  at: number,
  text: string,
  from: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) bytes[at + i] = hexByte(text, from + 2 * i);
}
