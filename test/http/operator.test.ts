/**
 * The operator over HTTP (§13): every route, its token, rejections and their texts, the audit list,
 * and state after a restart.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINT_IDS, ENDPOINTS, type Endpoint } from '../../src/contract/endpoints.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { ALICE, BOB, order, STRANGER, SYMBOL } from '../gateway/fixture.ts';
import { OPERATOR_TOKEN, Served, type Answer } from './served.ts';

const ETH = 'ETH-USD-PERP';
const HOUR_MS = 3_600_000;
const SEED = 'c0ffee0123456789';
const X = { symbol: 'X-USD-PERP', tickSize: '0.1', lotSize: '0.01' };
const AS_ALICE = { account: ALICE, signer: ALICE } as const;

type MarketBody = Readonly<Record<string, unknown>> & {
  readonly nextTerms: Readonly<Record<string, unknown>> | null;
};

let served: Served;
beforeAll(async () => {
  served = await Served.start({ config: { ...DEFAULT_EXCHANGE_CONFIG, samplingSeed: SEED } });
  for (const account of [ALICE, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
});
afterAll(() => served.remove());

async function marketOf(symbol: string): Promise<MarketBody> {
  const { body } = await served.call('getMarkets', {}, null);
  return (body as MarketBody[]).find((market) => market['symbol'] === symbol)!;
}

async function audit(): Promise<Record<string, unknown>[]> {
  return (await served.operator('audit')).body as Record<string, unknown>[];
}

const ROUTES = [
  `preview/markets/${SYMBOL}/status`,
  'markets',
  `markets/${SYMBOL}/terms`,
  `markets/${SYMBOL}/status`,
  `markets/${SYMBOL}/delist`,
  'insurance/credit',
  'deposit',
  'withdraw',
];

describe('the token', () => {
  test.each([...ROUTES, 'audit'])(
    '%s replies 401 without it and with a wrong one',
    async (path) => {
      const method = path === 'audit' ? 'GET' : 'POST';
      const body = method === 'GET' ? undefined : '{}';
      const words = 'Please add the operator token to the header';
      for (const headers of [
        {},
        { authorization: 'Bearer wrong' },
        { authorization: OPERATOR_TOKEN },
        { authorization: 'Bearer sim-token' },
        { authorization: `Bearer ${await served.token(AS_ALICE)}` },
      ]) {
        const answer = await served.send(method, `/operator/${path}`, body, headers);
        expect([answer.status, answer.body]).toEqual([401, words]);
      }
    },
  );

  test('without a configured token the routes do not exist', async () => {
    const plain = await Served.start({ operatorToken: null });
    try {
      for (const path of ROUTES) {
        expect((await plain.operator(path, {})).status).toBe(404);
      }
      expect((await plain.operator('audit')).status).toBe(404);
      const { body } = await plain.send('GET', '/openapi.json');
      expect(JSON.stringify(body)).not.toContain('/operator/');
    } finally {
      await plain.remove();
    }
  });

  test('OpenAPI has every route under its own security scheme', async () => {
    const { body } = await served.send('GET', '/openapi.json');
    const { paths } = body as { paths: Record<string, Record<string, { security: unknown }>> };
    const operator = Object.entries(paths).filter(([path]) => path.startsWith('/operator/'));
    const commands = [
      'deposit',
      'insurance/credit',
      'markets',
      'markets/{symbol}/delist',
      'markets/{symbol}/status',
      'markets/{symbol}/terms',
      'withdraw',
    ];
    const reads = ['/operator/accounts', '/operator/audit', '/operator/status'];
    const expected = commands.flatMap((path) => [`/operator/${path}`, `/operator/preview/${path}`]);
    expect(operator.map(([path]) => path).sort()).toEqual([...reads, ...expected].sort());
    for (const [, methods] of operator) {
      for (const { security } of Object.values(methods)) {
        expect(security).toEqual([{ operator: [] }]);
      }
    }
  });
});

describe('commands', () => {
  test('a listed market appears in reads', async () => {
    expect((await served.operator('markets', X)).status).toBe(200);
    expect(await marketOf(X.symbol)).toMatchObject({ ...X, status: 'open', nextTerms: null });
    expect((await audit())[0]).toMatchObject({ command: 'listMarket', symbol: X.symbol });
  });

  test('fees change at once', async () => {
    const answer = await served.operator(`markets/${SYMBOL}/terms`, { takerFee: '0.0005' });
    expect([answer.status, answer.body]).toEqual([200, null]);
    expect(await marketOf(SYMBOL)).toMatchObject({ takerFee: '0.0005', nextTerms: null });
  });

  test('a higher maintenance rate waits for its notice, and both rates are shown', async () => {
    const now = (await served.call('getTime', {}, null)).body as { time: number };
    const terms = { initialMargin: '0.05', maintenanceMargin: '0.025' };
    expect((await served.operator(`markets/${ETH}/terms`, terms)).status).toBe(200);
    const waiting = await marketOf(ETH);
    expect(waiting['marginTiers']).toMatchObject([
      { initialMargin: '0.02', maintenanceMargin: '0.01' },
    ]);
    expect(waiting.nextTerms).toMatchObject({
      effectiveAt: now.time + 24 * HOUR_MS,
      marginTiers: [{ initialMargin: '0.05', maintenanceMargin: '0.025' }],
    });
    await served.sim('clock', { advanceMs: 24 * HOUR_MS });
    expect(await marketOf(ETH)).toMatchObject({
      marginTiers: [{ initialMargin: '0.05', maintenanceMargin: '0.025' }],
      nextTerms: null,
    });
    await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  });

  test('a status restricts orders, with the text of a rejection', async () => {
    const status = (word: string): Promise<Answer> =>
      served.operator(`markets/${SYMBOL}/status`, { status: word });
    for (const word of ['postOnly', 'reduceOnly', 'cancelOnly', 'halted']) {
      expect((await status(word)).status).toBe(200);
      expect((await marketOf(SYMBOL))['status']).toBe(word);
      const { body } = await served.call('submitOrder', order({ nonce: ++nonce }), AS_ALICE);
      expect(body).toMatchObject([{ status: 'rejected', reason: 'halted' }]);
    }
    const frozen = (await served.call('getPrice', { symbol: SYMBOL }, null)).body;
    expect(frozen).toMatchObject({ status: 'halted', frozen: true });
    expect((await status('open')).status).toBe(200);
    const { body } = await served.call('getPrice', { symbol: SYMBOL }, null);
    expect(body).toMatchObject({ status: 'open', frozen: false, frozenSince: null });
  });

  test('deposits and withdrawals appear in the audit list', async () => {
    expect((await served.operator('deposit', { account: STRANGER, amount: '10.5' })).status).toBe(
      200,
    );
    expect((await served.operator('withdraw', { account: STRANGER, amount: '0.5' })).status).toBe(
      200,
    );
    expect((await served.operator('insurance/credit', { amount: '1000' })).status).toBe(200);
    const config = (await served.call('getConfig', {}, null)).body as Record<string, unknown>;
    expect(config['requestsPerSecond']).toBeNull();
    expect(config).toMatchObject({ insuranceBalance: '1000', insuranceAllowance: '250' });
    expect(await audit()).toMatchObject([
      { command: 'deposit', account: config['insuranceAccount'], amount: '1000' },
      { command: 'withdraw', account: STRANGER, subaccountIndex: 0, amount: '0.5' },
      { command: 'deposit', account: STRANGER, subaccountIndex: 0, amount: '10.5' },
      ...Array.from({ length: 5 }, () => ({ command: 'setMarketStatus', symbol: SYMBOL })),
      { command: 'setMarketTerms', symbol: ETH },
      { command: 'setMarketTerms', symbol: SYMBOL },
      { command: 'listMarket', symbol: X.symbol },
      ...(await audit()).slice(11),
    ]);
  });

  test('delisting settles positions at the index and closes the market', async () => {
    const nowhere = { symbol: ETH, quantity: '0.1', price: '3000', nonce: ++nonce };
    await served.sim('oracle', { symbol: ETH, price: '3000' });
    await served.call('submitOrder', order(nowhere), AS_ALICE);
    const sell = { ...nowhere, account: BOB, quantity: '-0.1' };
    await served.call('submitOrder', order(sell), { account: BOB, signer: BOB });
    const held = await served.call(
      'getPositions',
      { account: ALICE, subaccountIndex: 0 },
      AS_ALICE,
    );
    expect(held.body).toMatchObject([{ symbol: ETH, quantity: '0.1', adlQuantile: 5 }]);
    expect((await served.operator(`markets/${ETH}/delist`, {})).status).toBe(200);
    expect((await marketOf(ETH))['status']).toBe('delisted');
    const after = await served.call(
      'getPositions',
      { account: ALICE, subaccountIndex: 0 },
      AS_ALICE,
    );
    expect(after.body).toEqual([]);
    expect((await audit())[0]).toMatchObject({
      command: 'delistMarket',
      symbol: ETH,
      price: '3000',
    });
    const again = await served.operator(`markets/${ETH}/status`, { status: 'open' });
    expect([again.status, again.body]).toEqual([400, 'symbol: the market is delisted']);
  });
});

let nonce = 5_000_000;
const MAX = '9'.repeat(38);

/** Route, body, status, text. */
const REFUSED: readonly (readonly [string, unknown, number, string | RegExp])[] = [
  ['markets', { ...X }, 400, 'symbol: is listed already'],
  ['markets', { ...X, symbol: 'Y', speed: '1' }, 400, 'market.speed: unknown field'],
  ['markets', { ...X, symbol: 'Y', tickSize: '0' }, 400, 'market.tickSize: must be positive'],
  ['markets', { ...X, symbol: 'Y', tickSize: MAX }, 400, /market/],
  ['markets', { ...X, symbol: 'Y', lotSize: '0.000000000001' }, 400, /market/],
  [
    'markets',
    { ...X, symbol: 'Y', maxMarkDeviation: '0.5' },
    400,
    /^market.maxMarkDeviation: must be at most half of/,
  ],
  [
    'markets',
    { ...X, symbol: 'Y', markSource: 'last' },
    400,
    /^market.markSource: last needs initialMark/,
  ],
  ['markets', {}, 400, /market\.symbol/],
  ['markets', [], 400, /market/],
  ['markets', '{"__proto__":{"symbol":"Y"}}', 400, /__proto__/],
  [`markets/${SYMBOL}/terms`, { tickSize: '1' }, 400, /^tickSize: identifies the market/],
  [`markets/${SYMBOL}/terms`, { markSource: 'index' }, 400, /^terms: what identifies a market/],
  [`markets/${SYMBOL}/terms`, { takerFee: '2' }, 400, /takerFee/],
  [`markets/${SYMBOL}/terms`, { makerFee: '-0.5' }, 400, /akerFee/],
  [`markets/${SYMBOL}/terms`, { takerFee: {} }, 400, /takerFee/],
  [`markets/${SYMBOL}/terms`, { maxQuantity: MAX }, 400, /maxQuantity/],
  [`markets/${SYMBOL}/terms`, { initialMargin: '0.01', maintenanceMargin: '0.02' }, 400, /argin/],
  [`markets/${SYMBOL}/terms`, { funding: { speed: '1' } }, 400, /speed: unknown field/],
  [`markets/${SYMBOL}/terms`, { funding: 'x' }, 400, /funding/],
  [`markets/${SYMBOL}/terms`, '{"__proto__":{"takerFee":"0"}}', 400, /__proto__/],
  [`markets/${SYMBOL}/terms`, [], 400, 'terms: must be an object'],
  ['markets/NONE/terms', { takerFee: '0' }, 404, 'Symbol not found'],
  ['markets/constructor/terms', { takerFee: '0' }, 404, 'Symbol not found'],
  [`markets/${SYMBOL}/status`, { status: 'closed' }, 400, /^status: must be one of open, postOnly/],
  [`markets/${SYMBOL}/status`, { status: 'delisted' }, 400, /^status: must be one of/],
  [`markets/${SYMBOL}/status`, { status: 1 }, 400, /^status/],
  [`markets/${SYMBOL}/status`, {}, 400, /^status/],
  [`markets/${SYMBOL}/status`, { status: 'open', why: '' }, 400, 'why: unknown field'],
  ['markets/NONE/status', { status: 'open' }, 404, 'Symbol not found'],
  [
    `markets/${SYMBOL}/delist`,
    { price: '90000' },
    400,
    'price: is outside the price band of the last index',
  ],
  [
    `markets/${SYMBOL}/delist`,
    { price: '60000.01' },
    400,
    /^price: must be a multiple of tickSize 0.1/,
  ],
  [`markets/${SYMBOL}/delist`, { price: '-1' }, 400, /^price/],
  [`markets/${SYMBOL}/delist`, { price: MAX }, 400, /^price/],
  [`markets/${X.symbol}/delist`, {}, 400, 'symbol: the market has no fresh index price'],
  ['insurance/credit', {}, 400, /^amount/],
  ['insurance/credit', { amount: '0' }, 400, 'amount must be positive'],
  ['insurance/credit', { amount: '0.0000001' }, 400, 'amount: must have at most 6 decimals'],
  ['insurance/credit', { amount: MAX }, 400, 'amount: exceeds 64 bits'],
  [
    'insurance/credit',
    { amount: '9223372036854' },
    400,
    /^amount exceeds what the exchange can hold/,
  ],
  ['deposit', { account: 'x', amount: '1' }, 400, /^account: must be an address/],
  ['deposit', { account: ALICE, amount: '1e3' }, 400, /^amount/],
  ['deposit', { account: ALICE, subaccountIndex: 2 ** 31, amount: '1' }, 400, /subaccount/i],
  ['deposit', { account: ALICE, amount: '1', to: BOB }, 400, 'to: unknown field'],
  [
    'withdraw',
    { account: ALICE, amount: '1000000' },
    400,
    'Transfer amount exceeds available balance',
  ],
  ['withdraw', { account: ALICE, amount: '-1' }, 400, 'amount must be positive'],
];

