/**
 * `fetch` of a live run. After the end it sends nothing: a request without an answer would be sent
 * again for most of a minute, and could place its order after the record of the run is written.
 */
import type { FetchLike } from '../http-client/http-matcher-client.ts';

export class EndableFetch {
  private readonly open = new Set<AbortController>();
  private ended = false;

  readonly fetch: FetchLike = async (url, { signal, ...request }) => {
    if (this.ended) throw new Error('the run has ended');
    const controller = new AbortController();
    const abort = (): void => {
      controller.abort(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.open.add(controller);
    try {
      return await fetch(url, { ...request, signal: controller.signal });
    } finally {
      this.open.delete(controller);
    }
  };

  end(): void {
    this.ended = true;
    for (const controller of this.open) controller.abort(new Error('the run has ended'));
  }
}
