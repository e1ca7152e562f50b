/** Errors of a client that are no answer of the exchange. */
import { UserError } from '../base/user-error.ts';
import { ENDPOINTS } from '../contract/endpoints.ts';

/** A wrong argument, found before a request is sent. */
export class ClientError extends UserError {
  override readonly name = 'ClientError';
  readonly code = 'client';
}

/** No reply: a network error or a timeout. The effect of the request is unknown. */
export class NoAnswerError extends UserError {
  override readonly name = 'NoAnswerError';
  readonly code = 'no-answer';
}

/** Cause of `NoAnswerError` for an answer of status 200, such as the page of another server. */
export class NotJson extends Error {
  readonly text: string;

  constructor(text: string) {
    super('the answer is not JSON, so not that of an exchange');
    this.text = text;
  }
}

/** Of a timer of Node; a longer one would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

export function mustBeLimits({ retries = 0, timeoutMs = 1 }: Limits): void {
  if (retries !== Infinity && !(Number.isSafeInteger(retries) && retries >= 0)) {
    throw new ClientError(`retries '${String(retries)}': must be a whole number from 0`);
  }
  if (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= LONGEST_MS) return;
  throw new ClientError(
    `timeoutMs '${String(timeoutMs)}': must be a whole number from 1 to ${String(LONGEST_MS)}`,
  );
}

/** Of a program in JavaScript: undefined is none. */
export function mustBeSigner<S extends object>(signer: S | null | undefined): S | null {
  if (signer === null || signer === undefined) return null;
  const { address, signMessage, signTypedData } = Object(signer) as Record<string, unknown>;
  const signs = typeof signMessage === 'function' && typeof signTypedData === 'function';
  if (typeof address === 'string' && signs) return signer;
  throw new ClientError('signer: must be null, or have address, signMessage and signTypedData');
}

interface Limits {
  readonly retries?: number;
  readonly timeoutMs?: number;
}

export function mustBeUrl(options: unknown): string {
  const { url } = Object(options) as { readonly url?: unknown };
  if (typeof url === 'string' && URL.canParse(url)) return url;
  throw new ClientError(
    `url '${String(url)}': must be the URL of an exchange, such as http://127.0.0.1:8080`,
  );
}

export function mustBeCall(endpoint: string, request: unknown): void {
  if (!Object.hasOwn(ENDPOINTS, endpoint)) {
    throw new ClientError(
      `endpoint '${endpoint}': must be one of ${Object.keys(ENDPOINTS).join(', ')}`,
    );
  }
  if (typeof request === 'object' && request !== null && !Array.isArray(request)) return;
  throw new ClientError(`${endpoint}: the request must be an object`);
}
