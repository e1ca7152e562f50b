/** Pings of feeds: clients that are gone are closed, and no others, whatever keeps them busy. */
import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { watchPings } from '../../src/http-client/watch-pings.ts';
import { ALICE } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const EVERY_MS = 30_000;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a server', () => {
  let served: Served;
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    served = await Served.start();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await served.remove();
  });

  async function open(): Promise<{ socket: WebSocket; pings: () => number }> {
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws`);
    let pings = 0;
    socket.on('ping', () => {
      pings += 1;
    });
    await new Promise((resolve) => socket.once('open', resolve));
    return { socket, pings: () => pings };
  }

  test('keeps clients whose answers it could not read for two intervals', async () => {
    const { socket, pings } = await open();
    for (let i = 0; i < 3; i++) {
      // No read of the server comes between the two.
      vi.advanceTimersByTime(EVERY_MS);
      vi.advanceTimersByTime(EVERY_MS);
      await expect.poll(pings).toBe(i + 1);
      await pause(20);
    }
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.terminate();
  });

  test('keeps a client with so many requests waiting that it does not read its answer', async () => {
    await served.sim('faults', { fault: 'latency', latencyMs: 1500, times: 1000 });
    const { socket } = await open();
    let answers = 0;
    socket.on('message', () => {
      answers += 1;
    });
    const bearer = await served.token({ account: ALICE, signer: ALICE });
    const call = (id: number, method: string, params: unknown): void => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    };
    call(0, 'auth', { bearer });
    await expect.poll(() => answers).toBe(1);
    for (let i = 1; i <= 150; i++) call(i, 'cancel', { account: ALICE, clientId: 'none' });
    await pause(100);
    for (let i = 0; i < 4; i++) {
      vi.advanceTimersByTime(EVERY_MS);
      await pause(50);
    }
    await expect.poll(() => answers, { timeout: 10_000 }).toBe(151);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.terminate();
  });

  test('closes a client that is gone at the third ping', async () => {
    const { host, port } = new URL(served.url);
    const raw = connect(Number(port), '127.0.0.1');
    let closed = false;
    raw.on('close', () => {
      closed = true;
    });
    raw.write(
      `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\n\r\n',
    );
    await new Promise((resolve) => raw.once('data', resolve));
    for (let i = 0; i < 2; i++) {
      vi.advanceTimersByTime(EVERY_MS);
      await pause(50);
      expect(closed).toBe(false);
    }
    vi.advanceTimersByTime(EVERY_MS);
    await expect.poll(() => closed).toBe(true);
  });
});

describe('a client', () => {
  function watched(): { socket: EventEmitter; terminate: ReturnType<typeof vi.fn> } {
    const terminate = vi.fn();
    const socket = new EventEmitter();
    watchPings(Object.assign(socket, { terminate }) as never, 20);
    return { socket, terminate };
  }

  test('keeps a connection whose pings it could not read', async () => {
    const { socket, terminate } = watched();
    const until = performance.now() + 60;
    while (performance.now() < until);
    // Timers come first, then what has arrived.
    await new Promise<void>((resolve) => {
      setTimeout(() => {
        socket.emit('ping');
        resolve();
      }, 1);
    });
    await nextTurn();
    await nextTurn();
    expect(terminate).not.toHaveBeenCalled();
    socket.emit('close');
  });

  test('ends a silent one', async () => {
    const { socket, terminate } = watched();
    for (let i = 0; i < 3; i++) {
      await pause(8);
      socket.emit('message');
    }
    expect(terminate).not.toHaveBeenCalled();
    await expect.poll(() => terminate.mock.calls.length).toBe(1);
    await pause(40);
    expect(terminate).toHaveBeenCalledTimes(1);
  });
});
