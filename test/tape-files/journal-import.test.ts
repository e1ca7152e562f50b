/**
 * `orrery data import orrery-journal`: a served exchange with two clients becomes a dataset whose
 * trades and best prices are those that the public feeds showed; and journals that are refused.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { crc32 } from '../../src/base/crc32.ts';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { exportJournal } from '../../src/journal-files/export-journal.ts';
import { LiveBook, type BookMessage } from '../../src/live/live-book.ts';
import { readMarkets } from '../../src/live/exchange-facts.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { defineStrategy } from '../../src/strategy/definition.ts';
import { openDataset } from '../../src/tape-files/dataset-files.ts';
import type { TapeRecord } from '../../src/tape/record.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { Served } from '../http/served.ts';
import { onAllData, planOf } from '../run-plan/plans.ts';

vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const print = (line = ''): void => {
    printed += `${line}\n`;
  };
  const explainFailure = (error: unknown): number => {
    print(error instanceof Error ? error.message : '');
    return real.explainFailure(error);
  };
  return { ...real, print, printError: print, explainFailure };
});

const SYMBOL = 'BTC-USD-PERP';
const STEPS = 120;
const STEP_MS = 500;
const scratch = mkdtempSync(join(tmpdir(), 'orrery-journal-import-'));
const journal = join(scratch, 'exchange');
const out = join(scratch, 'dataset');
const wallets = ['a', 'b'].map((digit) => new Wallet(`0x${digit.repeat(64)}`));

/** Best prices by time: the last of each time, where they differ from those before. */
class Touches {
  private readonly found: { atMs: number; best: string }[] = [];

  note(atMs: number, best: string): void {
    if (this.found.at(-1)?.atMs === atMs) this.found.pop();
    this.found.push({ atMs, best });
  }

  get changes(): string[] {
    return this.found
      .filter(({ best }, i) => best !== this.found[i - 1]?.best)
      .map(({ atMs, best }) => `${String(atMs)} ${best}`);
  }
}

/** Trades and best prices of the public feeds of the served exchange. */
const feed = { trades: [] as string[], touches: new Touches() };
let printed = '';

beforeAll(async () => {
  const served = await Served.start({ path: journal });
  const clients = wallets.map((signer) => new HttpMatcherClient({ url: served.url, signer }));
  const [first] = clients;
  if (first === undefined) throw new Error('two clients');
  const { markets } = await readMarkets(first, [SYMBOL]);
  const [market] = markets;
  if (market === undefined) throw new Error('a market');
  const book = new LiveBook(market.terms);
  let best = '';
  const feeds = first.feeds();
  const onError = (error: Error): void => {
    throw error;
  };
  await feeds.listen(
    'trade',
    { symbols: [SYMBOL] },
    {
      onError,
      onUpdate: ({ time, price, quantity }) => {
        feed.trades.push(`${String(time)} ${price} ${quantity}`);
      },
    },
  );
  await feeds.listen(
    'book',
    { symbols: [SYMBOL] },
    {
      onError,
      onUpdate: (data) => {
        const message = data as unknown as BookMessage & { readonly time: number };
        const update = book.take(message, 0, 1);
        if (update !== null) best = JSON.stringify([update.bid, update.ask]);
        feed.touches.note(message.time, best);
      },
    },
  );
  for (const { address } of wallets) {
    await served.sim('deposit', { account: address, amount: '1000000' });
  }
  const random = new RandomStreams('journal').stream('orders');
  for (let step = 0; step < STEPS; step++) {
    if (step % 10 === 0) {
      await served.sim('oracle', { symbol: SYMBOL, price: String(60_000 + random.below(40)) });
    }
    for (let i = 0; i < 3; i++) {
      const client = clients[random.below(2)] as HttpMatcherClient;
      const side = random.below(2) === 0 ? 1 : -1;
      const away = random.below(9) - 3;
      const expires = random.below(4) === 0;
      const order = {
        account: client.account ?? '',
        subaccountIndex: 0,
        symbol: random.below(10) === 0 ? 'ETH-USD-PERP' : SYMBOL,
        orderType: 'limit',
        price: String(60_000 - side * away),
        quantity: `${side < 0 ? '-' : ''}0.0${String(1 + random.below(9))}`,
        expiresAt: served.host.nowUs() / 1000 + (expires ? 3 * STEP_MS : 1e9),
        originator: `0x${'0'.repeat(40)}`,
        originatorFee: 0,
        flags: { ioc: random.below(8) === 0, postOnly: random.below(5) === 0, reduceOnly: false },
      };
      await client.send('submitOrder', order as never).catch(() => undefined);
    }
    if (step % 17 === 0) {
      const client = clients[random.below(2)] as HttpMatcherClient;
      await client.call('cancelAllOrders', { account: client.account ?? '', subaccountIndex: 0 });
    }
    // The changes of a step have left before the clock moves, so their time is that of the step.
    await new Promise((resolve) => setImmediate(resolve));
    await served.sim('clock', { advanceMs: STEP_MS });
  }
  // The last updates are on their way.
  await new Promise((resolve) => setTimeout(resolve, 300));
  await feeds.close();
  await served.stop();
}, 60_000);
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const importJournal = (path: string, ...more: readonly string[]): Promise<number> => {
  printed = '';
  return main(['data', 'import', 'orrery-journal', path, '--out', out, '--replace', ...more]);
};

