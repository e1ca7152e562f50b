import { expect, test } from 'vitest';
import { runBacktest, type BacktestInput } from '../../src/backtest/run.ts';
import type { Strategy } from '../../src/backtest/strategy.ts';
import {
  MARKET_MAKER_DEFAULTS,
  marketMaker as quoting,
} from '../../src/backtest/strategies/market-maker.ts';
import type { Command, TapeLevel } from '../../src/engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG, parseMarketSpec } from '../../src/gateway/market-config.ts';
import { durationUs, lots, marketId, priceTicks, quanta, timeUs } from '../../src/num/units.ts';
import { constantLatency } from '../../src/sim/latency.ts';
import { RandomStreams } from '../../src/sim/rng.ts';
import { replay } from '../../src/sim/replay.ts';
import { PRIORITY, Scheduler } from '../../src/sim/scheduler.ts';
import { addressOfName, keccak } from '../../src/wallet/ethers-ports.ts';

/** The small market maker, quoting close enough to be hit by the trades of the made-up recording. */
const marketMaker = (): Strategy =>
  quoting({ ...MARKET_MAKER_DEFAULTS, halfSpread: 6, skew: 2, moveTicks: 2 });

const START = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
const spec = parseMarketSpec(
  { symbol: 'T', tickSize: '0.1', lotSize: '0.001', indexSource: 'mid' },
  keccak,
);
if (!spec.ok) throw new Error(spec.error);

/** A made-up recording: a book that drifts, and trades that hit it; the same for the same seed. */
function tape(seconds: number): Command[] {
  const random = new RandomStreams('tape').stream('drift');
  const commands: Command[] = [];
  let mid = 10_000;
  const level = (side: TapeLevel['side'], price: number, size: number): TapeLevel => ({
    side,
    priceTicks: priceTicks(price),
    lots: lots(size),
  });
  const standing = new Map<string, TapeLevel>();
  for (let i = 0; i < seconds * 10; i++) {
    const atUs = timeUs(START + i * 100_000);
    mid += random.below(7) - 3;
    const fresh = new Map<string, TapeLevel>();
    for (let d = 1; d <= 20; d++) {
      for (const next of [level('bid', mid - d, 50), level('ask', mid + d, 50)]) {
        fresh.set(`${next.side}${next.priceTicks}`, next);
      }
    }
    const gone = [...standing.values()]
      .filter((old) => !fresh.has(`${old.side}${old.priceTicks}`))
      .map((old) => ({ ...old, lots: lots(0) }));
    commands.push({
      kind: i === 0 ? 'tapeSnapshot' : 'tapeDepth',
      timeUs: atUs,
      market: marketId(0),
      levels: [...gone, ...fresh.values()],
    });
    standing.clear();
    for (const [key, value] of fresh) standing.set(key, value);
    const side = random.below(2) === 0 ? 1 : -1;
    commands.push({
      kind: 'tapeTrade',
      timeUs: timeUs(atUs + 50_000),
      market: marketId(0),
      priceTicks: priceTicks(mid + side * (1 + random.below(12))),
      lots: lots(side * (1 + random.below(80))),
    });
  }
  return commands;
}

async function* batches(commands: readonly Command[]): AsyncGenerator<readonly Command[]> {
  for (let i = 0; i < commands.length; i += 16) {
    yield commands.slice(i, i + 16);
    await Promise.resolve();
  }
}

function input(
  strategy: Strategy,
  seconds = 20,
  latency = constantLatency(2000, 3000, 4000),
): BacktestInput {
  if (!spec.ok) throw new Error(spec.error);
  return {
    config: DEFAULT_EXCHANGE_CONFIG,
    spec: spec.value,
    strategy,
    account: addressOfName('test'),
    deposit: quanta(10_000_000_000n),
    latency,
    tape: batches(tape(seconds)),
    keccak,
    yieldMacrotask: () => new Promise((resolve) => setImmediate(resolve)),
    sampleUs: durationUs(1_000_000),
  };
}

test('the same inputs give the same journal, byte for byte, and it replays without the strategy', async () => {
  const first = await runBacktest(input(marketMaker()));
  const second = await runBacktest(input(marketMaker()));
  expect(first.summary.fills).toBeGreaterThan(20);
  expect(second.summary).toEqual(first.summary);
  expect(Buffer.from(second.journal).equals(Buffer.from(first.journal))).toBe(true);
  const again = replay(first.journal, { verify: true });
  expect(again.mismatch).toBeNull();
  expect(again.engine.stateHash()).toBe(first.summary.stateHash);
});

