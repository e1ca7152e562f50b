/**
 * Request limits, malformed input, rate limit, fault injection, simulation control (R-11.2, R-11.3,
 *
 */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { RateLimit } from '../../src/http/rate-limit.ts';
import { parseExact, stringifyExact } from '../../src/contract/exact-json.ts';
import { ALICE, order } from '../gateway/fixture.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { Served, SIM_TOKEN } from './served.ts';

const AS_ALICE = { account: ALICE, signer: ALICE };

describe('a request', () => {
  let served: Served;
  beforeAll(async () => {
    served = await Served.start();
    await served.sim('deposit', { account: ALICE, amount: '10000' });
    await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
  });
  afterAll(() => served.remove());

  const post = async (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    served.send('POST', '/account/order', body, {
      authorization: `Bearer ${await served.token(AS_ALICE)}`,
      ...headers,
    });

  test.each([
    ['/trades/BTC-USD-PERP?limit=5&limit=6', 'limit'],
    ['/book/BTC-USD-PERP?tickSize=1&tickSize=2', 'tickSize'],
    ['/auth?account=a&account=b', 'account'],
    // The path names a market already.
    ['/book/BTC-USD-PERP?symbol=ETH-USD-PERP', 'symbol'],
  ])('a query parameter that is given twice is named: %s', async (path, name) => {
    const response = await fetch(served.url + path);
    expect(response.status).toBe(400);
    expect(await response.json()).toBe(`${name}: is given more than once`);
  });

  test.each([
    ['invalid JSON', '{', 400, /^body: is not valid JSON: /],
    ['an empty body', '', 400, /^account: is required$/],
    ['a list', '[]', 400, /^body: must be an object$/],
    ['text', '"x"', 400, /^body: must be an object$/],
    ['a number', '17', 400, /^body: must be an object$/],
    ['null', 'null', 400, /is required$/],
    [
      'nested too deep',
      `${'['.repeat(8000)}1${']'.repeat(8000)}`,
      400,
      /nested deeper than 16 levels/,
    ],
    ['nested objects', `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`, 400, /nested deeper/],
    ['many elements', `[${'1,'.repeat(600)}1]`, 400, /has more than 512 keys and elements/],
    ['many keys', `{${'"a":1,'.repeat(300)}"a":1}`, 400, /has more than 512 keys and elements/],
    [
      'a key given twice',
      '{"nonce":1,"a":{"b":[]},"nonce":1}',
      400,
      /: key "nonce" is given twice$/,
    ],
    ['an escaped key given twice', '{"\\u0061":1,"a":2}', 400, /: key "a" is given twice$/],
    ['a number that rounds to an integer', '{"nonce":1e-400}', 400, /^account: is required$/],
    [
      'invalid UTF-8',
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      400,
      /^body: is not valid JSON/,
    ],
    ['more than 16 KiB', `{"a":"${'x'.repeat(16_400)}"}`, 413, /^Request body is too large$/],
    ['more than a MiB', `{"a":"${'x'.repeat(1_100_000)}"}`, 413, /^Request body is too large$/],
    ['a prototype key', '{"__proto__":{"account":1}}', 400, /^__proto__: unknown field$/],
    ['a constructor', '{"constructor":1}', 400, /^constructor: unknown field$/],
    ['a long number', `{"account":1${'0'.repeat(60)}}`, 400, /^account: must be a string$/],
    [
      'a huge number',
      `{"account":1${'0'.repeat(400)}}`,
      400,
      /a number has more than 64 characters$/,
    ],
  ] as const)('of %s is rejected with a message', async (_name, body, status, words) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatch(words);
  });

  test('of another content type is rejected', async () => {
    const answer = await post('a=1', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([answer.status, answer.body]).toEqual([415, 'Content-Type must be application/json']);
  });

  test.each(['balance', 'delegates'])('an empty subaccountIndex lists all: %s', async (list) => {
    const headers = { authorization: `Bearer ${await served.token(AS_ALICE)}` };
    const path = `/account/${list}?account=${ALICE}`;
    const all = await served.send('GET', path, undefined, headers);
    const empty = await served.send('GET', `${path}&subaccountIndex=`, undefined, headers);
    expect([empty.status, empty.body]).toEqual([200, all.body]);
  });

  test('int64 fields come back exactly (R-11.3)', async () => {
    const nonce = 9_223_372_036_854_775_000n;
    const answer = await post(stringifyExact(order({ nonce, expiresAt: 2n ** 63n - 1n })));
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"nonce":9223372036854775000');
    expect(answer.text).toContain('"expiresAt":9223372036854775807');
    const twin = await post(stringifyExact(order({ nonce: nonce + 1n })));
    expect(twin.status).toBe(200);
    expect((await post(stringifyExact(order({ nonce })))).body).toBe('Nonce already used');
  });

  test.each([
    ['GET', '/nothing', 404],
    ['GET', '/account/../../etc/passwd', 404],
    ['GET', '/price/%2e%2e%2f%2e%2e', 404],
    ['POST', '/time', 404],
    ['GET', `/price/${'x'.repeat(500)}`, 400],
  ])('%s %s is not found', async (method, path, status) => {
    expect((await served.send(method, path)).status).toBe(status);
  });

  test('its id is echoed if valid, otherwise one is generated', async () => {
    const echoed = await served.send('GET', '/time', undefined, { 'x-request-id': 'my-id.1' });
    expect(echoed.headers.get('x-request-id')).toBe('my-id.1');
    const made = await served.send('GET', '/time', undefined, { 'x-request-id': 'a b' });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('incomplete headers time out (slowloris)', async () => {
    const { port } = new URL(served.url);
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write('GET /time HTTP/1.1\r\nHost: x\r\nX-A: ');
      });
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('close', () => {
        resolve(text);
      });
      socket.on('error', () => undefined);
    });
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  }, 30_000);

  test('operations: health, readiness, metrics, documents', async () => {
    expect((await served.send('GET', '/healthz')).body).toEqual({ status: 'ok' });
    expect((await served.send('GET', '/readyz')).body).toMatchObject({ status: 'ready' });
    const metrics = (await served.send('GET', '/metrics')).text;
    for (const name of [
      'orrery_http_seconds_bucket{le="0.001",route="/account/order"}',
      'orrery_sync_duration_seconds_bucket{le="0.001"}',
      'orrery_waiting_answers 0',
      'orrery_book_levels{symbol="BTC-USD-PERP",side="bid"} ',
      'orrery_open_interest_lots{symbol="BTC-USD-PERP"} 0',
      'orrery_equity_at_risk_usd{below="+Inf"} 0',
      'orrery_connections ',
      'nodejs_eventloop_lag_seconds ',
    ]) {
      expect(metrics).toContain(name);
    }
    expect(metrics).toMatch(/orrery_sync_duration_seconds_count [1-9]/);
    expect(metrics).toContain('orrery_commands ');
    expect(metrics).toContain('orrery_http_requests_total{route="/account/order",status="200"}');
    const document = (await served.send('GET', '/openapi.json')).body as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    expect(document.openapi).toBe('3.1.0');
    expect(document.paths['/price/{symbol}']?.['get']?.operationId).toBe('getPrice');
    expect((await served.send('GET', '/docs/')).text).toContain('<title>Orrery API</title>');
  });
});

