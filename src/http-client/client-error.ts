/** A wrong argument of a client, found before a request is sent. */
import { UserError } from '../base/user-error.ts';
import { ENDPOINTS } from '../contract/endpoints.ts';

export class ClientError extends UserError {
  override readonly name = 'ClientError';
  readonly code = 'client';
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
