import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { compact, planCompaction } from '../../journal-files/compact-journal.ts';
import { DataFolder } from '../../journal-files/data-folder.ts';
import { FileError } from '../../platform/file-error.ts';
import {
  openJournal,
  openWholeJournal,
  type FolderJournal,
} from '../../journal-files/folder-journal.ts';
import { plainJournal } from '../../journal-files/plain-journal.ts';
import { verifyJournal, type JournalVerification } from '../../journal-files/verify-journal.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import {
  EXIT,
  InputError,
  mustBeRange,
  print,
  printJson,
  setExitCode,
  startProgress,
  stopIfInterrupted,
} from '../cli-support.ts';
import { command as inspectCommand, frameText } from './inspect.ts';

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
const LINES_AT_ONCE = 4096;

export const command: CommandModule = {
  command: 'journal <action>',
  builder: (yargs) =>
    yargs
      .command({ ...inspectCommand, describe: 'Print the header and the counts of a journal' })
      .command(verifyCommand)
      .command(exportCommand)
      .command(compactCommand)
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
      found = verifyJournal(journal, {
        onProgress: (done, total) => {
          progress.update(done / total);
        },
        poll: stopIfInterrupted,
      });
    } finally {
      progress.stop();
    }
    if (json) printJson(found);
    else printVerification(found);
    if (!found.isWhole) setExitCode(EXIT.failed);
  },
};

function printVerification(found: JournalVerification): void {
  const { afterSeq, lastSeq, torn, damage, mismatch } = found;
  print(
    `commands      ${String(lastSeq - afterSeq)}, from ${String(afterSeq + 1)} to ${String(lastSeq)}`,
  );
  print(`checkpoints   ${String(found.checkpoints)} agree`);
  print(`chain hashes  ${String(found.chainHashes)} agree`);
  for (const { name, verdict } of found.snapshots) print(`snapshot      ${name}: ${verdict}`);
  if (torn !== null) {
    print(
      `torn tail     ${String(torn.bytes)} bytes at byte ${String(torn.offset)}: ${torn.reason}`,
    );
  }
  print(`chain hash    ${found.chainHash}`);
  print(`state hash    ${found.stateHash}`);
  if (damage !== null) print(`DAMAGED       ${damage}`);
  if (mismatch !== null) {
    print(`MISMATCH      ${mismatch.what} after command ${String(mismatch.seq)}`);
    print(`  journal     ${mismatch.expected}`);
    print(`  replay      ${mismatch.actual}`);
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
    const source = json ? openJournal(journal, to) : openWholeJournal(journal, to);
    if (out !== undefined) refuseOwnFolder(journal, out);
    if (json) {
      const lines = jsonLines(source, from, to);
      if (out === undefined) for (const line of lines) print(line.trimEnd());
      else await writeWholeFile(out, lines);
      return;
    }
    if (out === undefined) throw new InputError('give --out for a file, or --json for stdout');
    if (from > 1) {
      throw new InputError('--from requires --json: a journal file starts with its first command');
    }
    let commands = 0;
    const progress = startProgress('export');
    try {
      await writeWholeFile(
        out,
        plainJournal(source, to, (frame) => {
          if (frame.kind === 'command') commands += 1;
          if (commands % LINES_AT_ONCE > 0) return;
          stopIfInterrupted();
          progress.update(source.offset / source.size);
        }),
      );
    } finally {
      progress.stop();
    }
    const bytes = statSync(out).size;
    print(`${out}: ${String(commands)} commands, ${String(bytes)} bytes`);
    if (source.torn !== null) print(`omitted: a torn tail of ${String(source.torn.bytes)} bytes`);
  },
};

function* jsonLines(source: FolderJournal, from: number, to: number): Generator<string> {
  let lines: string[] = [];
  for (let frame = source.next(); frame !== null && frame.seq <= to; frame = source.next()) {
    if (frame.seq < from) continue;
    lines.push(`${frameText(frame)}\n`);
    if (lines.length < LINES_AT_ONCE) continue;
    stopIfInterrupted();
    yield lines.join('');
    lines = [];
  }
  if (lines.length > 0) yield lines.join('');
}

/** Refuses an output file in the segment folder, where it would be read as a segment. */
function refuseOwnFolder(journal: string, out: string): void {
  const folder = dirname(resolve(out));
  if (!existsSync(folder)) throw new FileError(`${folder}: no such file or folder`);
  if (realpathSync(folder) !== realpathSync(journal)) return;
  throw new InputError(`--out ${out}: is in the folder of the journal itself`);
}

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
    if (!existsSync(path)) throw new FileError(`${path}: no such file or folder`);
    const folder = await DataFolder.open(path);
    try {
      const plan = planCompaction(path);
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
