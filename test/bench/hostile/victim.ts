/** Latency of a client that behaves: one request at a time on each of two connections. */
import { connect } from 'node:net';

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly count: number;
  /** Answers other than 200. */
  readonly refused: number;
}

const PAUSE_MS = 8;

/** Asks for `path` for so many ms. */
export async function measure(
  url: string,
  path: string,
  token: string,
  ms: number,
): Promise<Latency> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise((resolve) => socket.once('connect', resolve));
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const times: number[] = [];
  let refused = 0;
  const end = performance.now() + ms;
  while (performance.now() < end) {
    if (socket.destroyed) throw new Error('the connection of the victim was closed');
    const started = performance.now();
    const answer = new Promise<string>((resolve, reject) => {
      socket.once('data', (chunk) => {
        resolve(chunk.toString('latin1'));
      });
      socket.once('close', () => {
        reject(new Error('the connection of the victim was closed'));
      });
    });
    socket.write(request);
    if (!(await answer).startsWith('HTTP/1.1 200')) refused += 1;
    socket.removeAllListeners('close');
    times.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  socket.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1), count: times.length, refused };
}
