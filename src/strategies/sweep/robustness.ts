/**
 * How much of a result survives when what it stands on moves a little: parameters by 5, 10 and 20 %, latency and fees by
 * factors, and the order of its returns by a block bootstrap.
 */
import { bootstrap, type BootstrapBands } from '../../metrics/bootstrap.ts';
import { assignmentOf, type Assignment, type Dimension } from '../../search/space.ts';
import { RandomStreams } from '../../sim/rng.ts';
import type { RunPlan } from '../plan.ts';
import type { SweepPlan } from './sweep.ts';
import type { Trial } from './trial-log.ts';
import type { TrialResult, TrialTask } from './trial.ts';

export interface Variation {
  /** `fast +10 %`, `latency × 5` */
  readonly name: string;
  readonly parameters: Assignment;
  readonly score: number | null;
  readonly error: string | null;
  readonly pnl: string | null;
}

export interface Robustness {
  readonly sensitivity: readonly Variation[];
  readonly stress: readonly Variation[];
  /** null with fewer than two returns. */
  readonly bands: BootstrapBands | null;
}

const SHIFTS = [-20, -10, -5, 5, 10, 20];
const LATENCY_FACTORS = [2, 5];
const FEE_FACTORS = [2, 3];
const SAMPLES = 2000;
const CONFIDENCE = 0.9;

export async function robustness(
  search: SweepPlan,
  best: Trial,
  perYear: number,
  run: (task: TrialTask) => Promise<TrialResult>,
): Promise<Robustness> {
  const { plan, space, objective, options, seed } = search;
  const chosen = assignmentOf(space, best.point);
  const vary = async (
    name: string,
    parameters: Assignment,
    changed: RunPlan,
  ): Promise<Variation> => {
    const result = await run({ plan: changed, parameters, objective, options });
    const { score, error, figures } = result;
    return { name, parameters, score, error, pnl: figures?.pnl ?? null };
  };
  const shifted = space.flatMap((dimension, i) => shiftsOf(dimension, best.point[i] ?? 0));
  const random = new RandomStreams(seed).stream('bootstrap');
  return {
    sensitivity: await Promise.all(
      shifted.map(({ name, dimension, value }) =>
        vary(name, { ...chosen, [dimension]: value }, plan),
      ),
    ),
    stress: await Promise.all([
      ...LATENCY_FACTORS.map((factor) =>
        vary(`latency × ${String(factor)}`, chosen, { ...plan, latencyTimes: factor }),
      ),
      ...FEE_FACTORS.map((factor) =>
        vary(`fees × ${String(factor)}`, chosen, { ...plan, feesTimes: factor }),
      ),
    ]),
    bands:
      best.returns.length < 2
        ? null
        : bootstrap(
            best.returns,
            { samples: SAMPLES, meanBlock: null, confidence: CONFIDENCE, periodsPerYear: perYear },
            random,
          ),
  };
}

interface Shift {
  readonly name: string;
  readonly dimension: string;
  readonly value: string;
}

/** The nearest value of the list to each shift; none where that is the chosen one itself, or one that was taken. */
function shiftsOf({ name, values, ordered }: Dimension, index: number): Shift[] {
  const chosen = values[index];
  if (!ordered || chosen === undefined) return [];
  const taken = new Set([chosen]);
  return SHIFTS.flatMap((percent) => {
    const wanted = Number(chosen) * (1 + percent / 100);
    const value = nearest(values, wanted);
    if (taken.has(value)) return [];
    taken.add(value);
    const sign = percent > 0 ? '+' : '−';
    return [{ name: `${name} ${sign}${String(Math.abs(percent))} %`, dimension: name, value }];
  });
}

function nearest(values: readonly string[], wanted: number): string {
  return values.reduce((best, value) =>
    Math.abs(Number(value) - wanted) < Math.abs(Number(best) - wanted) ? value : best,
  );
}
