import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseParameters } from '../../src/strategy/definition.ts';
import type { Command } from '../../src/engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { compareOrders, readCompared } from '../../src/live/compare-runs.ts';
import type { LiveRecord } from '../../src/live/live-record.ts';
import { LiveRun } from '../../src/live/live-run.ts';
import { loadStrategy } from '../../src/strategy-loader/sandbox.ts';
import { main } from '../../src/cli/main.ts';
import { madeUpTape, specOf } from '../backtest/made-up.ts';
import { Served } from '../http/served.ts';
import { example } from '../run-plan/plans.ts';
import { ATTACKS, hostileFile } from '../strategy-loader/hostile.ts';

const WALLET = new Wallet(`0x${'8'.repeat(64)}`);
const folder = mkdtempSync(join(tmpdir(), 'orrery-live-'));
let served: Served;

/** The synthetic market of the backtests, on a served exchange with a virtual clock. */
beforeAll(async () => {
  const config = DEFAULT_EXCHANGE_CONFIG;
  const opening: Command[] = [
    { kind: 'listMarket', timeUs: config.genesisTimeUs, spec: specOf('T') },
  ];
  served = await Served.start({ config, opening });
  await served.sim('deposit', { account: WALLET.address, amount: '10000' });
});
afterAll(async () => {
  await served.remove();
  rmSync(folder, { recursive: true, force: true });
});

const TAPE = madeUpTape(8);
let played = 0;

/**
 * Plays some seconds of the recording into the served exchange, yielding between commands for
 * responses.
 */
async function play(seconds: number): Promise<void> {
  const until = TAPE[0]!.timeUs + (played + seconds) * 1_000_000;
  played += seconds;
  for (;;) {
    const command = TAPE[0];
    if (command === undefined || command.timeUs >= until) return;
    TAPE.shift();
    served.host.submit({ ...command });
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
}

async function liveRun(
  name: string,
  parameters: Record<string, string | number>,
  during: () => Promise<void>,
): Promise<LiveRecord> {
  const { definition, bindClock } = loadStrategy(await bundleStrategy(example(name)));
  const client = new HttpMatcherClient({ url: served.url, signer: WALLET });
  const stop = new AbortController();
  const running = new LiveRun({
    definition,
    bindClock,
    parameters: parseParameters(definition.parameters, parameters),
    client,
    account: WALLET.address.toLowerCase(),
    subaccountIndex: 0,
    symbols: null,
    seed: '1',
    stop: stop.signal,
    onLog: () => undefined,
  }).complete();
  await Promise.race([during(), running]);
  stop.abort();
  return running;
}

test('the demo strategy runs unchanged against a served exchange', async () => {
  await play(1);
  const record = await liveRun(
    'quotes',
    { halfSpread: 6, skew: 2, moveTicks: 2, requoteMs: 20 },
    async () => {
      await play(4);
      // The updates of the last command reach the strategy before it ends.
      await new Promise((resolve) => setTimeout(resolve, 500));
    },
  );
  const placed = record.orders.filter(({ order }) => order !== null);
  expect(placed.length).toBeGreaterThan(5);
  expect(record.fills.length).toBeGreaterThan(0);
  for (const fill of record.fills) {
    expect(fill).toMatchObject({ symbol: 'T', role: 'maker' });
    expect(placed.map(({ order }) => order!.orderId)).toContain(fill.orderId);
  }
  // The positions in its updates equal the exchange's.
  const held = await new HttpMatcherClient({ url: served.url, signer: WALLET }).call(
    'getPositions',
    { account: WALLET.address, subaccountIndex: 0 },
  );
  expect(record.fills.at(-1)!.position).toBe(held[0]?.quantity ?? '0');

  // The record is compared with itself, and with one that lacks an order and has another price.
  writeFileSync(join(folder, 'live.json'), JSON.stringify(record));
  const { orders } = await readCompared(folder, null);
  expect(orders.length).toBe(placed.length);
  expect(compareOrders(orders, orders)).toMatchObject({ leftOnly: [], rightOnly: [] });
  expect(compareOrders(orders, orders).pairs.flatMap(({ differences }) => differences)).toEqual([]);
  const other = orders.slice(1).map((order, i) => (i === 2 ? { ...order, filled: 9 } : order));
  const { pairs, leftOnly } = compareOrders(orders, other);
  expect(leftOnly.length).toBe(1);
  expect(pairs.flatMap(({ differences }) => differences).join()).toContain('against 9');
});

test('an order of onStart is accepted, and its updates arrive', async () => {
  const path = join(folder, 'at-once.ts');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'at-once', parameters: {}, create: () => ({
  async onStart(context) {
    const size = context.market().minQuantity;
    const [order] = await context.submit({ side: 'buy', size });
    context.log('answered ' + order.status);
  },
  onOrder: ({ status }, context) => context.log('order ' + status),
  onFill: ({ role }, context) => {
    context.log('fill of a ' + role);
    context.setTimer('end', 500_000);
  },
  onTimer: (_name, context) => context.log('end'),
}) });`,
  );
  const { definition, bindClock } = loadStrategy(await bundleStrategy(path));
  const stop = new AbortController();
  const record = await new LiveRun({
    definition,
    bindClock,
    parameters: {},
    client: new HttpMatcherClient({ url: served.url, signer: WALLET }),
    account: WALLET.address.toLowerCase(),
    subaccountIndex: 0,
    symbols: null,
    seed: '1',
    stop: AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)]),
    onLog: (line) => {
      if (line === 'end') stop.abort();
    },
  }).complete();
  const lines = record.log.map(({ text }) => text);
  expect(lines.sort()).toEqual(['answered filled', 'end', 'fill of a taker', 'order filled']);
  expect(record.fills.length).toBe(1);
  expect(record.gaps).toEqual([]);
});

test('a warm-up gets the stored candles and lasts until it is covered', async () => {
  const path = join(folder, 'warm.ts');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'warm', parameters: { minutes: { kind: 'integer', default: 1, min: 1, max: 100000 } },
  barsUs: () => [60_000_000], warmUpUs: ({ minutes }) => minutes * 60_000_000,
  create: () => ({
    onBar: (bar, context) => context.log(String(bar.startUs) + ' ' + String(context.warmingUp)),
    onStart: (context) => {
      context.setTimer('far', 40 * 86_400_000_000);
      context.setTimer('look', 700_000);
    },
    onTimer: (name, context) => context.log(name + ' ' + String(context.warmingUp)),
}) });`,
  );
  for (const unit of ['s', 'ms'] as const) {
    const config = { ...DEFAULT_EXCHANGE_CONFIG, marketDataTimeUnit: unit };
    const opening: Command[] = [
      { kind: 'listMarket', timeUs: config.genesisTimeUs, spec: specOf('T') },
    ];
    const own = await Served.start({ config, opening });
    await own.sim('deposit', { account: WALLET.address, amount: '10000' });
    const minute = 60_000_000;
    const firstUs = Math.ceil(own.host.nowUs() / minute + 1) * minute;
    for (const command of madeUpTape(1)) {
      if (command.kind !== 'tapeTrade') continue;
      for (const i of [0, 1, 2]) {
        own.host.submit({ ...command, timeUs: (firstUs + i * minute + 1000) as never });
      }
      break;
    }
    const lines = async (minutes: number): Promise<string[]> => {
      const { definition, bindClock } = loadStrategy(await bundleStrategy(path));
      const stop = new AbortController();
      const { log } = await new LiveRun({
        definition,
        bindClock,
        parameters: { minutes },
        client: new HttpMatcherClient({ url: own.url, signer: WALLET }),
        account: WALLET.address.toLowerCase(),
        subaccountIndex: 0,
        symbols: null,
        seed: '1',
        stop: stop.signal,
        onLog: (line) => {
          if (line.startsWith('look')) stop.abort();
        },
      }).complete();
      return log.map(({ text }) => text);
    };
    // The third bar has not ended.
    const bars = [firstUs, firstUs + minute].map((us) => `${String(us)} true`);
    expect(await lines(3)).toEqual([...bars, 'look false']);
    expect(await lines(5)).toEqual([...bars, 'look true']);
    await own.remove();
  }
});

