/**
 * The contract as a typed client. Strategies, scenarios and tests speak to this; whether the exchange is in the same
 * process or behind HTTP is the implementation's business.
 */
import type { EndpointId, ListId, RequestOf, ResponseOf } from '../contract/endpoints.ts';
import type { PageInfo, Reply } from './context.ts';

/** An error reply: `message` is the body's text. */
export class MatcherError extends Error {
  override readonly name = 'MatcherError';
  readonly status: number;
  readonly endpoint: EndpointId;

  constructor(endpoint: EndpointId, status: number, message: string) {
    super(message);
    this.status = status;
    this.endpoint = endpoint;
  }
}

export interface MatcherClient {
  /** Rejects with `MatcherError` on any status but 200. */
  call<E extends EndpointId>(endpoint: E, request: RequestOf<E>): Promise<ResponseOf<E>>;
  /** One page of a list, and where the next begins; `pagesOf` reads all of them. */
  page<E extends ListId>(endpoint: E, request: RequestOf<E>): Promise<PageOf<E>>;
}

/** A page of a list as the contract answers it, and what stands beside it. */
export interface PageOf<E extends ListId> extends PageInfo {
  readonly body: ResponseOf<E>;
}

/**
 * The pages of a list one after the other, the newest first where it has times. What is new meanwhile is not among them; an order that
 * changes moves to the front, so it is not shown again.
 */
export async function* pagesOf<E extends ListId>(
  client: MatcherClient,
  endpoint: E,
  request: RequestOf<E>,
): AsyncGenerator<PageOf<E>, void, void> {
  for (let cursor: string | null = null; ;) {
    const page: PageOf<E> = await client.page(
      endpoint,
      cursor === null ? request : { ...request, cursor },
    );
    yield page;
    if (page.next === null) return;
    cursor = page.next;
  }
}

/** The page that a list's reply is. */
export function asPage<E extends ListId>({ body, page }: Reply): PageOf<E> {
  const { next, keptSinceMs } = page ?? { next: null, keptSinceMs: null };
  return { body: body as ResponseOf<E>, next, keptSinceMs };
}
