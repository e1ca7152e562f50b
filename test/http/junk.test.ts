/**
 * Random input to every endpoint: a reply in the API's form with a documented status, never an
 * internal error, and the invariants hold.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINT_IDS, ENDPOINTS, type Endpoint } from '../../src/contract/endpoints.ts';
import { ALICE, BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { EFFORT } from '../setup/effort.ts';
import { Served } from './served.ts';

let served: Served;
let token: string;
beforeAll(async () => {
  served = await Served.start();
  for (const account of [ALICE, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  token = await served.token({ account: ALICE, signer: ALICE });
});
afterAll(() => served.remove());

const namesOf = ({ request }: Endpoint): string[] =>
  Object.keys((request as { properties?: object }).properties ?? {});

/** Values that are almost valid, and arbitrary values. */
const almost = fc.oneof(
  fc.constantFrom<unknown>(
    ALICE,
    BOB,
    ALICE.toUpperCase(),
    SYMBOL,
    'limit',
    'TWAP',
    '1',
    '-0.01',
    '60000',
    '9'.repeat(38),
    '9'.repeat(39),
    `0x${'0'.repeat(64)}`,
    '',
    0,
    -1,
    1.5,
    2 ** 31,
    Number.MAX_SAFE_INTEGER,
    true,
    null,
    [],
    {},
    [null],
    { ioc: true, postOnly: true, reduceOnly: false },
    { triggerPrice: '1' },
    [ALICE],
    ['0x'],
  ),
  fc.string({ maxLength: 80, unit: 'binary' }),
  fc.integer(),
  fc.jsonValue({ maxDepth: 2 }),
);

const attempts = fc.constantFrom(...ENDPOINT_IDS).chain((id) =>
  fc.record({
    id: fc.constant(id),
    // A valid order as the base, so that some requests pass early checks.
    whole: fc.boolean(),
    fields: fc.dictionary(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...namesOf(ENDPOINTS[id]), 'limit') },
        { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'x', '') },
      ),
      almost,
      { maxKeys: 8 },
    ),
    bearer: fc.constantFrom('token', 'token', 'token', 'none', 'wrong'),
  }),
);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const DOCUMENTED = [200, 400, 401, 403, 404, 409, 413, 415];

test('random input of every kind to every endpoint', async () => {
  const seen = new Map<string, Set<number>>();
  await fc.assert(
    fc.asyncProperty(attempts, async ({ id, whole, fields, bearer }) => {
      const { method, path } = ENDPOINTS[id] as Endpoint;
      const body = { ...(whole && id === 'submitOrder' ? order() : {}), ...fields };
      const text = JSON.stringify(
        id === 'submitOrders' && whole ? { orders: [order(), body] } : body,
      );
      const filled = path.replace('{symbol}', () =>
        encodeURIComponent(textOf(fields['symbol'] ?? SYMBOL)),
      );
      const query = new URLSearchParams(
        Object.entries(fields)
          .filter(([name]) => !(name === 'symbol' && path.includes('{symbol}')))
          .map(([name, value]) => [
            name,
            typeof value === 'string' ? value : JSON.stringify(value),
          ]),
      );
      const answer = await served.app.inject({
        method,
        url: method === 'POST' ? filled : `${filled}?${query.toString()}`,
        headers: {
          ...(bearer === 'none'
            ? {}
            : { authorization: `Bearer ${bearer === 'token' ? token : 'x'}` }),
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        },
        ...(method === 'POST' ? { payload: text } : {}),
      });
      expect(DOCUMENTED, `${method} ${filled} ${text}: ${answer.body}`).toContain(
        answer.statusCode,
      );
      const emitted = JSON.parse(answer.body) as unknown;
      if (answer.statusCode !== 200) {
        expect(typeof emitted).toBe('string');
        expect(answer.headers['content-type']).toContain('text/plain');
        expect(String(emitted).length).toBeLessThan(1000);
      }
      const statuses = seen.get(id) ?? new Set();
      seen.set(id, statuses.add(answer.statusCode));
    }),
    { numRuns: 1500 * EFFORT },
  );
  expect(seen.size).toBe(ENDPOINT_IDS.length);
  expect(seen.get('submitOrder')).toContain(200);
  expect(served.host.exchange.engine.checkInvariants()).toEqual([]);
}, 120_000);
