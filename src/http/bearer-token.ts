/**
 * True if a request carries a fixed bearer token, that of simulation control or of the operator.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

export function holdsToken(request: FastifyRequest, token: string): boolean {
  return isToken(/^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '', token);
}

export function isToken(given: string, token: string): boolean {
  // Comparing digests of equal length keeps the token's length out of the timing.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
