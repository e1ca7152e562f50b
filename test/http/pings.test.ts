/** Clients that are gone are closed, and no others, whatever keeps the process busy. */
import { EventEmitter } from 'node:events';
import { stat } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { watchPings } from '../../src/http-client/watch-pings.ts';
import { ALICE, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const EVERY_MS = 30_000;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One long turn of the event loop. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function opened(served: Served): Promise<{ raw: Socket; events: string[] }> {
  const raw = connect(Number(new URL(served.url).port), '127.0.0.1');
  const events: string[] = [];
  raw.on('data', (data: Buffer) => events.push(data.toString().slice(9, 12)));
  raw.on('close', () => events.push('closed'));
  raw.on('error', () => undefined);
  await new Promise((resolve) => raw.once('connect', resolve));
  return { raw, events };
}

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

describe('an HTTP connection that is idle for its time', () => {
  test('is closed, but not if its answer waits for a long turn', async () => {
    const served = await Served.start({ limits: { requestMs: 300 } });
    await served.sim('deposit', { account: ALICE, amount: '10000' });
    await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
    const token = await served.token({ account: ALICE, signer: ALICE });
    const { raw, events } = await opened(served);
    const post = (nonce: number): void => {
      const body = JSON.stringify(order({ nonce }));
      raw.write(
        `POST /account/order HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
      );
    };
    post(1);
    await expect.poll(() => events, { interval: 5 }).toEqual(['200']);
    const { seq } = served.host.view;
    post(2);
    while (served.host.view.seq === seq) await nextTurn();
    // The answer waits for the disk, which is done meanwhile.
    block(400);
    await expect.poll(() => events).toEqual(['200', '200']);
    raw.destroy();
    const idle = await opened(served);
    await expect.poll(() => idle.events.at(-1), { timeout: 5000 }).toBe('closed');
    await served.remove();
  });
});

describe('a request whose time ends during a long turn', () => {
  const HEAD = 'GET /time HTTP/1.1\r\nHost: x\r\n';
  let served: Served;
  beforeEach(async () => {
    served = await Served.start({ limits: { requestMs: 300 } });
  });
  afterEach(async () => {
    await served.remove();
  });

  test.each([
    ['nothing', '', `${HEAD}\r\n`],
    ['a part of its head', HEAD, '\r\n'],
  ])('is answered if the client has sent it, after %s before', async (_what, before, after) => {
    const { raw, events } = await opened(served);
    raw.write(before);
    await pause(100);
    raw.write(after);
    block(400);
    await expect.poll(() => events).toEqual(['200']);
    // The connection serves the next one too.
    raw.write(`${HEAD}\r\n`);
    await expect.poll(() => events).toEqual(['200', '200']);
    raw.destroy();
  });

  test.each([
    ['nothing', ''],
    ['a part of a head', HEAD],
  ])('gets 408 if the client has sent %s', async (_what, before) => {
    const { raw, events } = await opened(served);
    raw.write(before);
    await pause(100);
    block(400);
    await expect.poll(() => events, { timeout: 5000 }).toEqual(['408', 'closed']);
  });

  test('gets 408 if it arrives byte by byte for twice its time', async () => {
    const { raw, events } = await opened(served);
    const started = performance.now();
    raw.write(HEAD);
    const drip = setInterval(() => raw.write('x'), 50);
    await expect.poll(() => events.at(-1), { timeout: 5000 }).toBe('closed');
    clearInterval(drip);
    expect(events[0]).toBe('408');
    expect(performance.now() - started).toBeLessThan(2000);
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
    await new Promise<void>((resolve) => {
      // Its callback runs where those of sockets do: after the timers.
      stat('.', () => {
        socket.emit('ping');
        resolve();
      });
      block(60);
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
