/**
 * Requests that cost nothing but their headers: the token is checked before the body, every request
 * counts whatever its answer, bytes are limited, and repeated refusals wait.
 */
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Admission } from '../../src/http/admission.ts';
import { CLOSE_RATE, MessageLimits } from '../../src/http/feeds/message-limits.ts';
import { TokenBuckets } from '../../src/http/token-buckets.ts';
import { ALICE, order } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const AS_ALICE = { account: ALICE, signer: ALICE };
const DIGITS = `{"nonce":${'7'.repeat(1_000_000)}}`;
let served: Served | null = null;
afterEach(async () => {
  await served?.remove();
  served = null;
});
const start = async (requestsPerSecond = 5): Promise<Served> => {
  served = await Served.start({ requestsPerSecond });
  return served;
};

describe('before the body', () => {
  test('the token is checked: a body that never arrives is answered 401', async () => {
    const { url } = await start();
    const { port } = new URL(url);
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          'POST /account/order HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{"a"',
        );
      });
      socket.on('data', (chunk) => {
        socket.destroy();
        resolve(chunk.toString());
      });
    });
    expect(text).toMatch(/^HTTP\/1.1 401 .*"Please add the JWT token to the header"$/s);
    expect(text).toContain('connection: close');
  });

  test.each([
    ['/sim/deposit', 401, 'Please add the simulation token to the header'],
    ['/operator/deposit', 401, 'Please add the operator token to the header'],
    ['/account/orders', 401, 'Please add the JWT token to the header'],
    ['/auth', 413, 'Request body is too large'],
    ['/no/such/path', 413, 'Request body is too large'],
  ])('a million digits to %s are not parsed', async (path, status, words) => {
    const answer = await (await start()).send('POST', path, DIGITS);
    expect([answer.status, answer.body]).toEqual([status, words]);
  });

  test('limits are those of the route', async () => {
    const at = await start(100);
    const headers = { authorization: `Bearer ${await at.token(AS_ALICE)}` };
    const long = { clientIds: Array.from({ length: 400 }, () => 'x'.repeat(64)) };
    const cancel = await at.send('POST', '/account/orders/cancel', JSON.stringify(long), headers);
    expect(cancel.status).not.toBe(413);
    const one = JSON.stringify({ ...order(), nonce: 1, signatures: ['x'.repeat(20_000)] });
    expect((await at.send('POST', '/account/order', one, headers)).status).toBe(413);
  });

  test('a body of tiny chunks is refused before its end', async () => {
    const { url } = await start();
    const { port } = new URL(url);
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write('POST /auth HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n');
        socket.write(`Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(200)}`);
      });
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve(received);
      });
    });
    expect(text).toMatch(/^HTTP\/1.1 413 /);
  });
});

function repeated(text: string, count: number): string[] {
  return Array.from({ length: count }, () => text);
}

/** Answers to these bytes, until the server closes or sends nothing for two seconds. */
function raw(at: Served, bytes: string | Buffer): Promise<string> {
  const { port } = new URL(at.url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(bytes);
    });
    socket.setTimeout(2000, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve(text);
    });
  });
}

