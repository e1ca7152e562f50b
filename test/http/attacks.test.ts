/**
 * Input of a hostile client, written to raw sockets: each is answered with an error text, and the
 * exchange continues.
 */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { callerOfAddress, RateLimit } from '../../src/http/rate-limit.ts';
import { ALICE, order } from '../gateway/fixture.ts';
import { Served, SIM_TOKEN } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.start();
});
afterAll(() => served.remove());

const portOf = (of: Served): number => Number(new URL(of.url).port);

interface Received {
  readonly text: string;
  /** True if the server closed the connection. */
  readonly closed: boolean;
}

/**
 * The server's reply to these bytes, until it closes the connection or `done` appears in it.
 * `later` is sent after a reply of status 101.
 */
function say(
  to: Served,
  bytes: string | Uint8Array,
  done = /\r\n\r\n./s,
  later = '',
): Promise<Received> {
  return new Promise((resolve) => {
    let text = '';
    let isOpen = false;
    const socket = connect(portOf(to), '127.0.0.1', () => socket.write(bytes));
    const end = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const timer = setTimeout(() => {
      end(false);
    }, 8000);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!isOpen && / 101 [^]*\r\n\r\n/.test(text)) {
        isOpen = true;
        socket.write(later, 'latin1');
      }
      if (done.test(text)) end(false);
    });
    socket.on('close', () => {
      end(true);
    });
    socket.on('error', () => undefined);
  });
}

const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const post = (body: string, ...headers: string[]): string =>
  ['POST /auth HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers, '', body].join(
    '\r\n',
  );
const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const MALFORMED = 'Malformed HTTP request';
const UPGRADES = 'Upgrade: only websocket is offered, at /ws';

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400, MALFORMED],
  ['a TLS handshake', new Uint8Array([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]), 400, MALFORMED],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, MALFORMED],
  ['an unknown method', 'BREW /time HTTP/1.1\r\nHost: x\r\n\r\n', 400, MALFORMED],
  ['a control character in a header', get('/time', 'X-A: a\x01b'), 400, MALFORMED],
  ['two lengths', post('{"a":1', 'Content-Length: 5', 'Content-Length: 6'), 400, MALFORMED],
  [
    'a length and chunks (request smuggling)',
    post('0\r\n\r\n', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    400,
    MALFORMED,
  ],
  ['a negative length', post('', 'Content-Length: -5'), 400, MALFORMED],
  ['a chunk without a size', post('zz\r\n', 'Transfer-Encoding: chunked'), 400, MALFORMED],
  ['a huge length', post('{', 'Content-Length: 99999999999999'), 413, 'Request body is too large'],
  [
    'a long header',
    get('/time', `X-A: ${'a'.repeat(100_000)}`),
    431,
    'Request headers are too large',
  ],
  [
    'many headers',
    get('/time', ...Array.from({ length: 5000 }, (_, i) => `x${String(i)}: 1`)),
    431,
    'Request headers are too large',
  ],
  [
    'more than 100 headers',
    get('/time', ...Array.from({ length: 100 }, (_, i) => `x${String(i)}: 1`)),
    431,
    'Request has more than 100 headers',
  ],
  ['a long path', get(`/price/${'x'.repeat(100_000)}`), 431, 'Request headers are too large'],
  ['a path with an incomplete character', get('/price/%ff%fe'), 400, MALFORMED],
  ['a path with invalid hex', get('/price/%zz'), 400, MALFORMED],
  ['a null in a path', get('/price/%00'), 404, 'Symbol not found'],
  ['a path traversal', get('/docs/static/../../../../etc/passwd'), 404, 'No such endpoint'],
  [
    'a path traversal with backslashes',
    get('/docs/static/..%5c..%5cpackage.json'),
    404,
    'No such endpoint',
  ],
  [
    'a path traversal in hex',
    get('/docs/static/%2e%2e%2f%2e%2e%2fpackage.json'),
    404,
    'No such endpoint',
  ],
  ['a prototype key in a query', get('/auth?__proto__=1'), 400, '__proto__: unknown field'],
  ['an unknown parameter', get('/time?x=1'), 400, 'x: unknown field'],
  ['five thousand parameters', get(`/auth?${'a&'.repeat(5000)}`), 400, 'a: unknown field'],
  [
    'a repeated parameter',
    get(`/auth?account=${ALICE}&account=${ALICE}`),
    400,
    'account: is given more than once',
  ],
  [
    'a compressed body',
    post('{}', 'Content-Encoding: gzip', 'Content-Length: 2'),
    415,
    'Content-Encoding: only identity is offered',
  ],
  ['an upgrade to //', get('//', ...UPGRADE, KEY), 400, UPGRADES],
  ['an upgrade with an invalid address', get('http://[:/ws', ...UPGRADE, KEY), 400, UPGRADES],
  ['an upgrade to another path', get('/time', ...UPGRADE, KEY), 400, UPGRADES],
  ['an upgrade to HTTP/2', get('/ws', 'Connection: Upgrade', 'Upgrade: h2c'), 400, UPGRADES],
  ['the feeds without an upgrade', get('/ws'), 426, 'Upgrade: /ws is a WebSocket'],
  ['the feeds without a key', get('/ws', ...UPGRADE), 400, MALFORMED],
  ['the feeds by POST', get('/ws', ...UPGRADE, KEY).replace('GET', 'POST'), 400, MALFORMED],
  ['two hosts', get('/time', 'hOsT: y'), 400, MALFORMED],
  ['two equal hosts', get('/time', 'Host: x'), 400, MALFORMED],
  ['two hosts in HTTP/1.0', get('/time', 'Host: y').replace('/1.1', '/1.0'), 400, MALFORMED],
  ['a host with a space', get('/time').replace('Host: x', 'Host: x y'), 400, MALFORMED],
  ['a host with a user', get('/time').replace('Host: x', 'Host: u@x'), 400, MALFORMED],
  ['the feeds with two hosts', get('/ws', 'Host: y', ...UPGRADE, KEY), 400, MALFORMED],
  [
    'the feeds without a host',
    get('/ws', ...UPGRADE, KEY).replace('Host: x\r\n', ''),
    400,
    MALFORMED,
  ],
  ['CONNECT', 'CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'No such endpoint'],
] as const)('%s', async (_name, bytes, status, words) => {
  const { text } = await say(served, bytes);
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
  expect(JSON.parse(body)).toBe(words);
  expect(head).toContain('text/plain');
  expect((await served.send('GET', '/time')).status).toBe(200);
});

