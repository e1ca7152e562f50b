import type { CommandModule } from 'yargs';
import type { JournalFrame } from '../../journal/format/frame.ts';
import { mustBeRange, mustBeWhole, print, printJson } from '../cli-support.ts';
import { describeFrame, frameText } from '../../journal-files/export-journal.ts';
import { openJournal } from '../../journal-files/folder-journal.ts';

interface InspectArguments {
  readonly journal: string;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly json: boolean;
}

export const command: CommandModule<object, InspectArguments> = {
  command: 'inspect <journal>',
  builder: (yargs) =>
    yargs
      .positional('journal', {
        type: 'string',
        demandOption: true,
        describe: 'journal file, or the folder of a served exchange',
      })
      .option('from', { type: 'number', default: 1, describe: 'first sequence number' })
      .option('to', { type: 'number', default: Infinity, describe: 'last sequence number' })
      .option('limit', {
        type: 'number',
        default: 20,
        describe: 'max frames to print; 0 prints the header only',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 inspect reports/demo/journal.orrery --from 100 --limit 5', 'print five commands')
      .example('$0 inspect run.orrery --limit 0 --json', 'print header and counts'),
  handler: ({ journal, from, to, limit, json }) => {
    mustBeRange(from, to);
    mustBeWhole('limit', limit === Infinity ? undefined : limit, 0);
    const reader = openJournal(journal);
    const counts = new Map<string, number>();
    const shown: JournalFrame[] = [];
    for (let frame = reader.next(); frame !== null; frame = reader.next()) {
      const kind = frame.kind === 'command' ? frame.command.kind : frame.kind;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      if (frame.seq >= from && frame.seq <= to && shown.length < limit) shown.push(frame);
    }
    const header = {
      formatVersion: reader.header.formatVersion,
      semanticsVersion: reader.header.semanticsVersion,
      configHash: reader.header.configHash,
      config: reader.header.config,
      afterSeq: reader.fromSeq,
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
    if (reader.fromSeq > 0) print(`continues from command ${String(reader.fromSeq)}`);
    for (const [kind, count] of counts) print(`${String(count).padStart(10)} ${kind}`);
    for (const frame of shown) {
      print(`${String(frame.seq).padStart(10)} ${frameText(frame)}`);
    }
  },
};
