/** A damaged journal, or one of another version; the message has the position and the reason. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}
