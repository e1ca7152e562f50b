/** Previews over HTTP: access, bounds of their cost, effects of operator commands, and the screen. */
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { Copies } from '../../src/http/copies.ts';
import { ALICE, BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { OPERATOR_TOKEN, Served } from './served.ts';

const AS_ALICE = { account: ALICE, signer: ALICE } as const;
const AS_BOB = { account: BOB, signer: BOB } as const;
const NOW = { ioc: true, postOnly: false, reduceOnly: false };

interface Preview {
  readonly refusal: { readonly status: number; readonly message: string } | null;
  readonly orders: readonly { readonly status: string; readonly reason: string | null }[];
  readonly fills: readonly unknown[];
  readonly fee: string;
  readonly after: { readonly positions: readonly { readonly liquidationPrice: string }[] } | null;
}

let served: Served;
beforeAll(async () => {
  served = await Served.start();
  for (const account of [ALICE, BOB]) await served.sim('deposit', { account, amount: '10000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
});
afterAll(() => served.remove());

async function preview(
  body: unknown,
  caller: typeof AS_ALICE | typeof AS_BOB | null,
  path = 'order',
) {
  const headers = caller === null ? {} : { authorization: `Bearer ${await served.token(caller)}` };
  return served.send('POST', `/preview/${path}`, JSON.stringify(body), headers);
}

test('a preview needs the token of a caller and changes nothing', async () => {
  expect((await preview(order(), null)).status).toBe(401);
  const before = await served.sim('hash');
  const { status, body } = await preview(order({ quantity: '0.5' }), AS_ALICE);
  expect(status).toBe(200);
  expect((body as Preview).refusal).toBeNull();
  expect((body as Preview).orders.map((one) => one.status)).toEqual(['new']);
  expect((await served.sim('hash')).text).toBe(before.text);
  const wrong = (await preview(order({ price: '59000.05' }), AS_ALICE)).body as Preview;
  expect(wrong.refusal?.message).toMatch(/^price: must be a multiple/);
  const large = (await preview(order({ quantity: '50' }), AS_ALICE)).body as Preview;
  expect(large.orders.map((one) => one.reason)).toEqual(['insufficientMargin']);
  for (const body_ of ['{', '[]', '7', '{"a":1,"a":2}']) {
    const headers = { authorization: `Bearer ${await served.token(AS_ALICE)}` };
    const answer = await served.send('POST', '/preview/order', body_, headers);
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 200) expect((answer.body as Preview).refusal?.status).toBe(400);
  }
});

test('fills, fee and liquidation price are those of the order that follows', async () => {
  await served.call('submitOrder', order({ account: BOB, price: '60010', quantity: '-1' }), AS_BOB);
  const buy = order({ price: '60010', quantity: '1', flags: NOW });
  const shown = (await preview(buy, AS_ALICE)).body as Preview;
  expect(shown.fills).toHaveLength(1);
  await served.call('submitOrder', buy, AS_ALICE);
  const at = { account: ALICE, subaccountIndex: 0 };
  const { body } = await served.call('getPositions', at, AS_ALICE);
  expect(shown.after?.positions).toEqual(body);
  expect(Number(shown.fee)).toBeCloseTo(60_010 * 0.000_35, 6);
});

test('an operator sees who a change would liquidate before it is sent', async () => {
  const terms = {
    marginTiers: [{ notionalFloor: '0', initialMargin: '0.3', maintenanceMargin: '0.25' }],
  };
  const before = await served.sim('hash');
  const { status, body } = await served.operator(`preview/markets/${SYMBOL}/terms`, terms);
  expect(status).toBe(200);
  const effects = body as {
    readonly now: { readonly liquidatedAccounts: number };
    readonly afterNotice: {
      readonly liquidatedAccounts: number;
      readonly liquidations: readonly { readonly account: string }[];
      readonly effectiveAt: number;
    } | null;
  };
  expect(effects.now.liquidatedAccounts).toBe(0);
  // The first one's position is closed against the other's.
  expect(effects.afterNotice?.liquidatedAccounts).toBe(1);
  expect([ALICE, BOB]).toContain(effects.afterNotice?.liquidations[0]?.account);
  expect((await served.sim('hash')).text).toBe(before.text);
  const status_ = await served.operator(`preview/markets/${SYMBOL}/status`, { status: 'nonsense' });
  expect(status_.status).toBe(400);
  const wrong = await served.operator(
    `preview/markets/${SYMBOL}/status`,
    { status: 'halted' },
    'x',
  );
  expect(wrong.status).toBe(401);
  const delist = await served.operator(`preview/markets/${SYMBOL}/delist`, {});
  expect((delist.body as { now: { positionsClosed: number } }).now.positionsClosed).toBe(2);
  expect(OPERATOR_TOKEN).not.toBe('x');
});

test('copies take turns, a few for each caller, with a place for the operator', async () => {
  const copies = new Copies(served.host);
  const turns: number[] = [];
  await Promise.all([1, 2, 3].map((i) => copies.run(`u${String(i)}`, () => turns.push(i))));
  expect(turns).toEqual([1, 2, 3]);
  const fails = copies.run('u1', () => {
    throw new Error('of the work');
  });
  await expect(fails).rejects.toThrow('of the work');
  await copies.run('u1', (copy) => {
    expect(copy()).not.toBe(copy());
    expect(copy().chainHash()).toBe(served.host.exchange.engine.chainHash());
  });
  const refused = 'Too many requests';
  const ask = (caller: string | null): Promise<string> =>
    copies.run(caller, () => 'made').catch((error: unknown) => (error as Error).message);
  const same = await Promise.all(['u1', 'u1', 'u1', 'u1', 'u1', 'u2', null].map(ask));
  expect(same).toEqual(['made', 'made', 'made', 'made', refused, 'made', 'made']);
  const many = [...Array.from({ length: 40 }, (_, i) => ask(`v${String(i)}`)), ask(null)];
  const answers = await Promise.all(many);
  expect(answers.filter((one) => one === refused)).toHaveLength(8);
  expect(answers.at(-1)).toBe('made');
});

test('an exchange whose copy is expected to take long is not copied', async () => {
  const { engine } = served.host.exchange;
  let rows = 100_000;
  const large = Object.create(engine, { liveRows: { get: () => rows } }) as typeof engine;
  const copies = new Copies({ exchange: { engine: large } } as never, () => 0);
  const off = 'Previews are off';
  await expect(copies.run('u1', () => 0)).rejects.toThrow(off);
  // An operator has few, for which a longer copy is allowed; not any length.
  rows = 50_000;
  await expect(copies.run('u1', () => 0)).rejects.toThrow(off);
  await expect(copies.run(null, () => 7)).resolves.toBe(7);
  rows = 100_000;
  await expect(copies.run(null, () => 0)).rejects.toThrow(off);
  rows = 5000;
  await expect(copies.run('u1', () => 7)).resolves.toBe(7);
});

test('after copies that took long there is one in ten seconds', async () => {
  vi.useFakeTimers();
  try {
    const { engine } = served.host.exchange;
    let nowMs = 0;
    let copyMs = 5000;
    const copies = new Copies(
      served.host,
      () => nowMs,
      () => () => copyMs,
    );
    const preview = async () => {
      const copied = copies.run('u1', (copy) => copy().seq);
      await Promise.all([copied.catch(() => 0), vi.advanceTimersByTimeAsync(1000)]);
      return copied;
    };
    // The first ones may have been disturbed.
    await expect(preview()).resolves.toBe(engine.seq);
    await expect(preview()).resolves.toBe(engine.seq);
    copyMs = 40;
    await expect(preview()).resolves.toBe(engine.seq);
    await expect(preview()).rejects.toThrow('Previews are off');
    // An operator has few.
    await expect(copies.run(null, () => 7)).resolves.toBe(7);
    await vi.advanceTimersByTimeAsync(1000);
    nowMs += 10_001;
    await expect(preview()).resolves.toBe(engine.seq);
    await expect(preview()).rejects.toThrow('Previews are off');
  } finally {
    vi.useRealTimers();
  }
});

test('trades and ended orders of the past do not lengthen a copy', async () => {
  const copied = async () => {
    const copies = new Copies(served.host);
    return copies.run('u1', (copy) => copy().snapshot().length);
  };
  const before = await copied();
  const { engine } = served.host.exchange;
  const whole = engine.snapshot().length;
  for (let i = 0; i < 200; i++) {
    await served.call('submitOrder', order({ price: '59000', flags: NOW }), AS_ALICE);
  }
  expect(engine.snapshot().length).toBeGreaterThan(whole + 5000);
  // The account keeps 200 nonces more, each of at most four bytes.
  expect(await copied()).toBeLessThan(before + 1000);
});

test('no copy is made for a client that has left while it waited', async () => {
  const restore = Exchange.restoreLive.bind(Exchange);
  const copies = vi.spyOn(Exchange, 'restoreLive').mockImplementation((...of) => {
    // The next one waits for a multiple of this time.
    for (const from = performance.now(); performance.now() - from < 20;);
    return restore(...of);
  });
  const headers = {
    authorization: `Bearer ${await served.token(AS_ALICE)}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify(order({ quantity: '0.01' }));
  const sent = Array.from({ length: 4 }, () =>
    request(`${served.url}/preview/order`, { method: 'POST', headers, agent: false }),
  );
  for (const one of sent) one.on('error', () => undefined).end(body);
  await Promise.race(sent.map((one) => new Promise((resolve) => one.once('response', resolve))));
  await new Promise((resolve) => setTimeout(resolve, 40));
  for (const one of sent) one.destroy();
  // Those that have left make room at once.
  await expect.poll(async () => (await preview(order(), AS_ALICE)).status).toBe(200);
  expect(copies).toHaveBeenCalledTimes(2);
  copies.mockRestore();
});

test('a request that is refused before its first command costs no copy', async () => {
  const stranger = `0x${'9'.repeat(40)}` as const;
  const { status, body } = await preview(order({ account: stranger }), {
    account: stranger,
    signer: stranger,
  } as never);
  expect(status).toBe(200);
  expect((body as Preview).refusal?.status).toBe(404);
});

test('previews of orders can be turned off', async () => {
  const without = await Served.start({ previews: false });
  try {
    const headers = { authorization: `Bearer ${await without.token(AS_ALICE)}` };
    const body = JSON.stringify(order());
    const { status } = await without.send('POST', '/preview/order', body, headers);
    expect(status).toBe(503);
  } finally {
    await without.remove();
  }
});

test('the screen is one compressed page with a strict policy', async () => {
  const zipped = await fetch(`${served.url}/ui`, { headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  const policy = zipped.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/=]+'; /);
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
  const file = readFileSync(new URL('../../dist/assets/exchange.html.gz', import.meta.url));
  expect(file.length).toBeLessThan(350_000);
  expect(await zipped.text()).toBe(gunzipSync(file).toString('utf8'));
  const plain = await fetch(`${served.url}/ui`, { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect((await fetch(`${served.url}/`)).url).toBe(`${served.url}/ui`);
});
