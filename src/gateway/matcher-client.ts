/** The contract as a typed client, with an in-process and an HTTP implementation. */
import { UserError } from '../base/user-error.ts';
import type { EndpointId, ListId, RequestOf, ResponseOf } from '../contract/endpoints.ts';
import type { PageInfo, Reply } from './context.ts';

/** An error reply: `message` is the body's text. */
export class MatcherError extends UserError {
  override readonly name = 'MatcherError';
  readonly code = 'refused';
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
  /** One page of a list with the cursor of the next; `pagesOf` reads all of them. */
  page<E extends ListId>(endpoint: E, request: RequestOf<E>): Promise<PageOf<E>>;
}

/** A client that can also answer through a function, without a promise. */
export interface AnsweringClient extends MatcherClient {
  /** `request` must not change any more; `answered` is called once, never during this call. */
  ask(endpoint: EndpointId, request: unknown, answered: (reply: Reply) => void): void;
}

/** A page of a list and its pagination. */
export interface PageOf<E extends ListId> extends PageInfo {
  readonly body: ResponseOf<E>;
}

/**
 * Reads the pages of a list in order, newest first where entries have times. Entries that are
 * created or updated meanwhile move to the front and are not read again.
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

/** A list reply as a page. */
export function asPage<E extends ListId>({ body, page }: Reply): PageOf<E> {
  const { next, keptSinceMs } = page ?? { next: null, keptSinceMs: null };
  return { body: body as ResponseOf<E>, next, keptSinceMs };
}
