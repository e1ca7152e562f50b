/** Exports of a build with a planted bug: fuzzer, engine and scenarios of one build. */
export { Exchange } from '../../../src/engine/exchange.ts';
export { drawProfile } from '../../../src/fuzz/draw-profile.ts';
export { checkerOf } from '../../../src/fuzz/checks/checks.ts';
export { allOf } from '../../../src/fuzz/checker.ts';
export { checksOfRun, runBatch, shrinkFailure } from '../../../src/fuzz/campaign.ts';
export { runFuzz } from '../../../src/fuzz/fuzz-run.ts';
export { shrink } from '../../../src/fuzz/shrink/shrink.ts';
export { stateInvariants } from '../../../src/fuzz/state-checker.ts';
export { streamInvariants } from '../../../src/fuzz/stream-checker.ts';
export { checkJournal } from '../../../src/fuzz/check-journal.ts';
export { parseScenario } from '../../../src/scenario/parse.ts';
export { runScenario } from '../../../src/scenario/run-scenario.ts';
export { InProcessHost } from '../../../src/fuzz/twin/in-process-host.ts';
