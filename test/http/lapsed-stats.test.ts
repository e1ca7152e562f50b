/** A leader whose lease has run out sends no stats: another server may have newer ones. */
import { afterEach, expect, test, vi } from 'vitest';
import type { ReplicaStatus } from '../../src/journal/served-exchange.ts';
import { Publisher } from '../../src/http/feeds/publisher.ts';
import type { Subscription } from '../../src/http/feeds/subscription.ts';
import type { Watcher } from '../../src/http/feeds/watcher.ts';
import { ALICE } from '../gateway/fixture.ts';
import { Served } from './served.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('stats are sent within the lease only', async () => {
  const served = await Served.start();
  await served.sim('deposit', { account: ALICE, amount: '1' });
  let lagMs = 0;
  const replica = (): ReplicaStatus => ({ role: 'leader', epoch: 1, lagMs, leader: '' });
  Object.defineProperty(served.host.exchange, 'replica', { get: replica });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const publisher = new Publisher(served.host);
  let sent = 0;
  const watcher = {
    allows: () => true,
    send: () => {
      sent += 1;
    },
    flush: () => undefined,
  } as unknown as Watcher;
  const stats = { access: 'private', source: 'stats', account: ALICE, indices: null, key: '' };
  publisher.watch(watcher);
  publisher.subscribe(watcher, stats as unknown as Subscription);
  expect(sent).toBe(1);
  vi.advanceTimersByTime(5000);
  expect(sent).toBe(2);
  lagMs = 100;
  vi.advanceTimersByTime(10_000);
  expect(sent).toBe(2);
  lagMs = 0;
  vi.advanceTimersByTime(5000);
  expect(sent).toBe(3);
  publisher.close();
  vi.useRealTimers();
  await served.remove();
});
