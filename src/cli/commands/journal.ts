import { existsSync, statSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import { backupFolder } from '../../journal-files/backup-folder.ts';
import { compact, planCompaction } from '../../journal-files/compact-journal.ts';
import { DataFolder } from '../../journal-files/data-folder.ts';
import { noSuchFile } from '../../platform/file-error.ts';
import { exportJournal, jsonLines, type Exported } from '../../journal-files/export-journal.ts';
import { openJournal } from '../../journal-files/folder-journal.ts';
import { verifyJournal, type JournalVerification } from '../../journal-files/verify-journal.ts';
import {
  endable,
  EXIT,
  InputError,
  letInterrupt,
  mustBeRange,
  print,
  printJson,
  setExitCode,
  startProgress,
  stopIfInterrupted,
} from '../cli-support.ts';
import { rulesNote, unprovenHint, unprovenText } from '../../journal-files/mismatch-text.ts';
import { pullCommand } from '../journal-pull.ts';
import { command as inspectCommand } from './inspect.ts';

interface JournalArguments {
  readonly journal: string;
  readonly json: boolean;
}

interface ExportArguments extends JournalArguments {
  readonly out: string | undefined;
  readonly from: number;
  readonly to: number;
}

interface CompactArguments {
  readonly folder: string;
  readonly 'dry-run': boolean;
  readonly json: boolean;
}

const JOURNAL = {
  type: 'string',
  demandOption: true,
  describe: 'journal file, or the folder of a served exchange',
} as const;

export const command: CommandModule = {
  command: 'journal <action>',
  builder: (yargs) =>
    yargs
      .command({ ...inspectCommand, describe: 'Print the header and the counts of a journal' })
      .command(verifyCommand)
      .command(exportCommand)
      .command(backupCommand)
      .command(compactCommand)
      .command(pullCommand)
      .strict(),
  handler: () => undefined,
};

const verifyCommand: CommandModule<object, JournalArguments> = {
  command: 'verify <journal>',
  describe: 'Verify all checksums, hashes and snapshots',
  builder: (yargs) =>
    yargs
      .positional('journal', JOURNAL)
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 journal verify ./var', 'exit code 0 if all match, else 1'),
  handler: ({ journal, json }) => {
    const progress = startProgress('verify', json);
    let found: JournalVerification;
    try {
      found = endable(() =>
        verifyJournal(journal, {
          onProgress: (fraction) => {
            progress.update(fraction);
          },
        }),
      );
    } finally {
      progress.stop();
    }
    if (json) printJson(found);
    else printVerification(found);
    if (!found.isWhole) setExitCode(EXIT.failed);
  },
};

function printVerification(found: JournalVerification): void {
  const { afterSeq, lastSeq, torn, damage, mismatch, unproven } = found;
  print(
    `commands      ${String(lastSeq - afterSeq)}, from ${String(afterSeq + 1)} to ${String(lastSeq)}`,
  );
  print(`checkpoints   ${String(found.checkpoints)} agree`);
  print(`chain hashes  ${String(found.chainHashes)} agree`);
  for (const { name, verdict } of found.snapshots) print(`snapshot      ${name}: ${verdict}`);
  if (torn !== null) {
    print(
      `torn tail     ${countText(torn.bytes, 'byte')} at byte ${String(torn.offset)}: ${torn.reason}`,
    );
  }
  print(`chain hash    ${found.chainHash}`);
  print(`state hash    ${found.stateHash}`);
  if (damage !== null) print(`DAMAGED       ${damage}`);
  if (mismatch !== null) {
    print(`MISMATCH      ${mismatch.what} after command ${String(mismatch.seq)}`);
    print(`  journal     ${mismatch.expected}`);
    print(`  replay      ${mismatch.actual}`);
    const note = rulesNote(mismatch);
    if (note !== null) print(`  rules       ${note}`);
  }
  if (unproven !== null) {
    print(`NOT COMPARED  ${unprovenText(unproven)}`);
    print(`  advice      ${unprovenHint(unproven)}`);
  }
  print(found.isWhole ? 'all match' : 'NOT all match');
}

const exportCommand: CommandModule<object, ExportArguments> = {
  command: 'export <journal>',
  describe: 'Export as one journal file or as JSON lines',
  builder: (yargs) =>
    yargs
      .positional('journal', JOURNAL)
      .option('out', { type: 'string', describe: 'output file; default for --json: stdout' })
      .option('from', { type: 'number', default: 1, describe: 'first command; requires --json' })
      .option('to', { type: 'number', default: Infinity, describe: 'last command' })
      .option('json', { type: 'boolean', default: false, describe: 'one line of JSON per frame' })
      .example('$0 journal export ./var --out day.orrery', 'a copy without preallocated space')
      .example('$0 journal export ./var --out part.orrery --to 5000', 'its first 5,000 commands')
      .example('$0 journal export ./var --json --from 100 --to 120', 'print some commands'),
  handler: async ({ journal, out, from, to, json }) => {
    mustBeRange(from, to);
    if (out === undefined) {
      if (!json) throw new InputError('give --out for a file, or --json for stdout');
      for (const lines of jsonLines(openJournal(journal, to), { from, to })) {
        print(lines.trimEnd());
        await letInterrupt();
      }
      return;
    }
    if (from > 1 && !json) {
      throw new InputError('--from requires --json: a journal file starts with its first command');
    }
    const format = json ? 'jsonl' : 'plain';
    const progress = startProgress('export', json);
    let exported: Exported;
    try {
      exported = await exportJournal(journal, out, {
        ...{ format, from, to },
        onProgress: (fraction) => {
          stopIfInterrupted();
          progress.update(fraction);
        },
      });
    } finally {
      progress.stop();
    }
    if (json) return;
    const { commands, tornBytes } = exported;
    const bytes = statSync(out).size;
    print(`${out}: ${countText(commands, 'command')}, ${countText(bytes, 'byte')}`);
    if (tornBytes > 0) print(`left out: a torn tail of ${countText(tornBytes, 'byte')}`);
  },
};

interface BackupArguments {
  readonly folder: string;
  readonly out: string;
  readonly json: boolean;
}

const backupCommand: CommandModule<object, BackupArguments> = {
  command: 'backup <folder>',
  describe: 'Copy the folder of an exchange, also while it runs',
  builder: (yargs) =>
    yargs
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe: 'folder of a served exchange',
      })
      .option('out', { type: 'string', demandOption: true, describe: 'a new or empty folder' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 journal backup ./var --out ./backup', 'recovered from, as a test')
      .example('$0 serve --data-dir ./backup', 'the exchange, restored'),
  handler: async ({ folder, out, json }) => {
    const made = await backupFolder(folder, out, stopIfInterrupted);
    if (json) {
      printJson(made);
      return;
    }
    const { lastSeq, files, stateHash } = made;
    print(`${out}: ${countText(lastSeq, 'command')} in ${countText(files.length, 'file')}`);
    print(`state hash    ${stateHash}`);
  },
};

const compactCommand: CommandModule<object, CompactArguments> = {
  command: 'compact <folder>',
  describe: 'Delete segments that precede the oldest snapshot',
  builder: (yargs) =>
    yargs
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe: 'folder of an exchange that is not running',
      })
      .option('dry-run', {
        type: 'boolean',
        default: false,
        describe: 'print the segments without deleting them',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 journal export ./var --out history.orrery', 'first, keep a full copy')
      .example('$0 journal compact ./var --dry-run', 'list deletable segments'),
  handler: async ({ folder: path, 'dry-run': dryRun, json }) => {
    if (!existsSync(path)) throw noSuchFile(path);
    const folder = await DataFolder.open(path);
    try {
      const plan = endable(() => planCompaction(path));
      if (!dryRun) await compact(path, plan);
      if (json) {
        printJson({ ...plan, done: !dryRun });
        return;
      }
      const verb = dryRun ? 'would delete' : 'dropped';
      for (const { name, bytes } of plan.dropped) print(`${verb} ${name} (${String(bytes)} bytes)`);
      if (plan.dropped.length === 0) print('nothing to delete');
      print(`${plan.snapshot} and all commands after ${String(plan.snapshotSeq)} are kept`);
    } finally {
      await folder.unlock();
    }
  },
};
