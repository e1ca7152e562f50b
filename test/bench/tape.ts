/**
 * History through the engine: the recorded dataset, read from disk and played through the real
 * book, in levels and trades per second. Also the engine alone on one-minute bars, without positions
 * and with a position and two brackets. Contestants alternate. Then the memory of a tape ten times as long as one that fills a market's retention. Run with --expose-gc;
 * prints JSON.
 */
import { outcomeCode } from '../../src/engine/refusals.ts';
import type { Command, NewOrder } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { openDataset, type Dataset } from '../../src/tape-files/dataset-files.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { barCommand, walk } from './bar-flow.ts';
import { RECORDED } from './long-tape.ts';

const ROUNDS = 5;
const BARS = 500_000;
const FAR_MS = 9_007_199_254_741n;
/** Repetitions of the recording: one ends before the compiler has finished. */
const PLAYS = 3;
/** The shorter tape fills a market's retention: 100,000 trades, 45 days of minutes. */
const FILLING_PLAYS = 5;
const FILLING_BARS = 100_000;
const START_US = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;

/** Events go to a sink, as in any run with an observer. */
let received = 0;
const count = (): void => {
  received += 1;
};

function openMarket(startUs: number, changes: Readonly<Record<string, unknown>> = {}): Exchange {
  const spec = parseMarketSpec(
    {
      symbol: 'BTCUSDT',
      tickSize: '0.1',
      lotSize: '0.001',
      indexSource: 'mid',
      funding: { source: 'external' },
      ...changes,
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  const engine = new Exchange({ ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs(startUs) });
  engine.apply({ kind: 'listMarket', timeUs: timeUs(startUs), spec: spec.value });
  engine.apply({
    kind: 'deposit',
    timeUs: timeUs(startUs),
    account: address(`0x${'a'.repeat(40)}`),
    subaccountIndex: 0,
    amount: quanta(1_000_000_000_000n),
  });
  return engine;
}

/** Levels and trades per second of the repeated dataset, from its files to hashed events. */
async function dataset(): Promise<number> {
  const seconds = clock();
  const recording = await openDataset(RECORDED);
  const { engine, play } = playerOf(recording, count);
  let entries = 0;
  for (let i = 0; i < PLAYS; i++) entries += await play(i);
  if (engine.seq === 0) throw new Error('no record was played');
  return entries / seconds();
}

/**
 * An exchange, and a function that plays the recording for the i-th time with shifted times;
 * returns its levels and trades.
 */
function playerOf(
  recording: Dataset,
  sink: () => void,
): { readonly engine: Exchange; readonly play: (i: number) => Promise<number> } {
  const market = recording.markets[0];
  const startUs = Math.floor((market?.firstUs ?? 0) / 1e6) * 1e6;
  const spanUs = Math.ceil(((market?.lastUs ?? 0) - startUs) / 1e6 + 1) * 1e6;
  const engine = openMarket(startUs);
  const play = async (i: number): Promise<number> => {
    let entries = 0;
    for await (const batch of recording.read().commands()) {
      for (const command of batch) {
        engine.apply({ ...command, timeUs: timeUs(command.timeUs + i * spanUs) }, sink);
        entries += 'levels' in command ? command.levels.length : 1;
      }
    }
    return entries;
  };
  return { engine, play };
}

const bars = [...walk(BARS)];
const commands: readonly Command[] = bars.map((bar) => barCommand(bar, START_US));

/** Processor time in seconds, independent of other load. */
function clock(): () => number {
  globalThis.gc?.();
  const started = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1e6;
  };
}

function perSecond(operations: number, run: () => void): number {
  const seconds = clock();
  run();
  return operations / seconds();
}

function idleBars(): number {
  const engine = openMarket(START_US, { markSource: 'last', recordedLiquidity: true });
  return perSecond(BARS, () => {
    for (const command of commands) engine.apply(command, count);
  });
}

/** A position of one lot with a take-profit and a stop-loss that no bar reaches. */
function heldBars(): number {
  const engine = openMarket(START_US, {
    markSource: 'last',
    recordedLiquidity: true,
    priceBand: '1',
  });
  const [first, ...rest] = commands;
  if (first === undefined) return 0;
  engine.apply(first);
  const leg = (orderType: 'takeProfit' | 'stopLoss', trigger: number): NewOrder => ({
    ...entry(-1, 1),
    orderType,
    reduceOnly: true,
    triggerTicks: priceTicks(trigger),
    attached: true,
  });
  const outcome = engine.apply({
    kind: 'placeOrders',
    timeUs: first.timeUs,
    subaccount: subaccountId(6),
    delegate: null,
    orders: [entry(1, 700_000), leg('takeProfit', 900_000), leg('stopLoss', 300_000)],
  });
  const [position] = engine.positions(subaccountId(6));
  if (outcome !== 'ok' || position?.lots !== 1)
    throw new Error(`no position: ${outcomeCode(outcome)}`);
  const rate = perSecond(BARS, () => {
    for (const command of rest) engine.apply(command, count);
  });
  if (engine.positions(subaccountId(6)).length !== 1)
    throw new Error('the position was closed early');
  return rate;
}

function entry(size: number, price: number): NewOrder {
  return {
    market: marketId(0),
    orderType: 'limit',
    lots: lots(size),
    priceTicks: priceTicks(price),
    ioc: true,
    postOnly: false,
    reduceOnly: false,
    nonce: 1n,
    expiresAtMs: FAR_MS,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
    triggerTicks: null,
    trailingPpm: null,
    periodMs: null,
    parent: null,
    attached: false,
  };
}

const contestants = [
  { name: 'dataset', round: dataset },
  { name: 'barsIdle', round: idleBars },
  { name: 'barsHeld', round: heldBars },
].map((contestant) => ({ ...contestant, figures: [] as number[] }));

for (let round = -1; round < ROUNDS; round++) {
  for (const { round: run, figures } of contestants) {
    const rate = await run();
    // The first round warms the compiler.
    if (round >= 0) figures.push(rate);
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Resident bytes after tapes that are `times` as long as those that fill a market's retention. */
async function memoryAfter(
  lengths: number,
): Promise<{ readonly recorded: number; readonly bars: number }> {
  const recording = await openDataset(RECORDED);
  const { engine: ofTape, play } = playerOf(recording, count);
  for (let i = 0; i < lengths * FILLING_PLAYS; i++) await play(i);
  const recorded = settled();
  const ofBars = openMarket(START_US, { markSource: 'last', recordedLiquidity: true });
  for (const bar of walk(lengths * FILLING_BARS)) ofBars.apply(barCommand(bar, START_US));
  const bars = settled();
  if (ofTape.seq === 0 || ofBars.seq === 0) throw new Error('the tapes were not played');
  return { recorded, bars };
}

function settled(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  return process.memoryUsage().rss;
}

if (received === 0) throw new Error('no event was received');
bars.length = 0;
// Loading and warming must precede the first measurement.
await memoryAfter(1);
const short = await memoryAfter(1);
const long = await memoryAfter(10);
process.stdout.write(
  JSON.stringify({
    rates: Object.fromEntries(
      contestants.map(({ name, figures }) => [name, Math.round(median(figures))]),
    ),
    memory: { recorded: long.recorded / short.recorded, bars: long.bars / short.bars },
  }),
);
