/**
 * Kinds of agents in a population. Each is an ordinary strategy with an account, latency and the
 * API.
 */
import type { ParameterSpecs, StrategyDefinition } from '../strategy/definition.ts';
import { hunterAgent } from './hunter.ts';
import { makerAgent } from './maker.ts';
import { momentumAgent } from './momentum.ts';
import { noiseAgent } from './noise.ts';
import { valueAgent } from './value.ts';

/** Erases parameter types: parameters are checked against their specs before `create` is called. */
function untyped<P extends ParameterSpecs>(definition: StrategyDefinition<P>): StrategyDefinition {
  return definition as unknown as StrategyDefinition;
}

export const AGENTS: ReadonlyMap<string, StrategyDefinition> = new Map([
  ['noise', untyped(noiseAgent)],
  ['value', untyped(valueAgent)],
  ['momentum', untyped(momentumAgent)],
  ['marketMaker', untyped(makerAgent)],
  ['liquidationHunter', untyped(hunterAgent)],
]);
