/**
 * `orrery/scenario`: scenario files as tests of the exchange. Guide: docs/SCENARIOS.md.
 * @packageDocumentation
 */
export {
  parseScenario,
  proveScenario,
  readScenario,
  runScenario,
  ScenarioError,
} from './scenario.ts';
export type { ScenarioResult, StepReport } from '../../scenario/run-scenario.ts';
export type { Scenario } from '../../scenario/scenario.ts';
export type { Difference } from '../../scenario/match-expectation.ts';
export type { DescribedEvent } from '../../scenario/describe-event.ts';
export type { Problem } from '../../scenario/source-node.ts';
export { UserError } from '../../base/user-error.ts';
export { FileError } from '../../platform/file-error.ts';