describe('every request counts', () => {
  test.each<[string, (at: Served) => Promise<{ status: number }>]>([
    ['an unknown path', (at) => at.send('GET', '/no/such/path')],
    ['a missing token', (at) => at.send('GET', '/account/balance')],
    [
      'a token that is not one',
      (at) => at.send('GET', '/account/balance', undefined, { authorization: 'Bearer !' }),
    ],
    [
      'a false token',
      (at) => at.send('GET', '/account/balance', undefined, { authorization: 'Bearer a.b.c' }),
    ],
    ['/sim without its token', (at) => at.send('GET', '/sim/hash')],
    ['/operator without its token', (at) => at.send('POST', '/operator/deposit', '{}')],
    ['a challenge', (at) => at.send('GET', `/auth?account=${ALICE}`)],
    ['a false login', (at) => at.send('POST', '/auth', '{}')],
    ['a script of the documentation', (at) => at.send('GET', '/docs/static/start.js')],
    ['/metrics', (at) => at.send('GET', '/metrics')],
    ['a body that is not JSON', (at) => at.send('POST', '/auth', '{')],
    ['another media type', (at) => at.send('POST', '/auth', 'x', { 'content-type': 'text/plain' })],
  ])('%s', async (_name, ask) => {
    const at = await start();
    // A token is verified once; that counts by address too.
    expect((await at.call('getSigners', { account: ALICE }, AS_ALICE)).status).not.toBe(429);
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await ask(at)).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses[0]).not.toBe(429);
    // Callers with a token and probes are not affected.
    expect((await at.send('GET', '/healthz')).status).toBe(200);
    const own = await at.call('getBalance', { account: ALICE }, AS_ALICE);
    expect(own.status).toBe(200);
  });

  test('control tokens have ten times the limit', async () => {
    const at = await start();
    for (let i = 0; i < 50; i++) expect((await at.sim('hash')).status).toBe(200);
    expect((await at.sim('hash')).status).toBe(429);
  });

  test('probes count by connection: those of others are answered', async () => {
    const at = await start();
    const probe = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    // Those ahead of an answer count by address: five, then prompt refusals, then one that waits.
    const flood = await raw(at, probe.repeat(60));
    const statuses = [...flood.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status);
    // The first probe counts by connection. The requests behind the one that waits are dropped.
    expect(statuses).toEqual([...repeated('200', 6), ...repeated('429', 21)]);
    expect(await raw(at, probe)).toMatch(/^HTTP\/1.1 200/);
  });

  test.each([
    ['an unknown method', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'no', params: {} })],
    ['invalid JSON', '{'],
    ['no request', '[]'],
  ])('%s over a feed, and a client that ignores refusals is closed (4429)', async (_name, text) => {
    const at = await start();
    const socket = new WebSocket(`${at.url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    const answers: { error: { code: number; data?: { status: number } } }[] = [];
    socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString()) as never));
    const closed = new Promise<number>((resolve) => {
      socket.once('close', resolve);
    });
    // The upgrade is one of the five.
    for (let i = 0; i < 5; i++) socket.send(text);
    await expect.poll(() => answers.length).toBe(5);
    expect(answers.filter(({ error }) => error.data?.status === 429)).toHaveLength(1);
    for (let i = 0; i < 200; i++) socket.send(text);
    expect(await closed).toBe(CLOSE_RATE);
    expect(answers.length).toBeLessThan(150);
  });

  test('the close frame of refusals follows what a client has not read yet', async () => {
    const server = new WebSocketServer({ port: 0 });
    const limits = new Promise<MessageLimits>((resolve) => {
      server.once('connection', (socket, { socket: stream }) => {
        // As behind megabytes of updates that do not fit into the connection.
        stream.cork();
        setTimeout(() => {
          stream.uncork();
        }, 100);
        resolve(new MessageLimits(socket, new Admission(1, () => 0)));
      });
    });
    const { port } = server.address() as AddressInfo;
    const client = new WebSocket(`ws://127.0.0.1:${String(port)}`);
    const closed = new Promise<number>((resolve) => client.once('close', resolve));
    const accepted: (boolean | null)[] = [];
    for (let i = 0; i < 102; i++) accepted.push((await limits).accepts('ip x', false, 1));
    expect(accepted).toEqual([true, ...Array.from({ length: 100 }, () => false), null]);
    expect(await closed).toBe(CLOSE_RATE);
    server.close();
  });

  test('upgrades count', async () => {
    const at = await start();
    for (let i = 0; i < 5; i++) expect((await at.send('GET', '/time')).status).toBe(200);
    const socket = new WebSocket(`${at.url.replace('http', 'ws')}/ws`);
    const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
    expect(error.message).toContain('429');
  });

  test('pings beyond twenty a second end a feed', async () => {
    const { url } = await start(1000);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    let pongs = 0;
    socket.on('pong', () => {
      pongs += 1;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (let i = 0; i < 100; i++) socket.ping();
    await closed;
    // The last ones may be lost with the connection.
    expect(pongs).toBeGreaterThan(0);
    expect(pongs).toBeLessThan(21);
  });

  test('requests behind a large one run after it, whatever is wrong with it', async () => {
    const at = await start(1000);
    const socket = new WebSocket(`${at.url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    const answers: { id: unknown; error?: { message: string } }[] = [];
    socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString()) as never));
    const ask = (id: number, method: string, params: unknown): void => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    };
    const long = 'x'.repeat(20_000);
    ask(1, 'auth', { bearer: await at.token(AS_ALICE) });
    ask(2, 'subscribe', { source: long });
    ask(3, 'unsubscribe', { source: 'x' });
    socket.send(`{${long}`);
    ask(4, 'unsubscribe', { source: 'x' });
    await expect.poll(() => answers.map(({ id }) => id)).toEqual([1, 2, 3, null, 4]);
    socket.terminate();
  });

  test('a socket without a login sends small messages only', async () => {
    const { url } = await start(1000);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    const answer = new Promise<Buffer>((resolve) => socket.once('message', resolve));
    socket.send(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'auth', params: 'x'.repeat(20_000) }),
    );
    const code = new Promise((resolve) => socket.once('close', resolve));
    expect((await answer).toString()).toContain('Request body is too large');
    expect(await code).toBe(1009);
  });
});

test('a connection after one that was cut short is read whole', async () => {
  const at = await start(10_000);
  for (let i = 0; i < 20; i++) {
    expect((await at.send('POST', '/account/orders', DIGITS)).status).toBe(401);
    expect((await at.sim('deposit', { account: ALICE, amount: '1' })).status).toBe(200);
  }
});

test('pipelined requests: a hundred are answered, more close the connection', async () => {
  const { url } = await start(10_000);
  const { port } = new URL(url);
  const ask = (count: number): Promise<number> =>
    new Promise((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write('GET /time HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
      });
      const answers = (): number => text.split('HTTP/1.1 200').length - 1;
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (answers() === count) socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve(answers());
      });
    });
  expect(await ask(100)).toBe(100);
  expect(await ask(2000)).toBeLessThan(101);
});

test('a refusal is prompt twenty times, then it waits', () => {
  let nowUs = 0;
  const admission = new Admission(10, () => nowUs);
  for (let i = 0; i < 10; i++) expect(admission.refusalOf('a')).toBeNull();
  for (let i = 0; i < 20; i++) expect(admission.refusalOf('a')).toBe(0);
  // Not all connections of a caller are read again in the same turn.
  for (let i = 0; i < 64; i++) expect(admission.refusalOf('a')).toBe(1000 + 8 * i);
  expect(admission.refusalOf('a')).toBe(1000);
  expect(admission.refusalOf('b')).toBeNull();
  nowUs = 1_000_000;
  expect(admission.refusalOf('a')).toBeNull();
  // A request of a higher cost.
  expect(admission.refusalOf('c', 'caller', 9)).toBeNull();
  expect(admission.refusalOf('c', 'caller', 2)).toBe(0);
});

test('bytes: one second’s worth at once, then as they are gained', () => {
  const limit = new TokenBuckets(1000);
  expect(limit.takes('a', 900, 0)).toBe(true);
  expect(limit.takes('a', 200, 0)).toBe(false);
  expect(limit.takes('a', 100, 0)).toBe(true);
  expect(limit.takes('a', 200, 100_000)).toBe(false);
  expect(limit.takes('a', 200, 200_000)).toBe(true);
  expect(limit.takes('b', 1000, 200_000)).toBe(true);
});

test('large messages of several feeds pass one after the other', () => {
  const admission = new Admission(200, () => 0);
  const turns = [1, 2, 3].map(() => admission.turnOfLarge(1000, 524_288));
  expect(turns).toEqual([1000, 1032, 1064]);
  expect(admission.turnOfLarge(2000, 524_288)).toBe(2000);
});