test('the trades and best prices of a backtest on it are those of the public feeds', async () => {
  expect(await importJournal(journal)).toBe(2);
  expect(printed).toContain(
    'BTC-USD-PERP, ETH-USD-PERP, SOL-USD-PERP; --symbol selects one market',
  );
  expect(await importJournal(journal, '--symbol', SYMBOL)).toBe(0);
  printed = '';
  expect(await main(['data', 'verify', out])).toBe(0);
  const [, compared = '0', books = '1'] = /compared +(\d+) of (\d+)/.exec(printed) ?? [];
  expect(Number(compared)).toBeGreaterThan(100);
  expect(compared).toBe(books);
  const seen = { trades: [] as string[], touches: new Touches() };
  const definition = defineStrategy({
    name: 'reader',
    parameters: {},
    create: () => ({
      onTrade: ({ timeUs, price, quantity }) => {
        seen.trades.push(`${String(timeUs / 1000)} ${price} ${quantity}`);
      },
      onBook: ({ timeUs, bid, ask }) => {
        // The feed shows an expiry when the clock moves, the dataset at its own time.
        const atMs = STEP_MS * Math.ceil(timeUs / 1000 / STEP_MS);
        seen.touches.note(atMs, JSON.stringify([bid, ask]));
      },
    }),
  });
  const plan = onAllData(
    planOf([{ id: 'reader', bundle: null, parameters: {} }], {
      data: out,
      latency: 'none',
    }),
  );
  await executePlan(plan, { definitions: new Map([['reader', definition]]) });
  expect(feed.trades.length).toBeGreaterThan(50);
  expect(seen.trades).toEqual(feed.trades);
  expect(feed.touches.changes.length).toBeGreaterThan(60);
  const isBook = (change: string): boolean => !change.endsWith('[null,null]');
  expect(seen.touches.changes.filter(isBook)).toEqual(feed.touches.changes.filter(isBook));
});

