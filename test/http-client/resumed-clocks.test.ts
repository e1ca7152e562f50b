/**
 * Feeds that resume on a replica whose clock is not that of the leader: the updates since
 * the subscription are counted from the last command of its state, and not from its clock.
 */
import { Wallet } from 'ethers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { MatcherClient } from '../../src/gateway/matcher-client.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { LastSeen } from '../../src/http-client/repair.ts';
import type { ReplicaStatus } from '../../src/journal/served-exchange.ts';
import { StoreStopped } from '../../src/journal/store-stopped.ts';
import { address, timeUs } from '../../src/num/units.ts';
import { BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';
import { Proxy } from '../postgres/proxy.ts';

const WALLET = new Wallet(`0x${'7'.repeat(64)}`);
const OWN = address(WALLET.address.toLowerCase());
const MINUTE_MS = 60_000;

let served: Served;
let proxy: Proxy;
const startMs = Date.now();
let aheadMs = 0;

beforeEach(async () => {
  aheadMs = 0;
  served = await Served.start({ clock: 'wall', wallMs: () => startMs + aheadMs });
  for (const account of [OWN, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  proxy = await Proxy.start(Number(new URL(served.url).port));
});
afterEach(async () => {
  vi.restoreAllMocks();
  proxy.stop();
  await served.remove();
});

/** Commands of the leader reach it, but its own clock adds none. */
function follows(): void {
  const { exchange } = served.host;
  const replica: ReplicaStatus = { role: 'follower', epoch: 1, lagMs: 0, leader: '' };
  Object.defineProperty(exchange, 'replica', { value: replica });
  vi.spyOn(exchange, 'failure', 'get').mockReturnValue(new StoreStopped('follows'));
}

async function trade(): Promise<void> {
  for (const [account, quantity] of [
    [OWN, '0.01'],
    [BOB, '-0.01'],
  ] as const) {
    const placed = order({ account, quantity, price: '60000' });
    const { status } = await served.call('submitOrder', placed, { account, signer: account });
    expect(status).toBe(200);
  }
}

test.each(['trade', 'fill', 'order'] as const)(
  'a missed %s is read although the clock of the replica was ahead',
  async (source) => {
    follows();
    aheadMs = 5 * MINUTE_MS;
    const url = `http://127.0.0.1:${String(proxy.port)}`;
    const feeds = new HttpMatcherClient({ url, signer: WALLET }).feeds();
    const seen: string[] = [];
    const params = source === 'trade' ? { symbols: [SYMBOL] } : { account: OWN };
    await feeds.listen(source, params, {
      onUpdate: ({ quantity }) => seen.push(quantity),
      onError: ({ message }) => seen.push(message),
      onResumed: ({ unknown }) => seen.push(`resumed, ${String(unknown)}`),
    });
    proxy.drop();
    await expect.poll(() => feeds.lostSinceMs).not.toBeNull();
    // The leader has the right time, so what follows is before the time of the replica's clock.
    const clock = vi.spyOn(served.host, 'nowUs').mockReturnValue(timeUs((startMs + 1000) * 1000));
    await trade();
    clock.mockRestore();
    await expect.poll(() => feeds.lostSinceMs, { timeout: 5000 }).toBeNull();
    expect(seen).toEqual([source === 'trade' ? '-0.01' : '0.01', 'resumed, null']);
    await feeds.close();
  },
  10_000,
);

test('a history that begins after the loss is named although the clock here was set ahead', async () => {
  const url = `http://127.0.0.1:${String(proxy.port)}`;
  const client = new HttpMatcherClient({ url, signer: WALLET });
  // The server has restarted and knows no earlier fills.
  const history = { fills: [], knownSinceMs: startMs + 10_000 };
  vi.spyOn(client as unknown as { fillsSince: () => unknown }, 'fillsSince').mockReturnValue(
    Promise.resolve(history),
  );
  const feeds = client.feeds();
  const seen: (string | null)[] = [];
  await feeds.listen(
    'fill',
    { account: OWN },
    {
      onUpdate: () => undefined,
      onError: ({ message }) => seen.push(message),
      onResumed: ({ unknown }) => seen.push(unknown),
    },
  );
  const hourAhead = Date.now() + 60 * MINUTE_MS;
  vi.spyOn(Date, 'now').mockReturnValue(hourAhead);
  aheadMs = 20_000;
  proxy.drop();
  await expect.poll(() => seen, { timeout: 5000 }).toHaveLength(1);
  expect(seen[0]).toMatch(/history of fills begins/);
  await feeds.close();
}, 10_000);

test('replies of a replica name the time of the last command', async () => {
  follows();
  aheadMs = 5 * MINUTE_MS;
  const { headers, body } = await served.send('GET', '/time');
  expect(headers.get('x-orrery-time')).toBe(String(Math.floor(served.host.view.nowUs / 1000)));
  expect((body as { time: number }).time).toBe(startMs + aheadMs);
});

/** Fills of one moment, as while the clock of the leader is behind and the time stands still. */
const fillsOf = (...quantities: number[]): Record<string, unknown>[] =>
  quantities.map((quantity) => ({
    ...{ account: OWN, subaccountIndex: 0, symbol: SYMBOL, price: '60000', order_id: null },
    ...{ quantity: String(quantity), time: startMs },
  }));

test.each([
  ['all are known', [1, 2, 3], [1, 2, 3, 4, 5], null, [4, 5], null],
  ['equal ones are known', [7, 7, 7], [7, 7, 7, 7, 7], null, [7, 7], null],
  ['all are known again after some were missing', [1, 2, 5], [1, 2, 3, 4, 5, 6], null, [6], null],
  ['the history begins among the delivered ones', [1, 2, 3], [3, 4, 5], startMs, [4, 5], null],
  ['the history begins after them', [1, 2, 3], [5, 6], startMs, [5, 6], /history of fills begins/],
  ['the history begins after them without any', [1, 2, 3], [], startMs, [], /fills begins/],
] as const)('while the time stands still, %s', async (_, delivered, known, since, missed, why) => {
  const client = {
    call: (endpoint: string) =>
      Promise.resolve(
        endpoint === 'getBalance' ? [{ subaccountIndex: 0 }] : { time: startMs + 2 * MINUTE_MS },
      ),
  } as unknown as MatcherClient;
  const lastSeen = new LastSeen(startMs - MINUTE_MS);
  lastSeen.lostHereMs = performance.now() + MINUTE_MS + 10_000;
  for (const fill of fillsOf(...delivered)) lastSeen.note('fill', fill);
  const found = await lastSeen.missed('fill', { account: OWN }, client, () =>
    Promise.resolve({ fills: fillsOf(...known), knownSinceMs: since }),
  );
  expect(found.map(({ quantity }) => Number(quantity))).toEqual(missed);
  if (why === null) expect(lastSeen.unknown).toBeNull();
  else expect(lastSeen.unknown).toMatch(why);
});
