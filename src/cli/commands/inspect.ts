import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CommandModule } from 'yargs';
import type { JournalFrame } from '../../journal/format/frame.ts';
import {
  endable,
  InputError,
  letInterrupt,
  mustBeRange,
  mustBeWhole,
  print,
  printJson,
} from '../cli-support.ts';
import { describeFrame, frameText } from '../../journal-files/export-journal.ts';
import { FolderJournal } from '../../journal-files/folder-journal.ts';
import { NO_ABOUT } from '../../design/page-elements.ts';
import { maskJournal } from '../../time-machine/share/mask-journal.ts';
import { bytesInMemory } from '../../time-machine/source/journal-bytes.ts';
import { Timeline } from '../../time-machine/timeline.ts';
import {
  findJournal,
  framesOf,
  MOST_EMBEDDED,
  tooLargeForPage,
  type JournalFound,
} from '../time-machine/journal-source.ts';
import { writeTimeMachine } from '../../report/time-machine-page.ts';
import { recordedFailure } from '../time-machine/recorded-failure.ts';
import { openFile } from '../time-machine/open-file.ts';
import { mustNotBeInput } from '../own-input.ts';

interface InspectArguments {
  readonly journal: string;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly json: boolean;
  readonly open: boolean;
  readonly html: string | undefined;
  readonly seq: number | undefined;
  readonly mask: boolean;
}

