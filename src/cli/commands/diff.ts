import type { CommandModule } from 'yargs';
import { lookAround, type Around } from '../../journal/diff/around.ts';
import type { NamedJournal } from '../../journal/diff/journal-cursor.ts';
import {
  diffJournals,
  type DiffOptions,
  type JournalDiff,
} from '../../journal/diff/journal-diff.ts';
import { openWholeJournal } from '../../journal-files/folder-journal.ts';
import { diffJson, diffText, type Sides } from '../diff-report.ts';
import {
  EXIT,
  Interrupted,
  isInterrupted,
  mustBeWhole,
  print,
  printJson,
  setExitCode,
  startProgress,
} from '../cli-support.ts';

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
        describe: 'first journal: file, or folder of a run or of a served exchange',
      })
      .positional('b', { type: 'string', demandOption: true, describe: 'second journal' })
      .option('context', {
        type: 'number',
        default: 2,
        describe: 'commands shown before and after the first difference',
      })
      .option('events', {
        type: 'boolean',
        default: false,
        describe: 'compare events only: exit code 0 if all events are equal',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example(
        '$0 diff reports/demo/journal.orrery other/journal.orrery',
        'find the first difference of two runs',
      )
      .example(
        '$0 diff before after --events --json',
        'check that a change of code preserves all events',
      )
      .epilogue(
        'Both journals are replayed. Exit codes: 0 equal, 1 different, 2 bad input, 130 interrupted.',
      ),
  handler: async ({ a, b, context, events, json }) => {
    mustBeWhole('context', context, 0, MAX_CONTEXT);
    const left = journalAt(a);
    const right = journalAt(b);
    const progress = startProgress('diff', json);
    const watch: DiffOptions = {
      onProgress: async (bytes) => {
        progress.update(Math.min(1, bytes / (left.bytes + right.bytes)));
        // Yields to the event loop, so that interrupts arrive.
        await new Promise(setImmediate);
      },
      cancelled: isInterrupted,
    };
    try {
      const diff = await diffJournals(left, right, watch);
      if (diff.cancelled) throw new Interrupted('interrupted');
      const around = await aroundPlace(diff, left, right, context, watch);
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

/** States around the first event that differs; without one, around the first such command. */
async function aroundPlace(
  diff: JournalDiff,
  a: NamedJournal,
  b: NamedJournal,
  context: number,
  watch: DiffOptions,
): Promise<{ readonly a: Around; readonly b: Around } | null> {
  const { firstEvent, firstCommand } = diff;
  const place = firstEvent ?? firstCommand;
  if (place === null) return null;
  const inA = await lookAround(a, place.a?.seq ?? Infinity, context, watch);
  const inB = inA && (await lookAround(b, place.b?.seq ?? Infinity, context, watch));
  if (inA === null || inB === null) throw new Interrupted('interrupted');
  return { a: inA, b: inB };
}

/** Reads segment by segment, because a journal may exceed memory. */
function journalAt(path: string): NamedJournal & { readonly bytes: number } {
  const { fileBytes } = openWholeJournal(path);
  return { name: path, bytes: fileBytes, open: () => openWholeJournal(path) };
}
