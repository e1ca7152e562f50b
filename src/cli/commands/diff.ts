import type { CommandModule } from 'yargs';
import { lookAround, type Around } from '../../sim/diff/around.ts';
import type { NamedJournal } from '../../sim/diff/journal-cursor.ts';
import { diffJournals, type JournalDiff } from '../../sim/diff/journal-diff.ts';
import { JournalReader } from '../../sim/journal/frames.ts';
import { diffJson, diffText, type Sides } from '../diff-report.ts';
import {
  EXIT,
  InputError,
  Interrupted,
  isInterrupted,
  print,
  printJson,
  setExitCode,
  startProgress,
} from '../manners.ts';
import { readJournal } from '../read-file.ts';

interface DiffArguments {
  readonly a: string;
  readonly b: string;
  readonly context: number;
  readonly events: boolean;
  readonly json: boolean;
}

const MAX_CONTEXT = 1000;

export const command: CommandModule<object, DiffArguments> = {
  command: 'diff <a> <b>',
  builder: (yargs) =>
    yargs
      .positional('a', {
        type: 'string',
        demandOption: true,
        describe: 'journal file, or the folder of a run or of a served exchange',
      })
      .positional('b', { type: 'string', demandOption: true, describe: 'the other one' })
      .option('context', {
        type: 'number',
        default: 2,
        describe: 'commands shown before and after the place',
      })
      .option('events', {
        type: 'boolean',
        default: false,
        describe: 'only what happened counts: exit code 0 when every event is the same',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 diff reports/demo/journal.orrery other/journal.orrery', 'where two runs part')
      .example('$0 diff before after --events --json', 'whether a change changes what happens')
      .epilogue(
        'Both are replayed. Exit codes: 0 the same, 1 they differ, 2 bad input, 130 interrupted.',
      ),
  handler: async ({ a, b, context, events, json }) => {
    if (!Number.isSafeInteger(context) || context < 0 || context > MAX_CONTEXT) {
      throw new InputError(
        `--context must be a whole number from 0 to ${String(MAX_CONTEXT)}, got ${String(context)}`,
      );
    }
    const left = await journalAt(a);
    const right = await journalAt(b);
    const progress = startProgress('diff', json);
    try {
      const diff = await diffJournals(left, right, {
        onProgress: async (bytes) => {
          progress.update(bytes / (left.bytes + right.bytes));
          // A turn of the loop, in which an interrupt is heard.
          await new Promise(setImmediate);
        },
        cancelled: isInterrupted,
      });
      if (diff.cancelled) throw new Interrupted('interrupted');
      const around = aroundPlace(diff, left, right, context);
      progress.stop();
      const sides: Sides = { a, b, around };
      if (json) printJson(diffJson(diff, sides));
      else for (const line of diffText(diff, sides)) print(line);
      if (!(events ? happensTheSame(diff) : diff.same)) setExitCode(EXIT.failed);
    } finally {
      progress.stop();
    }
  },
};

function happensTheSame({ firstEvent, state, recorded }: JournalDiff): boolean {
  return firstEvent === null && state.length === 0 && recorded === null;
}

/** The states around the first event that differs, else around the first command. */
function aroundPlace(
  diff: JournalDiff,
  a: NamedJournal,
  b: NamedJournal,
  context: number,
): { readonly a: Around; readonly b: Around } | null {
  const { firstEvent, firstCommand } = diff;
  const place = firstEvent ?? firstCommand;
  if (place === null) return null;
  return {
    a: lookAround(a, place.a?.seq ?? Infinity, context),
    b: lookAround(b, place.b?.seq ?? Infinity, context),
  };
}

async function journalAt(path: string): Promise<NamedJournal & { readonly bytes: number }> {
  const bytes = await readJournal(path);
  return { name: path, bytes: bytes.length, open: () => new JournalReader(bytes) };
}
