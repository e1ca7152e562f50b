/** Named options of a search: the sampler and the objective. */
import { RETURN_METRICS, TRADE_METRICS, type Objective } from '../metrics/metrics.ts';
import { StrategyError } from '../strategy/definition.ts';

export const METHODS = ['grid', 'random', 'sobol', 'halving', 'tpe'] as const;
export type Method = (typeof METHODS)[number];

/** Metrics that a search may maximise. A leading minus minimises: `-maxDrawdown`. */
export const OBJECTIVES: readonly Objective[] = [...RETURN_METRICS, ...TRADE_METRICS].flatMap(
  (metric) => ('objective' in metric ? [metric.id] : []),
);

export function checkObjective(objective: string): void {
  if ((OBJECTIVES as readonly string[]).includes(objective.replace(/^-/, ''))) return;
  throw new StrategyError(
    `objective '${objective}': must be one of ${OBJECTIVES.join(', ')}, with a leading minus to minimise`,
  );
}
