/**
 * `/metrics` on a port of its own, so that the API's port can be public and this one private.
 * Scrapes within a second share one answer.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './server-metrics.ts';

const SHARED_MS = 1000;
const MAX_CONNECTIONS = 32;
const REQUEST_MS = 5000;

export interface MetricsServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Rejects with the error of `listen`. */
export async function serveMetrics(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  at: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  let text: Promise<string> | null = null;
  let readMs = -Infinity;
  const read = (): Promise<string> => {
    const nowMs = performance.now();
    if (text === null || nowMs - readMs >= SHARED_MS) {
      readMs = nowMs;
      text = metrics.text();
    }
    return text;
  };
  const server = createServer(
    { maxHeaderSize: 8192, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    (request, response) => {
      const [path] = (request.url ?? '').split('?', 1);
      if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('see /metrics\n');
        return;
      }
      read().then(
        (body) => {
          response.writeHead(200, { 'content-type': metrics.contentType }).end(body);
        },
        (error: unknown) => {
          text = null;
          response.writeHead(500, { 'content-type': 'text/plain' });
          response.end(`${(error as Error).message}\n`);
        },
      );
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, at);
  const { port } = server.address() as AddressInfo;
  const host = at.host.includes(':') ? `[${at.host}]` : at.host;
  return {
    url: `http://${host}:${String(port)}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
