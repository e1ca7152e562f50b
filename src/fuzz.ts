/**
 * `orrery/fuzz`: random commands, invariants and shrinking for suites of one's own (docs/FUZZING.md). Arbitraries and model commands are
 * for fast-check; everything else stands by itself.
 */
export { STATE_INVARIANTS, type StateInvariant } from './engine/invariants.ts';
export type { InvariantViolation } from './engine/views.ts';
export { addCounts, Coverage, neverReached, type Counts } from './fuzz/coverage.ts';
export { drawProfile, type DrawOptions } from './fuzz/draw-profile.ts';
export { fuzzProfiles, twinCommands, TwinModel, type TwinCommand } from './fuzz/arbitraries.ts';
export { CommandGenerator } from './fuzz/generator.ts';
export {
  allInvariants,
  journalOf,
  judgeJournal,
  type JudgeJournalOptions,
} from './fuzz/judge-journal.ts';
export { allOf, type Judge, type Violation } from './fuzz/judge.ts';
export { oracleLockstep } from './fuzz/oracle-judge.ts';
export {
  describeProfile,
  PROFILE_NAMES,
  type FuzzProfile,
  type ProfileName,
} from './fuzz/profile.ts';
export { failureFiles, type FailureFiles } from './fuzz/report/failure-files.ts';
export { runFuzz, type Failure, type RunOptions, type RunResult } from './fuzz/run.ts';
export { shrink, type Shrunk, type ShrinkOptions } from './fuzz/shrink/shrink.ts';
export { commandsOf } from './fuzz/shrink/script.ts';
export { Sometimes, SOMETIMES, neverSometimes } from './fuzz/sometimes.ts';
export { stateInvariants } from './fuzz/state-judge.ts';
export { STREAM_INVARIANTS, streamInvariants } from './fuzz/stream-judge.ts';
export { driveHost, type DriveOptions, type DriveResult } from './fuzz/twin/drive.ts';
export type { HostReply, SimVerb, TwinHost } from './fuzz/twin/host.ts';
export { InProcessHost } from './fuzz/twin/in-process-host.ts';
