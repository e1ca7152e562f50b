/**
 * Load from `generator.mjs`, a process of its own: at even intervals, or as fast as the connections
 * have replies.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Request } from 'autocannon';

const GENERATOR = fileURLToPath(new URL('./generator.mjs', import.meta.url));

export interface Load {
  readonly connections: number;
  /** null: each connection sends its next request once it has a reply. */
  readonly perSecond: number | null;
  readonly seconds: number;
  /** At the beginning, not counted: code compiles. */
  readonly warmSeconds: number;
  /** Requests made in advance; a run that needs more repeats them. */
  readonly requests: number;
  /** Core on which the generator runs; it has any if there is none. */
  readonly core?: number;
}

export interface Generated {
  readonly perSecond: number;
  /** In ms, from the time at which a request was due. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Replies that are not 200, and missing ones. */
  readonly failed: number;
  /** Requests that were sent a second time. */
  readonly repeated: number;
  /** 99th percentile of the time by which the generator sent a request late. */
  readonly lateMs: number;
  /** Processor time of the generator. */
  readonly cores: number;
}

export async function generated(url: string, of: Request, load: Load): Promise<Generated> {
  const { hostname: host, port } = new URL(url);
  const { requests, core, ...rest } = load;
  const task = JSON.stringify({ host, port: Number(port), ...rest });
  const node = [process.execPath, GENERATOR, task];
  const [program = '', ...args] =
    core === undefined ? node : ['taskset', '-c', String(core), ...node];
  const input = Buffer.concat(Array.from({ length: requests }, () => bytesOf(of, host)));
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(program, args, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error(error.message, { cause: error }));
    });
    child.stdin?.end(input);
  });
  return JSON.parse(output) as Generated;
}

/** The request as it is sent, after its length in four bytes. */
function bytesOf(of: Request, host: string): Buffer {
  const { setupRequest } = of;
  const made: Request = typeof setupRequest === 'function' ? setupRequest(of, {}) : of;
  const { method = 'GET', path = '/', headers = {}, body = '' } = made;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const length = method === 'GET' ? '' : `content-length: ${String(Buffer.byteLength(body))}\r\n`;
  const text = Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}${length}\r\n${method === 'GET' ? '' : String(body)}`,
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  return Buffer.concat([size, text]);
}
