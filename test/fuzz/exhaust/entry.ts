/** Exports of a build with a mutant: exploration, report, and the check of a journal. */
export { allInvariants, checkJournal } from '../../../src/fuzz/check-journal.ts';
export { allOf } from '../../../src/fuzz/checker.ts';
export {
  commandsOfPath,
  exhaustReport,
  namesOf,
} from '../../../src/fuzz/exhaust/exhaust-failure.ts';
export { CheckedWalk } from '../../../src/fuzz/exhaust/checked-walk.ts';
export { Expander } from '../../../src/fuzz/exhaust/expand.ts';
export { CONFIG } from '../../../src/fuzz/exhaust/setting.ts';
export { oracleLockstep } from '../../../src/fuzz/oracle-checker.ts';
export { explore } from '../../mutants/exhaust-worker.ts';
