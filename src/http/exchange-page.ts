/** The trading and operations screen at /ui: one compressed file, which loads nothing else. */
import type { FastifyInstance } from 'fastify';
import { gunzipSync } from 'node:zlib';
import { pageAsset } from '../platform/page-assets.ts';
import { sendText } from './replies.ts';

const NOT_BUILT = {
  status: 503,
  message: 'the screen is not built: run "npm run build"',
} as const;

/** The security policy of the page, which names its script, without frames around it. */
function policyOf(html: string): string {
  const [, policy = "default-src 'none'"] = /data-policy="([^"]*)"/.exec(html) ?? [];
  return `${policy}; frame-ancestors 'none'`;
}

/** Serves the page at /ui, and / leads there. A server without the file serves the API alone. */
export async function exchangePage(app: FastifyInstance): Promise<void> {
  const page = await pageAsset('exchange.html.gz').catch(() => null);
  const html = page === null ? null : gunzipSync(page);
  const policy = policyOf(html?.toString('utf8') ?? '');
  app.get('/', (_request, reply) => reply.redirect('./ui'));
  app.get('/ui', (request, reply) => {
    if (page === null || html === null) return sendText(reply, NOT_BUILT);
    void reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
    });
    const zipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    return zipped ? reply.header('content-encoding', 'gzip').send(page) : reply.send(html);
  });
}
