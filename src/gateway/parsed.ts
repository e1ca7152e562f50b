/** Results of parsers of configuration: errors of fields are values. */
import { RequestError } from './request-error.ts';

/** A parsed value, or the problem with its field. */
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

/** Runs a parser; a `RequestError` is the problem with a field. */
export function parsed<T>(parse: () => T): Parsed<T> {
  try {
    return { ok: true, value: parse() };
  } catch (error) {
    if (error instanceof RequestError) return { ok: false, error: error.message };
    throw error;
  }
}
