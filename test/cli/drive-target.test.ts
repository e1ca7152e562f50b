/** A target that is not a server of this API, or none that a twin can follow. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { InputError } from '../../src/cli/cli-support.ts';
import { BookFeeds } from '../../src/cli/fuzz/book-feeds.ts';
import { driveTarget, type TargetResult } from '../../src/cli/fuzz/drive-target.ts';
import { UpdateFeeds } from '../../src/cli/fuzz/update-feeds.ts';
import type { FeedClient } from '../../src/http-client/feed-client.ts';
import { Served, SIM_TOKEN, type ServedOptions } from '../http/served.ts';

const progress = { update: () => undefined, stop: () => undefined };
let server: Server | undefined;
let served: Served | undefined;
afterEach(async () => {
  await served?.remove();
  served = undefined;
  server?.closeAllConnections();
  server?.close();
});

function drive(url: string): Promise<TargetResult> {
  const limits = { seed: 'none', profile: 'swarm', commands: 40, seconds: 20 } as const;
  const options = { url, simToken: SIM_TOKEN, configPath: null, quiet: true, ...limits };
  return driveTarget(options, progress);
}

async function serve(options: ServedOptions = {}): Promise<string> {
  served = await Served.start(options);
  return served.url;
}

test.each([
  '{}',
  '{"a": }',
  'null',
  '[]',
  '{"time":"1"}',
  '{"time":-1}',
  '{"time":1e300}',
  'hello',
])('a server that answers the time with %s is named with its answer', async (answer) => {
  server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(answer);
  });
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const listening = server!.listen(0, '127.0.0.1', () => {
      resolve(listening.address() as AddressInfo);
    });
  });
  const url = `http://127.0.0.1:${String(port)}`;
  const driving = drive(url);
  await expect(driving).rejects.toThrow(InputError);
  await expect(driving).rejects.toThrow(`${url}: GET /time responds with `);
});

test('a host that was used before is refused, and not accused', async () => {
  const url = await serve();
  expect((await drive(url)).divergence).toBeNull();
  const again = drive(url);
  await expect(again).rejects.toThrow(InputError);
  await expect(again).rejects.toThrow(/has executed \d+ commands, a new host has 3, one for each/);
});

test('a host whose clock runs is refused', async () => {
  const driving = drive(await serve({ clock: 'wall' }));
  await expect(driving).rejects.toThrow(InputError);
  await expect(driving).rejects.toThrow('its clock runs; start the host with --clock virtual');
});

test('a host that verifies signatures is refused', async () => {
  const driving = drive(await serve({ signatures: 'verify' }));
  await expect(driving).rejects.toThrow(InputError);
  await expect(driving).rejects.toThrow('verifies signatures; start the host with --trust-sign');
});

/** Subscribes so many times; then the host refuses. */
function clients(most: number): () => FeedClient {
  let left = most;
  const subscribe = (): Promise<unknown> =>
    left-- > 0 ? Promise.resolve([]) : Promise.reject(new Error('status 503'));
  const calls = { subscribe, listen: subscribe, renewToken: () => Promise.resolve() };
  return () => ({ gaps: 0, ...calls, close: () => Promise.resolve() }) as unknown as FeedClient;
}

test('a host that refuses a later subscriber differs (R-11.4)', async () => {
  const books = await BookFeeds.open(clients(1));
  for (let times = 0; times < 5; times += 1) await books.book('X', () => true);
  expect(books.fault()).toBe('another subscriber is refused: status 503');
  const updates = new UpdateFeeds(['0x01' as never], clients(100));
  await updates.open(['X']);
  expect(updates.fault).toBeNull();
  for (let times = 0; times < 100 && updates.fault === null; times += 1) await updates.renew();
  expect(updates.fault).toBe('another subscription is refused: status 503');
});