test('trading, fees and funding sum to the PnL exactly', async () => {
  const { summary } = await runBacktest(input(marketMaker()));
  const quantaOf = (text: string): bigint => {
    const [whole = '', fraction = ''] = text.replace('-', '').split('.');
    const size = BigInt(whole + fraction.padEnd(6, '0'));
    return text.startsWith('-') ? -size : size;
  };
  expect(
    quantaOf(summary.pnlTrading) + quantaOf(summary.pnlFees) + quantaOf(summary.pnlFunding),
  ).toBe(quantaOf(summary.pnl));
});

test('latency has three legs, and a strategy hears nothing before its time', async () => {
  const latency = constantLatency(2000, 3000, 4000, 500);
  const seen: string[] = [];
  let asked = false;
  const strategy: Strategy = {
    name: 'watcher',
    onBook(update, context) {
      // Exactly the feed latency old: never newer, never older.
      expect(context.now() - update.timeUs).toBe(2000);
      if (asked) return;
      asked = true;
      const sentUs = context.now();
      void context.client.call('getTime', {}).then(({ time }) => {
        seen.push(`there ${time * 1000 - Math.floor((sentUs + 3500) / 1000) * 1000}`);
        seen.push(`back ${context.now() - sentUs}`);
      });
    },
    onTrade(update, context) {
      expect(context.now() - update.timeUs).toBe(2000);
    },
  };
  await runBacktest(input(strategy, 3, latency));
  expect(seen).toEqual(['there 0', 'back 7500']);
});

test('what a request reads is the exchange when it arrives, not when it is answered', async () => {
  const prices: string[] = [];
  const strategy: Strategy = {
    name: 'reader',
    async onStart(context) {
      await context.sleep(1_000_000);
      const { bestBid } = await context.client.call('getPrice', { symbol: 'T' });
      prices.push(bestBid?.price ?? 'none');
    },
  };
  await runBacktest(input(strategy, 3, constantLatency(0, 1, 900_000)));
  const late: string[] = [];
  await runBacktest(
    input(
      {
        name: 'late reader',
        async onStart(context) {
          await context.sleep(1_000_000);
          const { bestBid } = await context.client.call('getPrice', { symbol: 'T' });
          late.push(bestBid?.price ?? 'none');
        },
      },
      3,
      constantLatency(0, 1, 1),
    ),
  );
  expect(prices).toEqual(late);
});

test('awaiting something outside virtual time stops the run', async () => {
  const strategy: Strategy = {
    name: 'sleeper',
    onBook: () => new Promise(() => undefined),
  };
  await expect(runBacktest(input(strategy, 2))).rejects.toThrow(
    "strategy 'sleeper' awaits something outside virtual time",
  );
});

test('an error of a strategy ends the run with that error', async () => {
  const strategy: Strategy = {
    name: 'broken',
    async onBook() {
      await Promise.resolve();
      throw new Error('no such indicator');
    },
  };
  await expect(runBacktest(input(strategy, 2))).rejects.toThrow('no such indicator');
});

test('entries run by time, then priority, then order of scheduling', () => {
  const scheduler = new Scheduler(timeUs(0));
  const ran: string[] = [];
  const add = (
    name: string,
    us: number,
    priority: (typeof PRIORITY)[keyof typeof PRIORITY],
  ): void => {
    scheduler.at(timeUs(us), priority, () => ran.push(name));
  };
  add('timer', 5, PRIORITY.timer);
  add('second delivery', 5, PRIORITY.delivery);
  add('third delivery', 5, PRIORITY.delivery);
  add('order', 5, PRIORITY.order);
  add('first', 1, PRIORITY.timer);
  while (scheduler.runNext());
  expect(ran).toEqual(['first', 'order', 'second delivery', 'third delivery', 'timer']);
  expect(() => {
    scheduler.at(timeUs(4), PRIORITY.order, () => undefined);
  }).toThrow(/past/);
});

test('random streams do not shift each other, and go on after a restore', () => {
  const draws = (streams: RandomStreams, name: string): number[] => {
    const stream = streams.stream(name);
    return [stream.next(), stream.next(), stream.next()];
  };
  const alone = draws(new RandomStreams('s'), 'a');
  const together = new RandomStreams('s');
  draws(together, 'b');
  expect(draws(together, 'a')).toEqual(alone);
  expect(draws(new RandomStreams('s'), 'b')).not.toEqual(alone);
  const saved = JSON.parse(JSON.stringify(together.save())) as ReturnType<RandomStreams['save']>;
  expect(draws(new RandomStreams('other', saved), 'a')).toEqual(draws(together, 'a'));
});
