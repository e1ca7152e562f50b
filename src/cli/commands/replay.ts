import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { CommandModule } from 'yargs';
import { rulesNote, unprovenHint, unprovenText } from '../../journal-files/mismatch-text.ts';
import { replay } from '../../journal/replay/replay.ts';
import { openJournal } from '../../journal-files/folder-journal.ts';
import { JOURNAL_FILE, readRun, RUN_FILE, type RecordedRun } from '../../run-plan/run-folder.ts';
import {
  endable,
  EXIT,
  mustBeWhole,
  print,
  printJson,
  setExitCode,
  startProgress,
} from '../cli-support.ts';

interface ReplayArguments {
  readonly journal: string;
  readonly verify: boolean;
  readonly recover: boolean;
  readonly json: boolean;
  readonly 'until-seq': number | undefined;
}

export const command: CommandModule<object, ReplayArguments> = {
  command: 'replay <journal>',
  builder: (yargs) =>
    yargs
      .positional('journal', {
        type: 'string',
        demandOption: true,
        describe: 'journal file, or the folder of a served exchange',
      })
      .option('verify', {
        type: 'boolean',
        default: false,
        describe: 'verify all checkpointed state hashes and the chain hash',
      })
      .option('until-seq', { type: 'number', describe: 'stop after this command' })
      .option('recover', {
        type: 'boolean',
        default: false,
        describe: 'accept a torn last frame, as after a crash',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 replay reports/demo/journal.orrery --verify', 'verify all hashes of a run'),
  handler: async ({ journal, verify, recover, json, 'until-seq': untilSeq }) => {
    mustBeWhole('until-seq', untilSeq, 0);
    const source = openJournal(journal);
    const progress = startProgress('replay', json);
    try {
      const result = endable(() =>
        replay(source, {
          verify,
          recover,
          ...(untilSeq === undefined ? {} : { untilSeq }),
          onProgress: (done, total) => {
            progress.update(done / total);
          },
        }),
      );
      progress.stop();
      const { engine, mismatch, unproven } = result;
      const recorded = verify && untilSeq === undefined ? await recordedRun(journal) : null;
      // A replay that stopped, or has other rules, reaches another hash than its run.
      const isComparable = mismatch === null && unproven === null;
      const isOther =
        isComparable && recorded !== null && recorded.chainHash !== engine.chainHash();
      const summary = {
        commands: result.commands,
        afterSeq: source.fromSeq,
        seq: engine.seq,
        timeUs: engine.nowUs,
        complete: result.ended,
        checkpointsVerified: verify ? result.checkpoints : null,
        torn: result.torn,
        mismatch,
        unproven,
        ofItsRun: recorded === null || !isComparable ? null : !isOther,
        chainHash: engine.chainHash(),
        stateHash: engine.stateHash(),
      };
      if (json) printJson(summary);
      else {
        if (source.fromSeq > 0)
          print(`from        the snapshot of command ${String(source.fromSeq)}`);
        print(
          `commands    ${String(result.commands)}${result.ended ? '' : ' (journal not closed)'}`,
        );
        if (verify) print(`checkpoints ${String(result.checkpoints)} verified`);
        if (result.torn !== null) {
          print(`torn tail   at byte ${String(result.torn.offset)}: ${result.torn.reason}`);
        }
        print(`chain hash  ${summary.chainHash}`);
        print(`state hash  ${summary.stateHash}`);
        if (mismatch !== null) {
          print(
            `MISMATCH    ${mismatch.what} after command ${String(mismatch.seq)} at ${String(mismatch.timeUs)} µs`,
          );
          print(`  journal   ${mismatch.expected}`);
          print(`  replay    ${mismatch.actual}`);
          const note = rulesNote(mismatch);
          if (note !== null) print(`  rules     ${note}`);
        }
        if (unproven !== null) {
          print(`NOT COMPARED ${unprovenText(unproven)}`);
          print(`  advice    ${unprovenHint(unproven)}`);
        }
      }
      if (isOther && !json) {
        print(`MISMATCH    ${join(dirname(journal), RUN_FILE)} is of another run`);
        print(`  run       ${recorded.chainHash}`);
        print(`  replay    ${summary.chainHash}`);
      }
      if (mismatch !== null || unproven !== null || isOther) setExitCode(EXIT.failed);
    } catch (error) {
      progress.stop();
      throw error;
    }
  },
};

/** The run beside its journal, or null. */
async function recordedRun(journal: string): Promise<RecordedRun | null> {
  const folder = dirname(journal);
  if (basename(journal) !== JOURNAL_FILE || !existsSync(join(folder, RUN_FILE))) return null;
  return readRun(folder);
}