test('a strategy finds nothing of the host in a live run', async () => {
  const attacks = ATTACKS.filter(({ name }) =>
    /errors of|promises of|getter of|while a stack|call sites|constructors|of the machine/.test(
      name,
    ),
  );
  expect(attacks.length).toBeGreaterThan(6);
  const path = join(folder, 'hostile.ts');
  const blocks = attacks.map(({ attack }) => `{ ${attack} }`);
  writeFileSync(path, hostileFile(blocks.join('\n')));
  const { definition, bindClock } = loadStrategy(await bundleStrategy(path));
  const stop = new AbortController();
  const lines: string[] = [];
  await new LiveRun({
    definition,
    bindClock,
    parameters: { n: 1 },
    client: new HttpMatcherClient({ url: served.url, signer: WALLET }),
    account: WALLET.address.toLowerCase(),
    subaccountIndex: 0,
    symbols: null,
    seed: '1',
    stop: stop.signal,
    onLog: (line) => {
      lines.push(line);
      stop.abort();
    },
  }).complete();
  expect(lines.at(-1)).toBe('nothing');
});

test('a handler that throws ends the run with its error', async () => {
  const path = join(folder, 'broken.ts');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'broken', parameters: {}, create: () => ({
  onStart() { throw new Error('no such indicator'); },
}) });`,
  );
  const { definition, bindClock } = loadStrategy(await bundleStrategy(path));
  const running = new LiveRun({
    definition,
    bindClock,
    parameters: {},
    client: new HttpMatcherClient({ url: served.url, signer: WALLET }),
    account: WALLET.address.toLowerCase(),
    subaccountIndex: 0,
    symbols: null,
    seed: '1',
    stop: new AbortController().signal,
    onLog: () => undefined,
  }).complete();
  await expect(running).rejects.toThrow(
    /^strategy 'broken' failed in onStart at .*: no such indicator$/,
  );
});

test.each(['onTimer', 'onStop'])(
  'an unhandled rejection ends the command like a thrown error (%s)',
  async (handler) => {
    const path = join(folder, `${handler}.ts`);
    writeFileSync(
      path,
      `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'forgetful', parameters: {}, create: () => ({
  onStart: (context) => context.setTimer('go', 100_000),
  ${handler}(...args) { void args.at(-1).submit({ side: 'buy', size: '0.0000001' }); },
}) });`,
    );
    const lasting = handler === 'onStop' ? '500ms' : '60s';
    const { code, stdout, stderr } = await cli([
      'live',
      path,
      '--url',
      served.url,
      '--for',
      lasting,
      '--json',
    ]);
    expect(stderr).toMatch(
      /^orrery: strategy 'forgetful' failed in a promise that is not awaited at [-0-9]+ [0-9:.]+: quantity: must be a multiple of the lot size [0-9.]+\n$/,
    );
    expect(stdout).toBe('');
    expect(code).toBe(1);
  },
);

test('a run that fails leaves its record, with the reason', async () => {
  const path = join(folder, 'late.ts');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'late', parameters: {}, create: () => ({
  onStart: (context) => context.setTimer('go', 100_000),
  async onTimer(_name, context) {
    context.log('begun');
    await context.submit({ side: 'buy', size: '0.001', price: '1' });
    throw new Error('no such indicator');
  },
}) });`,
  );
  const out = join(folder, 'late');
  const { code, stdout, stderr } = await cli(['live', path, '--url', served.url, '--out', out]);
  expect(stderr).toContain("orrery: strategy 'late' failed in onTimer at ");
  expect(stdout).toBe('begun\n');
  expect(code).toBe(1);
  const record = JSON.parse(readFileSync(join(out, 'live.json'), 'utf8')) as LiveRecord;
  expect(record.failure).toMatch(/^strategy 'late' failed in onTimer at .*: no such indicator/);
  expect(record.log.map(({ text }) => text)).toEqual(['begun']);
  expect(record.orders).toMatchObject([{ order: { symbol: 'T', price: '1' } }]);
  // A comparison says so.
  expect((await readCompared(out, null)).failure).toBe(record.failure);
});

