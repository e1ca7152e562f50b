/** Requests to the server that shows this page, over HTTP. */
import {
  ENDPOINTS,
  type EndpointId,
  type RequestOf,
  type ResponseOf,
} from '../../contract/endpoints.ts';

const TIMEOUT_MS = 10_000;

/** The server's refusal. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A refusal that repetition does not change: the server lacks the thing, or refuses the token. */
export const isLasting = (error: unknown): boolean =>
  error instanceof Refused && [400, 401, 403].includes(error.status);

/** No answer: it is unknown whether the request arrived. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export interface Page<T> {
  readonly body: T;
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
}

/** Sends one request. Throws `Refused` or `NoAnswer`. */
export async function ask<T>(
  method: string,
  path: string,
  { body, token }: { readonly body?: unknown; readonly token?: string | null } = {},
): Promise<Page<T>> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null || token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch (error) {
    throw new NoAnswer(error instanceof Error ? error.message : 'no answer');
  }
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The page of a proxy or of a login: the exchange has not answered.
    if (response.ok && text !== '') throw new NoAnswer('the answer is not one of the exchange');
  }
  if (!response.ok) throw new Refused(response.status, refusalText(response.status, parsed));
  return { body: parsed as T, next: response.headers.get('x-next-cursor') };
}

/** The refusal as the server words it; a page or an empty answer of a proxy as its status. */
function refusalText(status: number, parsed: unknown): string {
  const text = (typeof parsed === 'string' ? parsed : JSON.stringify(parsed)).trim();
  return text === '' || text.startsWith('<') ? `status ${String(status)}` : text.slice(0, 500);
}

/** Calls an endpoint of the contract. */
export async function callPage<E extends EndpointId>(
  id: E,
  request: RequestOf<E>,
  token: string | null = null,
): Promise<Page<ResponseOf<E>>> {
  const { method, path } = ENDPOINTS[id];
  if (method === 'POST') return ask(method, path, { body: request, token });
  const fields = new Map(Object.entries(request as Record<string, unknown>));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = String(fields.get(name));
    fields.delete(name);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of fields)
    if (value !== undefined)
      query.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  const text = query.toString();
  return ask(method, text === '' ? filled : `${filled}?${text}`, { token });
}

export async function call<E extends EndpointId>(
  id: E,
  request: RequestOf<E>,
  token: string | null = null,
): Promise<ResponseOf<E>> {
  return (await callPage(id, request, token)).body;
}

/** Some wallets throw objects that are no errors, such as `{ code, message }`. */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  return typeof error === 'string' ? error : 'no reason given';
}
