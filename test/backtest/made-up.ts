/** A synthetic recording, and runs of strategies on it; deterministic by seed. */
import type { BacktestInput, TapeBatch } from '../../src/backtest/run-backtest.ts';
import type { StrategyEntry } from '../../src/backtest/strategy-run.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';
import type { Command, TapeLevel } from '../../src/engine/commands.ts';
import type { MarketSpec } from '../../src/engine/config.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { lots, marketId, priceTicks, quanta, timeUs } from '../../src/num/units.ts';
import { constantLatency } from '../../src/virtual-time/latency.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { watchPromises } from '../../src/strategy-loader/promise-watch.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

/** Gets the rejections of all test files of this process. */
const PROMISES = watchPromises();

export const START_US = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;

export function specOf(symbol = 'T', more: Record<string, unknown> = {}): MarketSpec {
  const spec = parseMarketSpec(
    {
      symbol,
      tickSize: '0.1',
      lotSize: '0.001',
      indexSource: 'mid',
      recordedLiquidity: true,
      ...more,
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
}

/** A drifting book with ten updates a second, and trades that match it. */
export function madeUpTape(seconds: number, market = 0, seed = 'tape'): Command[] {
  const random = new RandomStreams(seed).stream('drift');
  const commands: Command[] = [];
  let mid = 10_000;
  const level = (side: TapeLevel['side'], price: number, size: number): TapeLevel => ({
    side,
    priceTicks: priceTicks(price),
    lots: lots(size),
  });
  const standing = new Map<string, TapeLevel>();
  for (let i = 0; i < seconds * 10; i++) {
    const atUs = timeUs(START_US + i * 100_000);
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
      market: marketId(market),
      levels: [...gone, ...fresh.values()],
    });
    standing.clear();
    for (const [key, value] of fresh) standing.set(key, value);
    const side = random.below(2) === 0 ? 1 : -1;
    commands.push({
      kind: 'tapeTrade',
      timeUs: timeUs(atUs + 50_000),
      market: marketId(market),
      priceTicks: priceTicks(mid + side * (1 + random.below(12))),
      lots: lots(side * (1 + random.below(80))),
    });
  }
  return commands;
}

export async function* batchesOf(commands: readonly Command[]): AsyncGenerator<TapeBatch> {
  for (let i = 0; i < commands.length; i += 16) {
    yield { commands: commands.slice(i, i + 16) };
    await Promise.resolve();
  }
}

export function entryOf(strategy: Strategy, more: Partial<StrategyEntry> = {}): StrategyEntry {
  const id = more.id ?? 'test';
  return {
    id,
    name: id,
    parameters: {},
    strategy,
    account: addressOfName(id),
    subaccountIndex: 0,
    deposit: quanta(10_000_000_000n),
    latency: constantLatency(2000, 3000, 4000),
    faults: null,
    symbols: null,
    barsUs: [],
    bookDepth: 1,
    reports: true,
    ...more,
  };
}

export function inputOf(
  strategies: readonly StrategyEntry[],
  seconds = 20,
  more: Partial<BacktestInput> = {},
): BacktestInput {
  // Rejections before a run are not its own.
  PROMISES.lost?.();
  return {
    config: DEFAULT_EXCHANGE_CONFIG,
    markets: [specOf()],
    strategies,
    tape: batchesOf(madeUpTape(seconds)),
    seed: 'test',
    streams: new RandomStreams('test'),
    keccak,
    promises: PROMISES,
    sampleUs: 1_000_000,
    journal: 'memory',
    ...more,
  };
}
