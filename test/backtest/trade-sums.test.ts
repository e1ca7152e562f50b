/**
 * The PnL of all trades, open ones included, is that of the run: in markets that jump, cross and
 * isolated, with funding, liquidations on the book, take-overs, deleveraging and insurance.
 */
import { expect, test } from 'vitest';
import { withCharge } from '../../src/backtest/recording/clearing-charges.ts';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import type { StrategyOutput } from '../../src/backtest/output.ts';
import type { Command } from '../../src/engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { lots, marketId, ppb, priceTicks, quanta, timeUs } from '../../src/num/units.ts';
import { closedTrades, openTrades } from '../../src/report/analysis/excursions.ts';
import type { StrategyContext } from '../../src/strategy/strategy.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { batchesOf, entryOf, inputOf, specOf, START_US } from './made-up.ts';

const SECONDS = 40;
const SYMBOLS = ['T', 'U'];

/** Books around a price that jumps once in ten updates. */
function booksOf(market: number, seed: string, jump: number): Command[] {
  const random = new RandomStreams(seed).stream(`jumps ${String(market)}`);
  let mid = 10_000;
  return Array.from({ length: SECONDS * 5 }, (_, i): Command => {
    mid += random.below(7) - 3;
    if (random.below(10) === 0) mid += Math.round(mid * jump * (random.next() * 2 - 1));
    return {
      kind: 'tapeSnapshot',
      timeUs: timeUs(START_US + i * 200_000),
      market: marketId(market),
      levels: Array.from({ length: 10 }, (_unused, d) => [
        { side: 'bid', priceTicks: priceTicks(mid - d - 1), lots: lots(60) } as const,
        { side: 'ask', priceTicks: priceTicks(mid + d + 1), lots: lots(60) } as const,
      ]).flat(),
    };
  });
}

function tapeOf(seed: number): readonly Command[] {
  const jump = [0.01, 0.03, 0.1][seed % 3] ?? 0;
  const settlements = SYMBOLS.flatMap((_, market) =>
    Array.from({ length: SECONDS - 1 }, (_unused, i): Command => ({
      kind: 'settleFunding',
      timeUs: timeUs(START_US + (i + 1) * 1_000_000 + 777),
      market: marketId(market),
      ratePpb: ppb(((i % 5) - 2) * 300_000),
    })),
  );
  const insurance: Command = {
    kind: 'deposit',
    timeUs: timeUs(START_US + 1),
    account: DEFAULT_EXCHANGE_CONFIG.insuranceAccount,
    subaccountIndex: 0,
    amount: quanta(seed % 2 === 0 ? 1n : 4_000_000n),
  };
  return [
    ...SYMBOLS.flatMap((_, market) => booksOf(market, `seed ${String(seed)}`, jump)),
    ...settlements,
    insurance,
  ].sort((a, b) => a.timeUs - b.timeUs);
}

/** Random orders without a price, in cross or isolated margin. */
async function trade(context: StrategyContext): Promise<void> {
  const { account, client, random, subaccountIndex } = context;
  for (const symbol of SYMBOLS) {
    if (random.next() > 0.4) continue;
    const margin = { account, subaccountIndex, symbol, isolated: true, margin: '0.02' };
    await client.call('updateMargin', {
      ...{ ...margin, nonce: context.nextNonce(), expiresAt: START_US, signatures: [] },
    });
  }
  for (;;) {
    await context.sleep(100_000 + random.below(900_000));
    const symbol = SYMBOLS[random.below(2)] ?? 'T';
    const side = random.below(2) === 0 ? 'buy' : 'sell';
    const size = context.market(symbol).size((1 + random.below(20)) / 100);
    await context.submit({ symbol, side, size }).catch(() => undefined);
  }
}

const closedBy = new Set<string>();
let charged = 0;

async function run(seed: number): Promise<void> {
  const name = `run ${String(seed)}`;
  const entries = ['a', 'b', 'c', 'd'].map((id) =>
    entryOf({ onStart: trade }, { id, deposit: quanta(5_000_000n * BigInt(1 + (seed % 4))) }),
  );
  const { strategies, markets } = await runBacktest(
    inputOf(entries, SECONDS, {
      seed: name,
      streams: new RandomStreams(name),
      tape: batchesOf(tapeOf(seed)),
      markets: SYMBOLS.map((symbol) =>
        specOf(symbol, {
          ...{ initialMargin: '0.02', maintenanceMargin: '0.01' },
          funding: { source: 'external' },
        }),
      ),
    }),
  );
  const pnlOf = (strategy: StrategyOutput): number =>
    [...closedTrades(strategy, markets), ...openTrades(strategy, markets)].reduce(
      (sum, { pnl }) => sum + pnl,
      0,
    );
  for (const strategy of strategies) {
    for (const { step } of strategy.liquidations) closedBy.add(step);
    charged += strategy.liquidations.filter(({ charges }) => charges !== undefined).length;
    expect(pnlOf(strategy), name).toBeCloseTo(Number(strategy.summary.pnl), 6);
  }
}

test('trades sum to the PnL of the run', { timeout: 60_000 }, async () => {
  for (let seed = 0; seed < 24; seed++) await run(seed);
  expect([...closedBy].sort()).toEqual(
    ['adl', 'adlFrom', 'adlTo', 'insurance', 'order', 'safe', 'takeover', 'takeoverFrom'].sort(),
  );
  expect(charged).toBeGreaterThan(10);
});

test('a debt that is settled after the last transfer is added to its charges', () => {
  expect(withCharge(undefined, 5n)).toBe('0.000005');
  expect(withCharge('-1.25', 1_000_001n)).toBe('-0.249999');
});
