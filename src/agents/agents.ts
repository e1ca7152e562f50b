/** The kinds of agents that a population may have. Each is a strategy like any other: it has an account, latency, and the contract. */
import type { ParameterSpecs, StrategyDefinition } from '../strategy/definition.ts';
import { hunterAgent } from './hunter.ts';
import { makerAgent } from './maker.ts';
import { momentumAgent } from './momentum.ts';
import { noiseAgent } from './noise.ts';
import { valueAgent } from './value.ts';

/** Its parameters are checked against its specs before it is made, so their types may be forgotten. */
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