test('CONNECT behind other requests is answered after them, and then the connection closes', async () => {
  const bytes = `${get('/time')}${get('/config')}CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\n\r\n`;
  const { text, closed } = await say(served, bytes, /never/);
  expect(closed).toBe(true);
  expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404']);
});

test('an upgrade without its key is rejected, and an aborted one has no effect', async () => {
  expect((await say(served, get('/ws', ...UPGRADE))).text).toMatch(/^HTTP\/1.1 400 /);
  for (const path of ['/ws', '/time', '//']) {
    const socket = connect(portOf(served), '127.0.0.1', () => {
      socket.write(get(path, ...UPGRADE, KEY));
      socket.resetAndDestroy();
    });
    await new Promise((resolve) => socket.on('close', resolve));
  }
  expect((await served.send('GET', '/time')).status).toBe(200);
});

test('a hundred pipelined requests are answered in order', async () => {
  const { text } = await say(
    served,
    Array.from({ length: 100 }, (_, i) => get('/time', `X-Request-Id: r${String(i)}`)).join(''),
    /x-request-id: r99\r\n.*time/s,
  );
  const ids = [...text.matchAll(/x-request-id: r(\d+)/g)].map(([, id]) => Number(id));
  expect(ids).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test.each([
  ['without a host', 'GET /time HTTP/1.1\r\n\r\n', 400, '"Malformed HTTP request"'],
  ['with two hosts', get('/time', 'Host: y'), 400, '"Malformed HTTP request"'],
  ['with an unknown expectation', get('/time', 'Expect: x'), 200, '{"time":'],
])('requests %s are answered within the limits of a connection', async (_, text, status, body) => {
  const one = await say(served, text);
  expect(one.text).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
  expect(one.text).toContain(`\r\n\r\n${body}`);
  const many = await say(served, text.repeat(1000), /^never$/);
  expect(many.closed).toBe(true);
  expect(many.text.match(/HTTP\/1.1/g)?.length ?? 0).toBeLessThanOrEqual(100);
});

test('a client that ends its sending side reads the answers of all its requests', async () => {
  const text = await new Promise<string>((resolve) => {
    let received = '';
    const socket = connect({ port: portOf(served), host: '127.0.0.1', allowHalfOpen: true });
    const deposit = JSON.stringify({ account: ALICE, amount: '1' });
    const write = [
      'POST /sim/deposit HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${SIM_TOKEN}`,
      'Content-Type: application/json',
      `Content-Length: ${String(deposit.length)}`,
    ];
    // The answer of a deposit waits for the disk.
    socket.end(([...write, '', deposit].join('\r\n') + get('/time')).repeat(3));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    // The server closes its side behind the last answer.
    socket.on('end', () => {
      resolve(received);
    });
  });
  expect(text.match(/HTTP\/1.1 200 OK/g)?.length).toBe(6);
  expect(text).toMatch(/\{"time":\d+\}$/);
});

describe('behind an order that is not answered yet', () => {
  const ordered = async (rest: string, done: RegExp, later = ''): Promise<Received> => {
    const token = await served.token({ account: ALICE, signer: ALICE });
    const body = JSON.stringify(order({ price: '59000', quantity: '0.1' }));
    const head = [
      'POST /account/order HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `Authorization: Bearer ${token}`,
      `Content-Length: ${String(body.length)}`,
    ];
    const text = [...head, '', body].join('\r\n') + rest;
    return say(served, Buffer.from(text, 'latin1'), done, later);
  };
  const statuses = ({ text }: Received): string[] =>
    [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status = '']) => status);

  beforeAll(async () => {
    await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
    await served.sim('deposit', { account: ALICE, amount: '100000' });
  });

  test.each([
    ['malformed bytes', 'hello\r\n\r\n', '400'],
    ['large headers', get('/time', `X: ${'a'.repeat(20_000)}`), '431'],
    ['a malformed chunk', post('zz\r\n{}', 'Transfer-Encoding: chunked'), '400'],
    ['an upgrade to HTTP/2', get('/ws', 'Connection: Upgrade', 'Upgrade: h2c'), '400'],
  ])('%s have their answer after it', async (_name, rest, status) => {
    const received = await ordered(rest, /"(Malformed|Upgrade:|Request headers)/);
    expect(statuses(received)).toEqual(['200', status]);
    expect(received.text).toContain('"status":"new"');
  });

  test('a feed is opened after it', async () => {
    const received = await ordered(get('/ws', ...UPGRADE, KEY), /HTTP\/1.1 101[^]*HTTP|200[^]*101/);
    expect(statuses(received)).toEqual(['200', '101']);
  });

  test('a feed is read from its first frame', async () => {
    const PING = '\x89\x80\x01\x02\x03\x04';
    const upgrade = get('/ws', ...UPGRADE, KEY);
    const { text } = await ordered(upgrade + PING, /\x8a.\x8a.$/s, PING);
    expect(text).toMatch(/ 200 [^]* 101 [^]*\x8a.\x8a.$/s);
  });

  test('a feed whose client leaves has no effect', async () => {
    const token = await served.token({ account: ALICE, signer: ALICE });
    const path = `/account/balance?account=${ALICE}`;
    for (let i = 0; i < 5; i++) {
      const read = get(path, `Authorization: Bearer ${token}`);
      const socket = connect(portOf(served), '127.0.0.1', () => {
        void served.sim('deposit', { account: ALICE, amount: '1' });
        socket.write(read + get('/ws', ...UPGRADE, KEY));
        setTimeout(() => socket.resetAndDestroy(), i);
      });
      await new Promise((resolve) => socket.on('close', resolve));
    }
    expect((await served.send('GET', '/time')).status).toBe(200);
  });
});

test('no reply contains a stack trace', async () => {
  await served.sim('faults', { fault: 'internalError', endpoint: 'getCandles' });
  const answer = await served.send('GET', '/candles/BTC-USD-PERP');
  expect(answer.status).toBe(500);
  expect(answer.body).toMatch(/^Internal server error: /);
  expect(answer.text).not.toMatch(/\bat .*:\d+/);
});

describe('slow clients (slowloris)', () => {
  let quick: Served;
  beforeAll(async () => {
    quick = await Served.start({ limits: { requestMs: 500 } });
  });
  afterAll(() => quick.remove());

  /** Sends a byte periodically, so that the connection is never idle; nothing for an empty one. */
  const dribble = (head: string, to = quick, byte = 'a'): Promise<Received> =>
    new Promise((resolve) => {
      let text = '';
      const socket: Socket = connect(portOf(to), '127.0.0.1', () => socket.write(head));
      const drip = setInterval(() => socket.write(byte), 100);
      const timer = setTimeout(() => socket.destroy(), 8000);
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(drip);
        clearTimeout(timer);
        resolve({ text, closed: true });
      });
    });

  test.each([
    ['headers', 'GET /time HTTP/1.1\r\nHost: x\r\nX-A: '],
    ['a body', post('{"a":"', 'Content-Length: 5000')],
  ])('slow %s are answered 408 and closed', async (_name, head) => {
    const { text } = await dribble(head);
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(text).toContain('"Request timed out"');
  });

  test('a request that stops is answered 408 before its silent connection is closed', async () => {
    const patient = await Served.start({ limits: { requestMs: 2500 } });
    const answers: Promise<Received>[] = [];
    // Begun at different times between two checks.
    for (let i = 0; i < 6; i++) {
      answers.push(dribble('GET /time HTTP/1.1\r\nHost: x\r\nX-A: ', patient, ''));
      answers.push(dribble(post('{"a":"', 'Content-Length: 5000'), patient, ''));
      await new Promise((resolve) => setTimeout(resolve, 90));
    }
    for (const { text } of await Promise.all(answers)) {
      expect(text).toMatch(/^HTTP\/1.1 408 .*"Request timed out"$/s);
    }
    await patient.remove();
  });

  test('a snapshot that takes longer than a client may be silent is answered', async () => {
    const { exchange } = quick.host;
    const snapshot = vi.spyOn(exchange, 'snapshot').mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return 'late';
    });
    try {
      expect(await quick.sim('snapshot', {})).toMatchObject({ body: { file: 'late' } });
    } finally {
      snapshot.mockRestore();
    }
  });

  test('a snapshot for which there is no space is answered 503 with the reason', async () => {
    const full = new Error('no space left on the device');
    const snapshot = vi.spyOn(quick.host.exchange, 'snapshot').mockRejectedValue(full);
    try {
      expect(await quick.sim('snapshot', {})).toMatchObject({
        status: 503,
        body: 'No snapshot: no space left on the device',
      });
    } finally {
      snapshot.mockRestore();
    }
  });
});