export const command: CommandModule<object, InspectArguments> = {
  command: 'inspect <journal>',
  builder: (yargs) =>
    yargs
      .positional('journal', {
        type: 'string',
        demandOption: true,
        describe: 'journal file, scenario, or the folder of a run, a failure or a served exchange',
      })
      .option('from', { type: 'number', default: 1, describe: 'first sequence number' })
      .option('to', { type: 'number', default: Infinity, describe: 'last sequence number' })
      .option('limit', {
        type: 'number',
        default: 20,
        describe: 'max frames to print; 0 prints the header only',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .option('open', {
        type: 'boolean',
        default: false,
        describe: 'write the time machine as one HTML file, and open it',
      })
      .option('html', { type: 'string', describe: 'write the time machine to this file' })
      .option('seq', { type: 'number', describe: 'command that the time machine shows first' })
      .option('mask', {
        type: 'boolean',
        default: false,
        describe: 'replace accounts, ids and keys in the time machine',
      })
      .example('$0 inspect reports/demo/journal.orrery --from 100 --limit 5', 'print five commands')
      .example('$0 inspect run.orrery --limit 0 --json', 'print header and counts')
      .example('$0 inspect reports/demo --open', 'open the time machine in the browser')
      .example('$0 inspect scenarios/cascade.yaml --html cascade.html --mask', 'a file to share'),
  handler: async ({ journal, from, to, limit, json, ...machine }) => {
    if (machine.open || machine.html !== undefined) {
      await writeMachine(journal, machine, json);
      return;
    }
    if (machine.mask || machine.seq !== undefined) {
      throw new InputError(
        '--mask and --seq are for the time machine: add --open or --html <file>',
      );
    }
    mustBeRange(from, to);
    mustBeWhole('limit', limit === Infinity ? undefined : limit, 0);
    const reader = await framesOf(journal);
    const afterSeq = reader instanceof FolderJournal ? reader.fromSeq : 0;
    const counts = new Map<string, number>();
    const shown: JournalFrame[] = [];
    endable(() => {
      for (let frame = reader.next(); frame !== null; frame = reader.next()) {
        const kind = frame.kind === 'command' ? frame.command.kind : frame.kind;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        if (frame.seq >= from && frame.seq <= to && shown.length < limit) shown.push(frame);
      }
    });
    const header = {
      formatVersion: reader.header.formatVersion,
      semanticsVersion: reader.header.semanticsVersion,
      configHash: reader.header.configHash,
      config: reader.header.config,
      afterSeq,
      bytes: reader.size,
      complete: reader.ended,
      torn: reader.torn,
      counts: Object.fromEntries(counts),
    };
    if (json) {
      printJson({ ...header, frames: shown.map(describeFrame) });
      return;
    }
    print(
      `format ${String(header.formatVersion)}, semantics ${String(header.semanticsVersion)}, config ${header.configHash}`,
    );
    print(
      `${String(reader.size)} bytes, ${header.complete ? 'complete' : 'not closed'}` +
        (header.torn === null ? '' : `, torn at byte ${String(header.torn.offset)}`),
    );
    if (afterSeq > 0) print(`continues from command ${String(afterSeq)}`);
    for (const [kind, count] of counts) print(`${String(count).padStart(10)} ${kind}`);
    for (const frame of shown) {
      print(`${String(frame.seq).padStart(10)} ${cut(frameText(frame))}`);
    }
  },
};

/** A recorded snapshot of a book has tens of thousands of characters. */
const MOST_TEXT = 2000;

const cut = (text: string): string =>
  text.length <= MOST_TEXT
    ? text
    : `${text.slice(0, MOST_TEXT)}… of ${String(text.length)} characters; --json prints all`;

type MachineOptions = Pick<InspectArguments, 'open' | 'html' | 'seq' | 'mask'>;

async function writeMachine(
  path: string,
  { open, html, seq, mask }: MachineOptions,
  json: boolean,
): Promise<void> {
  mustBeWhole('seq', seq, 0);
  mustNotBeInput('html', html, [path]);
  const large = tooLargeForPage(path);
  if (large !== null) {
    if (mask || seq !== undefined) {
      throw new InputError(`--mask and --seq need a journal of at most ${LIMIT}`);
    }
    await writeEmptyMachine(large, { open, html }, json);
    return;
  }
  const { name, torn, ...found } = await findJournal(path);
  const shown = endable(() => {
    // Refuses what the page could not open.
    const timeline = Timeline.open({ parts: [bytesInMemory(found.journal)], base: found.base });
    if (seq !== undefined) timeline.seek(seq);
    return mask ? masked(found) : found;
  });
  const file = resolve(html ?? join(tmpdir(), `orrery-${name.replaceAll(/[^\w.-]+/g, '-')}.html`));
  // The name of a file may name its owner.
  const about = {
    ...NO_ABOUT,
    name: mask ? 'masked' : name,
    seq: seq ?? null,
    masked: mask,
    failure: await recordedFailure(path, shown.journal),
  };
  await letInterrupt();
  await writeTimeMachine(file, { about, ...shown });
  const address = pathToFileURL(file).href;
  const opened = open && (await openFile(file));
  if (json) printJson({ file, address, opened, torn });
  else {
    print(`time machine  ${file}`);
    if (torn !== null) {
      print(
        `note          the journal ends in an incomplete record at byte ${String(torn.offset)}; its last command is ${String(torn.afterSeq)}`,
      );
    }
    if (open && !opened) print(`open          ${address}`);
  }
}

const LIMIT = `${String(MOST_EMBEDDED >> 20)} MiB`;

/** A page that reads the files itself when they are dropped on it. */
async function writeEmptyMachine(
  files: readonly string[],
  { open, html }: Pick<MachineOptions, 'open' | 'html'>,
  json: boolean,
): Promise<void> {
  const file = resolve(html ?? join(tmpdir(), 'orrery-time-machine.html'));
  await writeTimeMachine(file, { about: NO_ABOUT, journal: new Uint8Array(), base: null });
  const address = pathToFileURL(file).href;
  const opened = open && (await openFile(file));
  if (json) {
    printJson({ file, address, opened, drop: files });
    return;
  }
  print(`time machine  ${file}`);
  print(`note          the journal has more than ${LIMIT}, so the page reads its files itself:`);
  for (const one of files) print(`drop          ${resolve(one)}`);
  if (open && !opened) print(`open          ${address}`);
}

/** The same run with other accounts, ids and keys. */
function masked({ journal, base }: Pick<JournalFound, 'journal' | 'base'>) {
  if (base !== null) {
    throw new InputError('--mask needs a journal with its first command; this one was compacted');
  }
  return { journal: maskJournal([bytesInMemory(journal)]).bytes, base };
}
