/** Bytes that are no journal of this version, or a damaged one; says where and why. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}
