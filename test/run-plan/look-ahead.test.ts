import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { lots, marketId, priceTicks, timeUs } from '../../src/num/units.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import type { OrderRecord } from '../../src/tape/record.ts';
import { DatasetWriter } from '../../src/tape-files/dataset-writer.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { probeLookAhead } from '../../src/run-plan/look-ahead.ts';
import { CHANGES, otherFuture } from '../../src/run-plan/other-future.ts';
import type { TapeBatch } from '../../src/backtest/run-backtest.ts';
import { defineStrategy } from '../../src/strategy/definition.ts';
import type { Command, TapeL3 } from '../../src/engine/commands.ts';
import { example, plannedOf, planOf, RECORDED_FROM_US } from './plans.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-look-ahead-'));
const orders = join(scratch, 'orders');
const FROM_US = 1_700_000_000_000_000;
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

/** Single orders around 10,000 ticks: orders come, shrink, leave and trade at the best price. */
function orderFlow(count: number): OrderRecord[] {
  const random = new RandomStreams('orders').stream('flow');
  const live: OrderRecord[] = [];
  const flow: OrderRecord[] = [];
  for (let i = 0; i < count; i++) {
    const at = timeUs(FROM_US + i * 10_000);
    const base = { kind: 'order', timeUs: at, localUs: at, line: i + 1 } as const;
    const side = random.below(2) === 0 ? 'bid' : 'ask';
    const away = (1 + random.below(20)) * (side === 'bid' ? -1 : 1);
    const mine = live.filter((order) => order.side === side);
    const best = mine.sort((a, b) => (a.priceTicks - b.priceTicks) * (side === 'bid' ? -1 : 1))[0];
    if (best === undefined || mine.length < 30) {
      const order = { priceTicks: priceTicks(10_000 + away), lots: lots(2 + random.below(9)) };
      flow.push({ ...base, action: 'add', ref: i + 1, side, ...order });
      live.push(flow.at(-1) as OrderRecord);
      continue;
    }
    const action = (['reduce', 'remove', 'execute'] as const)[random.below(3)] ?? 'remove';
    const order = action === 'execute' ? best : (mine[random.below(mine.length)] ?? best);
    const size = action === 'remove' ? order.lots : Math.ceil(order.lots / 2);
    flow.push({ ...order, ...base, action, lots: lots(size) });
    live.splice(live.indexOf(order), 1);
    if (size < order.lots) live.push({ ...order, lots: lots(order.lots - size) });
  }
  return flow;
}

beforeAll(async () => {
  const writer = await DatasetWriter.open(orders, { id: 'orders', job: 'orders', mode: 'create' });
  for (const record of orderFlow(2000)) await writer.write(record);
  const units = { symbol: 'X', tickSize: '0.01', lotSize: '0.01', inverse: false };
  await writer.finish({ symbol: 'X', format: 'made', source: '', licence: '' }, units);
});

test('single orders at other prices are the same book, moved', async () => {
  const flow = orderFlow(1000);
  const commands = flow.map(
    ({ timeUs: at, action, ref, side, priceTicks: price, lots: size }): TapeL3 => ({
      ...{ kind: 'tapeL3', timeUs: at, market: marketId(0), action, ref, side },
      ...{ priceTicks: price, lots: size },
    }),
  );
  async function* tape() {
    await Promise.resolve();
    yield { commands };
  }
  const atUs = FROM_US + 5_000_000;
  const random = new RandomStreams('moved').stream('look-ahead');
  const other: Command[] = [];
  for await (const batch of otherFuture(tape(), { change: 'prices', atUs, random })) {
    other.push(...batch.commands);
  }
  expect(other.filter(({ timeUs: at }) => at < atUs)).toEqual(commands.slice(0, 500));
  const [left, right] = [levelsAfter(commands), levelsAfter(other)];
  const moved = (right[0]?.priceTicks ?? 0) - (left[0]?.priceTicks ?? 0);
  expect(Math.abs(moved)).toBeGreaterThan(20);
  expect(left.length).toBeGreaterThan(20);
  expect(right).toEqual(left.map((one) => ({ ...one, priceTicks: one.priceTicks + moved })));
});

/** Levels of the exchange's book after the commands. */
function levelsAfter(commands: readonly Command[]): { priceTicks: number; lots: number }[] {
  const engine = new Exchange({ ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs(0) });
  const spec = parseMarketSpec(
    { symbol: 'X', tickSize: '1', lotSize: '1', indexSource: 'mid' },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  engine.apply({ kind: 'listMarket', timeUs: timeUs(0), spec: spec.value });
  engine.apply({ kind: 'tapeSnapshot', timeUs: timeUs(0), market: marketId(0), levels: [] });
  for (const command of commands) {
    if (engine.apply(command) !== 'ok') throw new Error(JSON.stringify(command));
  }
  return (['bid', 'ask'] as const).flatMap((side) =>
    engine.depth(marketId(0), side, 1000).map(({ priceTicks: price, lots: size }) => ({
      priceTicks: price,
      lots: size,
    })),
  );
}

const OPTIONS = { instants: 2, seed: 'test' };
const END = { toUs: RECORDED_FROM_US + 40_000_000 };
const SHORT = { toUs: RECORDED_FROM_US + 15_000_000 };

test.each([
  ['sma-cross', { fast: '3', slow: '8' }],
  ['market-maker', { gamma: '0.01', k: '1' }],
])('%s does not depend on the future', async (name, parameters) => {
  const plan = planOf([await plannedOf(example(name), parameters)], END);
  const probes = await probeLookAhead(plan, OPTIONS);
  expect(probes.map(({ change }) => change)).toEqual(CHANGES.flatMap((one) => [one, one]));
  expect(probes.map(({ difference }) => difference)).toEqual(probes.map(() => null));
  expect(probes.some(({ compared }) => compared > 3)).toBe(true);
  expect(await probeLookAhead(plan, OPTIONS)).toEqual(probes);
});

const recordedPlan = () => planOf([{ id: 'peeking', bundle: null, parameters: {} }], SHORT);
const ordersPlan = (): RunPlan => ({
  data: orders,
  strategies: [{ id: 'peeking', bundle: null, parameters: {} }],
  balance: '10000',
  seed: '1',
});

test.each([
  ['levels and trades', recordedPlan],
  ['single orders', ordersPlan],
])(
  'on %s, a strategy that reads what is played next is found by each change',
  async (_name, planned) => {
    let next: readonly Command[] = [];
    async function* leaking(batches: AsyncIterable<TapeBatch>): AsyncGenerator<TapeBatch> {
      for await (const batch of batches) {
        next = batch.commands;
        yield batch;
      }
    }
    /** Text of all commands of the batch that is played, most of which lie in the future. */
    const peeking = defineStrategy({
      name: 'peeking',
      parameters: {},
      create: () => ({
        onTrade(_trade, context) {
          context.log(JSON.stringify(next.slice(-100)));
        },
      }),
    });
    const plan = planned();
    const ports = { definitions: new Map([['peeking', peeking]]), tape: leaking };
    const probes = await probeLookAhead(plan, OPTIONS, ports);
    for (const change of CHANGES) {
      const found = probes.filter((probe) => probe.change === change && probe.difference !== null);
      expect(found.length, change).toBeGreaterThan(0);
      for (const { difference } of found) {
        expect(difference?.changed).not.toBe(difference?.recorded);
      }
    }
  },
);