test('submits that are refused or get no answer are in the record', async () => {
  const path = join(folder, 'unanswered.ts');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'unanswered', parameters: {}, create: () => ({
  async onStart({ submit, client, log, market }) {
    const order = { side: 'buy', size: market().minQuantity, price: '1' };
    const failed = (error) => log(error.message);
    await client.call('submitOrders', { orders: [] }).catch(failed);
    await submit({ ...order, clientId: 'lost' }).catch(failed);
    submit({ ...order, clientId: 'hangs' }).catch(failed);
    log('end');
  },
}) });`,
  );
  const { definition, bindClock } = loadStrategy(await bundleStrategy(path));
  const stop = new AbortController();
  const run = new LiveRun({
    definition,
    bindClock,
    parameters: {},
    client: new HttpMatcherClient({
      url: served.url,
      signer: WALLET,
      fetch: (target, options) => {
        const body = String(options.body);
        if (body.includes('"lost"')) return Promise.reject(new Error('cable is cut'));
        return body.includes('"hangs"') ? new Promise(() => undefined) : fetch(target, options);
      },
    }),
    account: WALLET.address.toLowerCase(),
    subaccountIndex: 0,
    symbols: null,
    seed: '1',
    stop: stop.signal,
    onLog: (line) => {
      if (line === 'end') stop.abort();
    },
  });
  const { orders } = await run.complete();
  expect(orders.map(({ order }) => order)).toEqual([null, null, null]);
  const refusals = orders.map(({ refusal }) => refusal);
  expect(refusals[0]).toContain('orders');
  expect(refusals[1]).toMatch(/^no answer: .*cable is cut$/);
  expect(refusals[2]).toBe('no answer');
});

/** The command in its own process. */
function cli(args: readonly string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', join(import.meta.dirname, '../../src/cli/main.ts'), ...args],
      { env: { ...process.env, ORRERY_KEY: WALLET.privateKey } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

test('the command runs for a duration, writes its record, and reports faulty input', async () => {
  const key = join(folder, 'key');
  writeFileSync(key, `${WALLET.privateKey}\n`);
  const strategy = example('quotes');
  const out = join(folder, 'out');
  const args = ['live', strategy, '--url', served.url, '--key-file', key];
  const [code] = await Promise.all([
    main([...args, '--for', '300ms', '--out', out, '--json']),
    play(1),
  ]);
  expect(code).toBe(0);
  expect((await readCompared(out, null)).orders).toBeInstanceOf(Array);
  expect(await main(['compare', out, out])).toBe(0);
  expect(await main([...args, '--for', 'soon'])).toBe(2);
  expect(await main([...args, '--param', 'size=0'])).toBe(2);
  expect(await main([...args, '--markets', 'NONE', '--for', '1s'])).toBe(2);
  const short = await cli([...args, '--account', '0x12', '--for', '1s']);
  expect(short.stderr).toBe("orrery: --account '0x12': must be 0x and 40 hex digits\n");
  writeFileSync(key, 'not a key');
  expect(await main(args)).toBe(2);
});
