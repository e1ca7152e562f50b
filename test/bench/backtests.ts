/**
 * Backtests beside grademark: the same rule on the same one-minute bars, from bars to trades. Orrery
 * runs its whole backtest, files to journal, fills and equity; the peer gets its bars as objects.
 * Prints rows as JSON.
 */
import { DataFrame } from 'data-forge';
import { backtest, type IStrategy } from 'grademark';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { RunPlan } from '../../src/run-plan/run-plan.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { walk } from './bar-flow.ts';
import { writeBars } from './long-tape.ts';
import { takeTurns, type Contestant } from './measure.ts';

const BARS = 40_000;
const WARMING = 2;
const ROUNDS = 5;
const START_US = 1_600_000_020_000_000;
/** Both sides: enter after a bar that closes this far above its open, exit after one as far below. */
const MOVE = 8;

// As the command does.
raiseInliningLimits();

const strategyOf = (trades: boolean): string => `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'bars', parameters: {}, create: () => {
  let isIn = false;
  return {
    onBar(bar, context) {
      const move = bar.close - bar.open;
      const side = !isIn && move > ${MOVE} ? 'buy' : isIn && move < -${MOVE} ? 'sell' : null;
      if (side === null || !${trades}) return undefined;
      isIn = !isIn;
      return context.submit({ side, size: '0.001' }).then(() => undefined);
    },
  };
} });
`;

type PeerBar = Readonly<Record<'open' | 'high' | 'low' | 'close' | 'volume', number>> & {
  readonly time: Date;
};
const peerBars = new DataFrame<number, PeerBar>(
  [...walk(BARS)].map(({ minute, open, high, low, close, volume }) => ({
    time: new Date(START_US / 1000 + minute * 60_000),
    open: open / 10,
    high: high / 10,
    low: low / 10,
    close: close / 10,
    volume: volume / 1000,
  })),
);

function peer(name: string, trades: boolean): Contestant {
  const strategy: IStrategy<PeerBar> = {
    entryRule: (enter, { bar }) => {
      if (trades && bar.close - bar.open > MOVE) enter();
    },
    exitRule: (exit, { bar }) => {
      if (bar.close - bar.open < -MOVE) exit();
    },
  };
  return {
    name,
    round: (_round, watch) => {
      watch.time(() => {
        const made = backtest(strategy as never, peerBars as never);
        if (made.length > 0 !== trades) throw new Error(`${name}: ${made.length} trades`);
      });
      return BARS;
    },
  };
}

function orrery(name: string, plan: RunPlan, trades: boolean): Contestant {
  return {
    name,
    round: async (_round, watch) => {
      let bytes = 0;
      const { output } = await watch.timeAsync(() =>
        executePlan(plan, {
          journal: (piece) => {
            bytes += piece.length;
          },
        }),
      );
      const fills = output.strategies[0]?.summary.fills ?? 0;
      if (bytes === 0 || fills > 0 !== trades) throw new Error(`${name}: ${fills} fills`);
      return BARS;
    },
  };
}

const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
try {
  const data = join(folder, 'bars');
  await writeBars(data, BARS, START_US);
  const planOf = async (name: string, trades: boolean): Promise<RunPlan> => {
    const file = join(folder, `${name}.ts`);
    await writeFile(file, strategyOf(trades));
    const strategies = [{ id: name, bundle: await bundleStrategy(file), parameters: {} }];
    return { data, strategies, balance: '10000', seed: '1' };
  };
  const idle = await planOf('idle', false);
  const trading = await planOf('trading', true);
  const rows = await takeTurns(
    [
      peer('grademark 0.3.0, no trade', false),
      orrery('orrery backtest, no trade', idle, false),
      peer('grademark 0.3.0, trades', true),
      orrery('orrery backtest, trades', trading, true),
    ],
    { warming: WARMING, rounds: ROUNDS },
  );
  process.stdout.write(JSON.stringify(rows));
} finally {
  await rm(folder, { recursive: true, force: true });
}
