/** Headers that let pages of the allowed origins read an answer (CORS), refusals too. */
import { PAGE_HEADERS } from '../contract/endpoints.ts';
import { REPLICA_HEADERS } from '../contract/replica-headers.ts';

/** Headers that scripts of other origins may read. */
export const EXPOSED_HEADERS = [
  ...Object.values(PAGE_HEADERS),
  ...Object.values(REPLICA_HEADERS),
  ...['x-request-id', 'retry-after'],
];

const EXPOSED = EXPOSED_HEADERS.join(', ');

/** `origin`: that of the request; null for what never became a request, so has no known origin. */
export function originHeaders(
  origins: readonly string[],
  origin: string | null,
): Readonly<Record<string, string>> {
  const [first] = origins;
  if (first === undefined) return {};
  const isAny = origins.includes('*');
  const vary: Record<string, string> = isAny ? {} : { vary: 'Origin' };
  // A browser compares a single allowed origin itself.
  const allowed = isAny ? '*' : (origin ?? (origins.length === 1 ? first : ''));
  if (!origins.includes(allowed)) return vary;
  return {
    ...vary,
    'access-control-allow-origin': allowed,
    'access-control-expose-headers': EXPOSED,
  };
}