test('connections beyond the limit are answered 503, and open connections continue', async () => {
  const few = await Served.start({ limits: { connections: 20 } });
  try {
    const sockets: Socket[] = [];
    const received: string[] = [];
    for (let i = 0; i < 60; i++) {
      const socket = connect(portOf(few), '127.0.0.1');
      socket.on('data', (chunk) => received.push(chunk.toString()));
      socket.on('error', () => undefined);
      sockets.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve));
    }
    await expect.poll(() => received.length).toBe(40);
    for (const text of received) {
      expect(text).toMatch(/^HTTP\/1.1 503 .*"Too many connections"$/s);
      expect(text).toContain('retry-after: 1');
    }
    received.length = 0;
    sockets[0]!.write(get('/time'));
    await expect.poll(() => received.join('')).toContain('200 OK');
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await few.send('GET', '/healthz')).status).toBe(200);
  } finally {
    await few.remove();
  }
});

describe('callers without a token', () => {
  test.each([
    ['10.0.0.1', 'ip 10.0.0.1'],
    ['::ffff:10.0.0.1', 'ip 10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', 'ip 2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', 'ip 2001:db8:1:2::/64'],
    ['2001:db8::6', 'ip 2001:db8:0:0::/64'],
    ['::1', 'ip 0:0:0:0::/64'],
  ])('%s is %s', (address, caller) => {
    expect(callerOfAddress(address)).toBe(caller);
  });

  test('many of them are evicted a second later, at bounded cost', () => {
    const limit = new RateLimit(200);
    for (let i = 0; i < 50_000; i++) limit.accepts(`ip ${String(i)}`, i);
    const windows = (limit as unknown as { windows: Map<string, unknown> }).windows;
    expect(windows.size).toBe(50_000);
    limit.accepts('ip late', 2_000_000);
    expect(windows.size).toBe(1);
  });

  test('they are distinguished behind a trusted proxy only', async () => {
    const believed = { requestsPerSecond: 2, trustProxy: ['127.0.0.1'] };
    const statuses = async (options: typeof believed | { requestsPerSecond: number }) => {
      const of = await Served.start(options);
      try {
        const found: number[] = [];
        for (let i = 0; i < 4; i++) {
          const headers = { 'x-forwarded-for': `10.0.0.${String(i)}` };
          found.push((await of.send('GET', '/time', undefined, headers)).status);
        }
        return found;
      } finally {
        await of.remove();
      }
    };
    expect(await statuses(believed)).toEqual([200, 200, 200, 200]);
    expect(await statuses({ requestsPerSecond: 2 })).toEqual([200, 200, 429, 429]);
  });
});