describe('refusals', () => {
  test.each(REFUSED)('%s %j gets %s %s', async (path, body, status, words) => {
    const before = served.host.view.operatorLog().length;
    const answer = await served.operator(path, body);
    expect(answer.status, answer.text).toBe(status);
    if (typeof words === 'string') expect(answer.body).toBe(words);
    else expect(answer.body).toMatch(words);
    expect(served.host.view.operatorLog()).toHaveLength(before);
  });

  test.each(['0', '1001', '-1', 'x'])('audit of %s entries names the limit', async (limit) => {
    const answer = await served.operator(`audit?limit=${limit}`);
    expect([answer.status, answer.body]).toEqual([400, expect.stringMatching(/^limit: must be/)]);
  });
});

test('no reply contains the sampling seed', async () => {
  const inputs: Readonly<Record<string, unknown>> = {
    account: ALICE,
    subaccountIndex: 0,
    symbol: SYMBOL,
  };
  const answers: string[] = [];
  for (const id of ENDPOINT_IDS) {
    const { request, method } = ENDPOINTS[id] as Endpoint;
    if (method !== 'GET') continue;
    const names = Object.keys((request as { properties?: object }).properties ?? {});
    const input = Object.fromEntries(
      names.filter((name) => name in inputs).map((name) => [name, inputs[name]]),
    );
    answers.push((await served.call(id, input, AS_ALICE)).text);
  }
  for (const path of [
    '/metrics',
    '/openapi.json',
    '/asyncapi.json',
    '/healthz',
    '/readyz',
    '/docs',
  ]) {
    answers.push((await served.send('GET', path)).text);
  }
  answers.push((await served.operator('audit')).text, (await served.sim('hash')).text);
  expect(answers.length).toBeGreaterThan(25);
  for (const text of answers) expect(text).not.toMatch(/samplingSeed|c0ffee0123456789/i);
});

test('the audit list, terms and status survive a restart', async () => {
  const first = await Served.start();
  await first.operator('markets', X);
  await first.operator(`markets/${X.symbol}/status`, { status: 'reduceOnly' });
  await first.operator(`markets/${X.symbol}/terms`, { maxMarkDeviation: '0.002' });
  await first.operator('deposit', { account: ALICE, amount: '7' });
  const before = (await first.operator('audit')).body;
  const markets = (await first.call('getMarkets', {}, null)).body;
  await first.stop();
  const second = await Served.start({ path: first.path });
  try {
    expect((await second.operator('audit')).body).toEqual(before);
    expect((await second.call('getMarkets', {}, null)).body).toEqual(markets);
    const x = (markets as MarketBody[]).find(({ symbol }) => symbol === X.symbol);
    expect(x).toMatchObject({
      status: 'reduceOnly',
      nextTerms: { maxMarkDeviation: '0.002' },
    });
  } finally {
    await second.remove();
  }
});
