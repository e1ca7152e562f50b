/**
 * Requests at even intervals, whether or not earlier ones have their replies. A latency counts from
 * the time at which its request was due, so a stall of server or generator is in it. `autocannon`
 * sends the requests of a second at its beginning, as fast as it can, and then waits.
 */
import { Agent, request as httpRequest } from 'node:http';
import type { Request } from 'autocannon';

export interface Paced {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

export interface Pace {
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** At the beginning, not counted: connections open and the generator's code compiles. */
  readonly warmSeconds?: number;
}

export async function paced(
  url: string,
  of: Request,
  { connections, perSecond, seconds, warmSeconds = 0 }: Pace,
): Promise<Paced> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  const replies: Promise<void>[] = [];
  let failed = 0;
  const count = Math.round(perSecond * (warmSeconds + seconds));
  const startedMs = performance.now();
  const dueMs = (i: number): number => startedMs + (i * 1000) / perSecond;
  const countedMs = startedMs + warmSeconds * 1000;
  for (let i = 0; i < count;) {
    const nowMs = performance.now();
    for (; i < count && dueMs(i) <= nowMs; i++) {
      const due = dueMs(i);
      replies.push(
        send(agent, url, of).then((status) => {
          if (due >= countedMs) latencies.push(performance.now() - due);
          if (status !== 200) failed += 1;
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(replies);
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? 0;
  const took = (performance.now() - startedMs) / 1000;
  // Failures of the first seconds count too.
  return { perSecond: count / took, p50: at(0.5), p99: at(0.99), failed };
}

/** Status of the reply; 0 if there is none. */
function send(agent: Agent, url: string, of: Request): Promise<number> {
  const { setupRequest } = of;
  const made: Request = typeof setupRequest === 'function' ? setupRequest(of, {}) : of;
  const { method = 'GET', path = '/', headers = {}, body = '' } = made;
  return new Promise((resolve) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const options = { agent, method, headers: { ...headers, ...(method === 'GET' ? {} : length) } };
    const request = httpRequest(url + path, options as object, (reply) => {
      reply.resume();
      reply.on('end', () => {
        resolve(reply.statusCode ?? 0);
      });
    });
    request.on('error', () => {
      resolve(0);
    });
    request.end(method === 'GET' ? undefined : body);
  });
}
