/**
 * Base of the errors that a user can cause or act on. A program distinguishes them by `code`; the
 * message names the option, parameter or file, and the limit. Errors of the program itself are
 * `InvariantError` (base/assert.ts).
 */
export interface ErrorDetails extends ErrorOptions {
  /** The option, parameter or field. */
  readonly field?: string;
  /** Valid values of the field, as text. */
  readonly limit?: string;
  /** The next step for the user. */
  readonly hint?: string;
}

export abstract class UserError extends Error {
  /** Stable between versions. */
  abstract readonly code: string;
  readonly field: string | undefined;
  readonly limit: string | undefined;
  readonly hint: string | undefined;

  constructor(message: string, { field, limit, hint, ...options }: ErrorDetails = {}) {
    super(message, options);
    // Those that are absent are no properties, since Node prints properties below the stack.
    if (field !== undefined) this.field = field;
    if (limit !== undefined) this.limit = limit;
    if (hint !== undefined) this.hint = hint;
  }
}
