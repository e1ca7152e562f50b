import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { executePlan } from '../../src/run-plan/plan.ts';
import { planOf, plannedOf, RECORDED_FROM_US } from '../run-plan/plans.ts';
import { liveOnReplay, serveReplay } from './replayed.ts';

const OBSERVER = fileURLToPath(new URL('observer.ts', import.meta.url));

test.each(['none', 'constant:feed=2ms,entry=5ms,response=5ms,compute=500us'])(
  'a run over HTTP and WebSocket equals the backtest with latency %s',
  async (latency) => {
    const planned = await plannedOf(OBSERVER);
    const plan = planOf([planned], {
      latency,
      toUs: RECORDED_FROM_US + 12_000_000,
      sampleUs: 1_000_000,
    });
    const { output } = await executePlan(plan);
    const [backtest] = output.strategies;
    const served = await serveReplay(plan);
    try {
      const live = await liveOnReplay(served, plan, planned);
      const { log, equity } = backtest!;
      expect(log.length).toBeGreaterThan(100);
      for (const [i, row] of log.entries()) {
        if (live.log[i]?.text !== row.text) {
          console.log(
            i,
            log.slice(Math.max(0, i - 2), i + 3),
            live.log.slice(Math.max(0, i - 2), i + 3),
          );
          break;
        }
      }
      expect(live.log).toEqual(log);
      expect(live.equity).toEqual(
        equity.map(({ timeUs, equity: value, balance }) => ({ timeUs, equity: value, balance })),
      );
    } finally {
      await served.remove();
    }
  },
  120_000,
);
