/**
 * Tests a strategy for look-ahead: runs it on the recording and on copies whose future, after a
 * random instant, is another. Every decision before the instant must be the same. Decisions are
 * the requests that it sends and the lines that it logs.
 */
import type { Decision, TapeBatch } from '../backtest/run-backtest.ts';
import { StrategyFault } from '../strategy/strategy-fault.ts';
import { RandomStreams, type RandomStream } from '../virtual-time/rng.ts';
import { CHANGES, otherFuture, type TapeChange } from './other-future.ts';
import { executePlan, type PlanPorts } from './plan.ts';
import type { RunPlan } from './run-plan.ts';

/** `feeds`: the user's data end. */
export type Change = TapeChange | 'feeds';

export interface Probe {
  readonly change: Change;
  /** Seed of the instant and of the change. */
  readonly seed: string;
  readonly atUs: number;
  /** Decisions before the instant that were compared. */
  readonly compared: number;
  /** First decision that differs: with the recording, and with the other future. */
  readonly difference: { readonly recorded: string; readonly changed: string } | null;
}

export interface LookAheadOptions {
  /** Instants per kind of change. */
  readonly instants: number;
  readonly seed: string;
  readonly onProgress?: (fraction: number) => void;
  readonly cancelled?: () => boolean;
}

/** Throws the errors of `executePlan`. Empty if cancelled. */
export async function probeLookAhead(
  plan: RunPlan,
  { instants, seed, onProgress, cancelled = () => false }: LookAheadOptions,
  ports: Pick<PlanPorts, 'definitions' | 'tape' | 'data'> = {},
): Promise<Probe[]> {
  const recorded = await decisionsOf(plan, { ...ports, cancelled }, false);
  const { firstUs, lastUs } = recorded;
  const hasFeeds = (plan.feeds ?? []).length > 0;
  const changes: readonly Change[] = hasFeeds ? [...CHANGES, 'feeds'] : CHANGES;
  const runs = changes.flatMap((change) =>
    Array.from({ length: instants }, (_, i) => ({
      change,
      seed: `${seed}.${change}.${String(i)}`,
    })),
  );
  const probes: Probe[] = [];
  for (const run of runs) {
    if (cancelled()) return [];
    const random = new RandomStreams(run.seed).stream('look-ahead');
    const atUs = firstUs + 1 + Math.floor(random.next() * (lastUs - firstUs));
    const other = otherPorts(run.change, atUs, random, ports);
    const changed = await decisionsOf(plan, { ...ports, cancelled, ...other }, true);
    probes.push({ ...run, atUs, ...compared(recorded, changed, atUs) });
    onProgress?.(probes.length / runs.length);
  }
  return probes;
}

/** Ports that play another future from the instant on. */
function otherPorts(
  change: Change,
  atUs: number,
  random: RandomStream,
  ports: Pick<PlanPorts, 'tape' | 'data'>,
): PlanPorts {
  if (change === 'feeds') {
    return {
      data: (rows) => {
        const before = rows.filter(({ timeUs: availableUs }) => availableUs < atUs);
        return ports.data?.(before) ?? before;
      },
    };
  }
  return {
    tape: (batches) => {
      const other = otherFuture(batches, { change, atUs, random });
      return ports.tape?.(other) ?? other;
    },
  };
}

interface Decisions {
  readonly firstUs: number;
  readonly lastUs: number;
  /** Time from which they are incomplete. */
  readonly untilUs: number;
  readonly made: readonly Decision[];
}

/** @param isChanged whether an error of the strategy is a decision, not the end of the test */
async function decisionsOf(
  plan: RunPlan,
  ports: PlanPorts,
  isChanged: boolean,
): Promise<Decisions> {
  const made: Decision[] = [];
  let playedUs = 0;
  async function* played(batches: AsyncIterable<TapeBatch>): AsyncGenerator<TapeBatch> {
    for await (const batch of ports.tape?.(batches) ?? batches) {
      playedUs = batch.commands.at(-1)?.timeUs ?? playedUs;
      yield batch;
    }
  }
  try {
    const { output } = await executePlan(plan, {
      ...ports,
      tape: played,
      onDecision: (decision) => {
        made.push(decision);
      },
    });
    const { firstUs, lastUs } = output;
    return { firstUs, lastUs, untilUs: playedUs, made };
  } catch (error) {
    if (!(error instanceof StrategyFault) || !isChanged) throw error;
    const { timeUs: atUs } = error;
    made.push({ strategy: error.strategy, timeUs: atUs, text: error.message });
    return { firstUs: atUs, lastUs: atUs, untilUs: atUs + 1, made };
  }
}

function compared(
  recorded: Decisions,
  changed: Decisions,
  atUs: number,
): Pick<Probe, 'compared' | 'difference'> {
  const endUs = Math.min(atUs, changed.untilUs);
  const before = ({ made }: Decisions): readonly string[] =>
    made
      .filter((decision) => decision.timeUs < endUs)
      .map(({ strategy, timeUs: at, text }) => `${strategy} at ${String(at)}: ${text}`);
  const [left, right] = [before(recorded), before(changed)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    if (left[i] === right[i]) continue;
    const difference = { recorded: left[i] ?? 'nothing', changed: right[i] ?? 'nothing' };
    return { compared: i + 1, difference };
  }
  return { compared: left.length, difference: null };
}