describe('fault injection', () => {
  const AS_ALICE = { account: ALICE, signer: ALICE };

  test('faults affect one endpoint and no other', async () => {
    await served.sim('faults', { fault: 'timeout', endpoint: 'getPrice', times: 2 });
    expect((await served.send('GET', '/time')).status).toBe(200);
    const struck = await served.send('GET', '/price/BTC-USD-PERP');
    expect([struck.status, struck.body]).toEqual([408, 'Request timed out']);
    await served.sim('faults', { fault: 'timeout', endpoint: 'getPrice', times: 0 });
    expect((await served.send('GET', '/price/BTC-USD-PERP')).status).toBe(200);
    const wrong = await served.sim('faults', { fault: 'timeout', endpoint: 'constructor' });
    expect(wrong.body).toBe(
      'endpoint: must be the operation id of an endpoint, such as submitOrder',
    );
  });

  test('a reply is lost after the order was placed', async () => {
    await served.sim('deposit', { account: ALICE, amount: '10000' });
    await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
    await served.sim('faults', { fault: 'lostAnswer', endpoint: 'submitOrder' });
    const before = served.host.view.lastOrderId;
    const lost = order();
    await expect(served.call('submitOrder', lost, AS_ALICE)).rejects.toThrow();
    expect(served.host.view.lastOrderId).toBe(before + 1);
    const again = await served.call('submitOrder', lost, AS_ALICE);
    expect([again.status, again.body]).toEqual([409, 'Nonce already used']);
  });

  test('faults also affect orders over a feed', async () => {
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    const ask = (method: string, params: unknown): Promise<unknown> =>
      new Promise((resolve) => {
        socket.once('message', (data: Buffer) => {
          resolve(JSON.parse(data.toString()));
        });
        socket.once('close', () => {
          resolve('closed');
        });
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
      });
    await ask('auth', { bearer: await served.token(AS_ALICE) });
    for (const [fault, status] of [
      ['rateLimit', 429],
      ['unavailable', 503],
      ['timeout', 408],
      ['internalError', 500],
    ] as const) {
      await served.sim('faults', { fault, endpoint: 'submitOrder' });
      expect(await ask('create', order())).toMatchObject({ error: { data: { status } } });
    }
    await served.sim('faults', { fault: 'lostAnswer', endpoint: 'submitOrder' });
    const before = served.host.view.lastOrderId;
    expect(await ask('create', order())).toBe('closed');
    expect(served.host.view.lastOrderId).toBe(before + 1);
  });
});
