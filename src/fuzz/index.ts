/**
 * `orrery/fuzz`: random commands, invariants and shrinking for test suites (docs/FUZZING.md).
 * Arbitraries and model commands require fast-check; the rest does not.
 * @packageDocumentation
 */
export { STATE_INVARIANTS, type StateInvariant } from '../engine/invariants/invariants.ts';
export type { InvariantViolation } from '../engine/read/views.ts';
export { addCounts, ReachedCounts, neverReached, type Counts } from './reached-counts.ts';
export { drawProfile, type DrawOptions } from './draw-profile.ts';
export { CommandGenerator } from './generator.ts';
export {
  allInvariants,
  journalOf,
  checkCommands,
  checkJournal,
  type CheckJournalOptions,
} from './check-journal.ts';
export {
  CHECKS,
  CHECK_NAMES,
  checkerOf,
  type CheckIntervals,
  type CheckName,
} from './checks/checks.ts';
export { sometimes, type Sometimes, type SometimesChecker } from './sometimes.ts';
export { FuzzError } from './fuzz-error.ts';
export { allOf, type Checker, type Violation } from './checker.ts';
export { oracleLockstep } from './oracle-checker.ts';
export { describeProfile, PROFILE_NAMES, type FuzzProfile, type ProfileName } from './profile.ts';
export { failureFiles, type FailureFiles } from './report/failure-files.ts';
export { runFuzz, type Failure, type RunOptions, type RunResult } from './fuzz-run.ts';
export { shrink, type Shrunk, type ShrinkOptions } from './shrink/shrink.ts';
export { commandsOf } from './shrink/script.ts';
export { Coverage, COVERED_STATES, statesNeverReached } from './coverage.ts';
export { stateInvariants } from './state-checker.ts';
export { STREAM_INVARIANTS, streamInvariants } from './stream-checker.ts';
export { driveHost, type DriveOptions, type DriveResult } from './twin/drive.ts';
export type { HostReply, SimVerb, TwinHost } from './twin/twin-host.ts';
export { TwinModel, type TwinModelOptions } from './twin/twin-model.ts';
export { InProcessHost } from './twin/in-process-host.ts';
