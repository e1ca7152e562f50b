/**
 * `orrery/journal`: journals of runs and of served exchanges. A journal is the whole input of an
 * exchange: its commands, with the hashes that a replay must reach. Times are microseconds since
 * 1970. Format: docs/DETERMINISM.md and src/journal/format.
 * @packageDocumentation
 */
export { openJournal, type FolderJournal } from './folder-journal.ts';
export { replayJournal, type ReplayJournalOptions } from './replay-journal.ts';
export {
  verifyJournal,
  type JournalVerification,
  type SnapshotVerdict,
  type VerifyOptions,
} from './verify-journal.ts';
export { exportJournal, type Exported, type ExportOptions } from './export-journal.ts';
export { JournalError, JournalReader, JournalWriter } from '../journal/format/frames.ts';
export type { JournalFrame } from '../journal/format/frame.ts';
export type { Mismatch, ReplayResult } from '../journal/replay/replay.ts';
export { RecordedExchange, type RecordingOptions } from '../journal/replay/recorded-exchange.ts';
export { UserError } from '../base/user-error.ts';
export { FileError } from '../platform/file-error.ts';