test('marks and indices are those of the exchange, and nothing names an account', async () => {
  expect(await importJournal(journal, '--symbol', SYMBOL)).toBe(0);
  const dataset = await openDataset(out);
  const [market] = dataset.markets;
  expect(market).toMatchObject({ symbol: SYMBOL, tickSize: '0.1', lotSize: '0.0001' });
  const kinds = new Map<string, number>();
  const records: TapeRecord[] = [];
  for await (const batch of dataset.records(market!.streams[0]!)) records.push(...batch);
  for (const { kind } of records) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  expect(kinds.get('index')).toBe(STEPS / 10);
  expect(kinds.get('mark')).toBeGreaterThan(10);
  expect(kinds.has('order')).toBe(false);
  const texts = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1').toLowerCase());
  for (const { address } of wallets) {
    const hex = address.slice(2).toLowerCase();
    const bytes = Buffer.from(hex, 'hex').toString('latin1').toLowerCase();
    expect(texts.some((text) => text.includes(hex) || text.includes(bytes))).toBe(false);
  }
});

test('a planted fault in the book is found by the verification', async () => {
  expect(await importJournal(journal, '--symbol', SYMBOL)).toBe(0);
  const dataset = await openDataset(out);
  const records: TapeRecord[] = [];
  for await (const batch of dataset.records(dataset.markets[0]!.streams[0]!))
    records.push(...batch);
  const { DatasetWriter } = await import('../../src/tape-files/dataset-writer.ts');
  const damaged = join(scratch, 'damaged');
  const writer = await DatasetWriter.open(damaged, { id: 'x', job: 'x', mode: 'create' });
  const at = records.findIndex(({ kind }, i) => kind === 'depth' && i > records.length / 2);
  for (const [i, record] of records.entries()) if (i !== at) await writer.write(record);
  await writer.endFile({ name: 'x', sha256: 'x', bytes: 0 }, null);
  const facts = { symbol: SYMBOL, format: 'orrery-journal', source: '', licence: '' };
  await writer.finish(facts, dataset.markets[0]!);
  expect(await main(['data', 'verify', damaged])).toBe(1);
  expect(printed).toContain('1 gap');
});

test.each<readonly [string, (path: string) => void, string]>([
  [
    'cut in a command',
    (path) => {
      writeFileSync(path, readFileSync(path).subarray(0, -7));
    },
    'torn tail',
  ],
  [
    'of another version',
    (path) => {
      const bytes = readFileSync(path);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      bytes[17] = 2;
      view.setInt32(12, crc32(view, 16, 16 + view.getUint32(8, true)), true);
      writeFileSync(path, bytes);
    },
    'semantics version 1, this program reads 2 and 3',
  ],
  [
    'with a changed byte',
    (path) => {
      const bytes = readFileSync(path);
      const place = Math.floor(bytes.length / 2);
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    },
    'checksum',
  ],
  [
    'that is text',
    (path) => {
      writeFileSync(path, 'time,price\n1,2\n');
    },
    'not a journal',
  ],
])('a journal %s is refused', async (_name, damage, words) => {
  const path = join(scratch, 'plain.orrery');
  rmSync(path, { force: true });
  await exportJournal(journal, path);
  expect(await importJournal(path, '--symbol', SYMBOL)).toBe(0);
  damage(path);
  expect(await importJournal(path, '--symbol', SYMBOL)).toBe(2);
  expect(printed).toContain(words);
});

test('a journal of a backtest is refused: its market is the dataset that was played', async () => {
  const definition = defineStrategy({ name: 'idle', parameters: {}, create: () => ({}) });
  const plan = planOf([{ id: 'idle', bundle: null, parameters: {} }]);
  const { output } = await executePlan(
    { ...plan, toUs: (plan.toUs ?? 0) - 50_000_000 },
    { definitions: new Map([['idle', definition]]), journal: 'memory' },
  );
  const path = join(scratch, 'backtest.orrery');
  writeFileSync(path, output.journal);
  expect(await importJournal(path)).toBe(2);
  expect(printed).toContain('is recorded history: the journal is of a backtest or of a replay');
});

test('units that are given must be those of the listing', async () => {
  const units = ['--symbol', SYMBOL, '--tick', '0.5', '--lot', '0.0001'];
  expect(await importJournal(journal, ...units)).toBe(2);
  expect(printed).toContain('is listed with tick 0.1 and lot 0.0001');
});
