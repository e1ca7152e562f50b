/** Compares the reply to a request with the expectation of its step. */
import type { Reply } from '../gateway/context.ts';
import { differences, showValue, type Difference, type MatchOptions } from './match-expectation.ts';
import type { Expectation } from './scenario.ts';

export function checkReply(reply: Reply, expect: Expectation, options: MatchOptions): Difference[] {
  const { status, error, body, refused } = expect;
  const found: Difference[] = [];
  if (refused) {
    if (reply.status === 200) found.push({ path: 'status', expected: 'an error', actual: '200' });
  } else if (status === null ? error === null && reply.status !== 200 : reply.status !== status) {
    const wanted = String(status ?? 200);
    found.push({ path: 'status', expected: wanted, actual: String(reply.status) });
    if (reply.status !== 200 && error === null && body === null) {
      found.push({ path: 'body', expected: 'a response', actual: showValue(reply.body) });
    }
  }
  if (error !== null && (reply.status === 200 || reply.body !== error)) {
    found.push({ path: 'error', expected: error, actual: options.show(reply.body) });
  }
  if (body !== null) found.push(...differences(body, reply.body, 'body', options));
  // The headers of a page.
  const { page } = reply;
  const hasMore = (page?.next ?? null) !== null;
  if (expect.more !== null) found.push(...differences(expect.more, hasMore, 'more', options));
  if (expect.keptSince !== null) {
    const actual = page?.keptSinceMs ?? null;
    found.push(...differences(expect.keptSince, actual, 'keptSince', options));
  }
  return found;
}