describe('simulation control (R-11.6)', () => {
  let served: Served;
  beforeAll(async () => {
    served = await Served.start();
  });
  afterAll(() => served.remove());

  test('requires its own token', async () => {
    const wanted = [401, 'Please add the simulation token to the header'];
    const none = await served.send('GET', '/sim/hash');
    expect([none.status, none.body]).toEqual(wanted);
    const other = await served.send('GET', '/sim/hash', undefined, { authorization: 'Bearer x' });
    expect([other.status, other.body]).toEqual(wanted);
    expect(SIM_TOKEN).not.toBe('x');
  });

  test('deposits, prices, clock, hash, snapshot, journal', async () => {
    expect(
      (await served.sim('deposit', { account: ALICE, subaccountIndex: 2, amount: '5.5' })).body,
    ).toBe(null);
    expect(
      (await served.sim('withdraw', { account: ALICE, subaccountIndex: 2, amount: '1' })).body,
    ).toBe(null);
    const balance = await served.call('getBalance', { account: ALICE }, AS_ALICE);
    expect(balance.body).toMatchObject([{ subaccountIndex: 2, balance: '4.5' }]);
    await served.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000.04' });
    expect((await served.send('GET', '/price/BTC-USD-PERP')).body).toMatchObject({
      index: '60000.04',
      mark: '60000',
    });
    const before = (await served.send('GET', '/time')).body as { time: number };
    const moved = await served.sim('clock', { advanceMs: 1500 });
    expect(moved.body).toEqual({ time: before.time + 1500 });
    const hash = (await served.sim('hash')).body as { sequenceNumber: number; hash: string };
    expect(hash.hash).toBe(served.host.exchange.engine.stateHash());
    expect(hash.sequenceNumber).toBe(served.host.view.seq);
    expect((await served.sim('snapshot', {})).body).toMatchObject({
      file: `snapshot-${String(hash.sequenceNumber).padStart(16, '0')}.bin`,
    });
    const journal = await fetch(`${served.url}/sim/journal`, {
      headers: { authorization: `Bearer ${SIM_TOKEN}` },
    });
    const replayed = replay(new Uint8Array(await journal.arrayBuffer()), { verify: true });
    expect(replayed.engine.stateHash()).toBe(hash.hash);
  });

  test.each([
    ['deposit', { account: 'x', amount: '1' }, 'account: must be an address: 0x and 40 hex digits'],
    ['deposit', { account: ALICE, amount: '0.0000001' }, 'amount: must have at most 6 decimals'],
    ['deposit', { account: ALICE, amount: '-1' }, 'amount must be positive'],
    ['deposit', { account: ALICE, amount: '9'.repeat(38) }, 'amount: is out of range'],
    [
      'deposit',
      { account: ALICE, amount: '4611686018427.387905' },
      'amount exceeds what the exchange can hold',
    ],
    ['withdraw', { account: `0x${'12'.repeat(20)}`, amount: '1' }, 'Account not found'],
    ['withdraw', { account: ALICE, subaccountIndex: 9, amount: '1' }, 'Invalid subaccount index'],
    ['oracle', { symbol: 'X', price: '1' }, 'Symbol not found'],
    [
      'oracle',
      { symbol: 'BTC-USD-PERP', price: '0' },
      "price: must be from 0.1 to the market's maxPrice",
    ],
    ['mark', { symbol: 'BTC-USD-PERP', price: '1' }, "symbol: the market's mark is not external"],
    ['funding', { symbol: 'BTC-USD-PERP', rate: '2' }, 'rate: must be from -1 to 1'],
    [
      'funding',
      { symbol: 'BTC-USD-PERP', rate: '0.1' },
      "symbol: the market's funding is not external",
    ],
    ['clock', {}, 'body: must have either advanceMs or toMs'],
    ['clock', { advanceMs: 1, toMs: 1 }, 'body: must have either advanceMs or toMs'],
    ['clock', { advanceMs: -1 }, 'advanceMs: must be an integer from 0 to 9223372036854775807'],
    [
      'faults',
      { fault: 'fire' },
      'fault: must be one of timeout, nonceStore, rateLimit, unavailable, internalError, lostAnswer, latency',
    ],
    ['faults', { fault: 'latency', times: 1 }, 'latencyMs: is required'],
    ['faults', { fault: 'timeout', times: -1 }, 'times: must be from 0 to 1000000'],
  ])('%s %j is rejected: %s', async (path, body, words) => {
    const answer = await served.sim(path, body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body).toBe(words);
  });

  test('injected faults', async () => {
    const ask = () => served.send('GET', `/auth?account=${ALICE}`);
    await served.sim('faults', { fault: 'timeout', times: 2 });
    expect(await ask()).toMatchObject({ status: 408, body: 'Request timed out' });
    expect(await ask()).toMatchObject({ status: 408 });
    expect((await ask()).status).toBe(200);
    await served.sim('faults', { fault: 'nonceStore' });
    expect(await ask()).toMatchObject({ status: 500, body: 'Failed to store auth nonce' });
    await served.sim('faults', { fault: 'rateLimit' });
    const limited = await ask();
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    await served.sim('faults', { fault: 'unavailable' });
    expect((await ask()).status).toBe(503);
    await served.sim('faults', { fault: 'latency', latencyMs: 120 });
    const started = performance.now();
    expect((await ask()).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(100);
  });
});

describe('the rate (R-11.2)', () => {
  let served: Served | null = null;
  afterEach(async () => {
    await served?.remove();
    served = null;
  });

  test('200 in any sliding second, then 429 until a second after the first refusal', () => {
    const limit = new RateLimit(200);
    for (let i = 0; i < 200; i++) expect(limit.accepts('a', i * 1000)).toBe(true);
    expect(limit.accepts('a', 999_999)).toBe(false);
    expect(limit.accepts('b', 999_999)).toBe(true);
    // Rejected requests do not extend it, and the window alone does not end it.
    expect(limit.accepts('a', 1_500_000)).toBe(false);
    expect(limit.accepts('a', 1_999_998)).toBe(false);
    expect(limit.accepts('a', 1_999_999)).toBe(true);
  });

  test('is counted by account, by the exchange’s clock', async () => {
    served = await Served.start({ requestsPerSecond: 3 });
    const config = (await served.call('getConfig', {}, null)).body;
    expect(config).toMatchObject({ requestsPerSecond: 3 });
    await served.sim('deposit', { account: ALICE, amount: '1' });
    const ask = (as = AS_ALICE) => served!.call('getBalance', { account: as.account }, as);
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).toEqual([
      429,
      'Too many requests',
      '1',
    ]);
    const { seq } = served.host.view;
    await ask();
    expect(served.host.view.seq).toBe(seq);
    await served.sim('clock', { advanceMs: 1000 });
    expect((await ask()).status).toBe(200);
  });
});

describe('exact JSON', () => {
  test.each([
    ['1e3', 1000],
    ['-1.50e1', -15],
    ['1.0', 1],
    ['0e99', 0],
    ['1e-400', NaN],
    ['1.00000000000000000000000001', NaN],
    ['2251799813685249.5', 2_251_799_813_685_249.5],
    ['9007199254740993.5', NaN],
    ['1e400', Infinity],
    ['1e18', 1_000_000_000_000_000_000n],
  ])('an integer is read from its text: %s is %s', (text, value) => {
    expect(parseExact(text)).toBe(value);
  });

  test.each([
    ['{"a":9223372036854775807}', { a: 9_223_372_036_854_775_807n }],
    ['{"a":9007199254740991,"b":1.5}', { a: 9_007_199_254_740_991, b: 1.5 }],
    ['{"a":"1234567890123456789"}', { a: '1234567890123456789' }],
    ['[1,2,null,true,"x"]', [1, 2, null, true, 'x']],
  ])('%s', (text, value) => {
    expect(parseExact(text)).toEqual(value);
    expect(stringifyExact(value)).toBe(text);
  });
});
