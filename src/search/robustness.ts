/**
 * Robustness of a result to small changes: parameters by 5, 10 and 20 %, latency and fees by
 * factors, and the order of returns by a block bootstrap.
 */
import { bootstrap, type BootstrapBands } from '../metrics/bootstrap.ts';
import type { ParameterSpec, ParameterSpecs } from '../strategy/definition.ts';
import { assignmentOf, type Assignment } from './samplers/space.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import type { RunPlan } from '../run-plan/run-plan.ts';
import type { SweepPlan } from './sweep.ts';
import type { Trial } from './trial-log.ts';
import type { TrialResult, TrialTask } from './trial.ts';

export interface Variation {
  /** `fast +10 % (11)`, `latency × 5` */
  readonly name: string;
  readonly parameters: Assignment;
  readonly score: number | null;
  readonly error: string | null;
  readonly pnl: string | null;
}

export interface Robustness {
  readonly sensitivity: readonly Variation[];
  readonly stress: readonly Variation[];
  /** Null with fewer than two returns. */
  readonly bands: BootstrapBands | null;
}

const SHIFTS = [-20, -10, -5, 5, 10, 20];
const LATENCY_FACTORS = [2, 5];
const FEE_FACTORS = [2, 3];
const SAMPLES = 2000;
const CONFIDENCE = 0.9;

/** A planned run with one changed input. */
interface PlannedVariation {
  readonly name: string;
  readonly task: TrialTask;
}

/** The runs of `robustness`, most important first. */
export function variationsOf(
  { plan, space, objective, options }: SweepPlan,
  specs: ParameterSpecs,
  best: Trial,
): { readonly sensitivity: PlannedVariation[]; readonly stress: PlannedVariation[] } {
  const chosen = assignmentOf(space, best.point);
  const vary = (name: string, parameters: Assignment, changed: RunPlan): PlannedVariation => ({
    name,
    task: { plan: changed, parameters, objective, options },
  });
  const shifted = space.flatMap(({ name }) => shiftsOf(name, specs[name], chosen[name]));
  return {
    sensitivity: shifted.map(({ name, dimension, value }) =>
      vary(name, { ...chosen, [dimension]: value }, plan),
    ),
    stress: [
      ...LATENCY_FACTORS.map((factor) =>
        vary(`latency × ${String(factor)}`, chosen, { ...plan, latencyTimes: factor }),
      ),
      ...FEE_FACTORS.map((factor) =>
        vary(`fees × ${String(factor)}`, chosen, { ...plan, feesTimes: factor }),
      ),
    ],
  };
}

/**
 * Null if stopped.
 *
 * @param specs the strategy's parameters, whose ranges determine the nearest values; varied
 * parameters are shifted
 */
export async function robustness(
  search: SweepPlan,
  specs: ParameterSpecs,
  best: Trial,
  perYear: number,
  run: (task: TrialTask) => Promise<TrialResult | null>,
): Promise<Robustness | null> {
  const { sensitivity, stress } = variationsOf(search, specs, best);
  const vary = async ({ name, task }: PlannedVariation): Promise<Variation | null> => {
    const result = await run(task);
    if (result === null) return null;
    const { score, error, figures } = result;
    return { name, parameters: task.parameters, score, error, pnl: figures?.pnl ?? null };
  };
  const all = await Promise.all([...sensitivity, ...stress].map(vary));
  const varied = all.filter((one) => one !== null);
  if (varied.length < all.length) return null;
  const random = new RandomStreams(search.seed).stream('bootstrap');
  return {
    sensitivity: varied.slice(0, sensitivity.length),
    stress: varied.slice(sensitivity.length),
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

/**
 * The nearest allowed value to each shift; none if it equals the chosen value or an earlier shift.
 */
function shiftsOf(
  name: string,
  spec: ParameterSpec | undefined,
  chosen: string | undefined,
): Shift[] {
  if (spec === undefined || chosen === undefined) return [];
  const taken = new Set([Number(chosen)]);
  return SHIFTS.flatMap((percent) => {
    const value = nearest(spec, Number(chosen) * (1 + percent / 100));
    if (value === null || taken.has(Number(value))) return [];
    taken.add(Number(value));
    const sign = percent > 0 ? '+' : '−';
    return [
      { name: `${name} ${sign}${String(Math.abs(percent))} % (${value})`, dimension: name, value },
    ];
  });
}

/** Null if the value is not a number. */
function nearest(spec: ParameterSpec, wanted: number): string | null {
  if (spec.kind === 'choice' || spec.kind === 'flag') return null;
  const within = Math.min(Number(spec.max), Math.max(Number(spec.min), wanted));
  switch (spec.kind) {
    case 'integer':
      return String(Math.round(within));
    case 'number': {
      const short = Number(within.toPrecision(12));
      return String(short < spec.min || short > spec.max ? within : short);
    }
    case 'decimal': {
      const decimals = spec.step.split('.')[1]?.length ?? 0;
      return (Math.round(within / Number(spec.step)) * Number(spec.step)).toFixed(decimals);
    }
  }
}
