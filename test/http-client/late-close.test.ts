/** Connections that fail or end while another one begins: each update arrives once. */
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FeedClient } from '../../src/http-client/index.ts';

const LATE_MS = 400;
let server: WebSocketServer;
let url = '';
let connections = 0;
const subscribed: WebSocket[] = [];
/** The answer of the server to the login on each connection. */
let logIn: (socket: WebSocket, connection: number) => 'accepts' | 'refuses';

beforeEach(async () => {
  subscribed.length = 0;
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  connections = 0;
  server.on('connection', (socket) => {
    const connection = ++connections;
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
      const isRefused = method === 'auth' && logIn(socket, connection) === 'refuses';
      const error = { code: -32000, message: 'Service unavailable', data: { status: 503 } };
      const answer = isRefused ? { error } : { result: {} };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
      if (method === 'subscribe') subscribed.push(socket);
    });
  });
});
afterEach(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});

/** An update on every connection that has subscribed. */
function trade(time: number): void {
  const data = { symbol: 'M', time, price: '1', quantity: '1' };
  for (const socket of subscribed) socket.send(JSON.stringify({ type: 'Trade', data }));
}

async function timesOf(feeds: FeedClient): Promise<number[]> {
  const times: number[] = [];
  await feeds.listen(
    'trade',
    { symbols: ['M'] },
    {
      onUpdate: ({ time }) => times.push(time),
      onError: () => undefined,
      onResumed: () => undefined,
    },
  );
  return times;
}

const open = () =>
  vi.waitFor(
    () => {
      expect(subscribed.at(-1)?.readyState).toBe(1);
    },
    { timeout: 5000 },
  );

test('a connection whose login failed closes when the next one is there', async () => {
  logIn = (socket, connection) => {
    if (connection !== 2) return 'accepts';
    // The server sees the close of the client late.
    setTimeout(() => {
      socket.pause();
      setTimeout(() => {
        socket.resume();
      }, LATE_MS * 3);
    });
    return 'refuses';
  };
  const feeds = new FeedClient({ url, bearer: () => Promise.resolve('token') });
  const times = await timesOf(feeds);
  subscribed.pop()?.terminate();
  await vi.waitFor(
    () => {
      expect(subscribed).toHaveLength(1);
    },
    { timeout: 5000 },
  );
  await new Promise((resolve) => setTimeout(resolve, LATE_MS * 5));
  await open();
  trade(1);
  await vi.waitFor(() => {
    expect(times).toContain(1);
  });
  expect(subscribed).toHaveLength(1);
  expect(times).toEqual([1]);
  await feeds.close();
});

test('a request begins a connection while the login of a lost one waits', async () => {
  logIn = () => 'accepts';
  let token: Promise<string> = Promise.resolve('token');
  const feeds = new FeedClient({ url, bearer: () => token });
  const times = await timesOf(feeds);
  let grant: (text: string) => void = () => undefined;
  token = new Promise((resolve) => {
    grant = resolve;
  });
  subscribed.pop()?.terminate();
  // The second connection waits for its token, and is lost.
  await vi.waitFor(
    () => {
      expect(connections).toBe(2);
    },
    { timeout: 5000 },
  );
  for (const socket of server.clients) socket.terminate();
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  const cancelled = feeds.send('cancelOrder', { orderId: '1' });
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  grant('token');
  await cancelled;
  await vi.waitFor(
    () => {
      expect(subscribed.length).toBeGreaterThan(0);
    },
    { timeout: 5000 },
  );
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  expect(server.clients.size).toBe(1);
  trade(1);
  await vi.waitFor(() => {
    expect(times).toEqual([1]);
  });
  await feeds.close();
});
