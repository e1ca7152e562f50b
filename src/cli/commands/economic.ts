import { dirname } from 'node:path';
import type { CommandModule } from 'yargs';
import { must } from '../../base/assert.ts';
import { ARENA_KINDS, type ArenaKind } from '../../fuzz/economic/arena.ts';
import { describePlan, type Plan } from '../../fuzz/economic/plan.ts';
import { play } from '../../fuzz/economic/play.ts';
import {
  CoalitionSearch,
  shortest,
  worthOf,
  type Find,
  type SearchOptions,
} from '../../fuzz/economic/search.ts';
import { money } from '../../gateway/encode.ts';
import { RecordedExchange } from '../../sim/recorded-exchange.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { writeWholeFile } from '../../store/whole-file.ts';
import {
  EXIT,
  Interrupted,
  isInterrupted,
  mustBeWhole,
  print,
  printJson,
  setExitCode,
  startProgress,
  type Progress,
} from '../manners.ts';
import { MOST_WORKERS, SEARCH_OPTIONS } from '../fuzz/options.ts';
import { FuzzPool } from '../fuzz/pool.ts';

interface EconomicArguments {
  readonly plans: number;
  readonly seed: string;
  readonly arena: ArenaKind | 'both';
  readonly journal: string | undefined;
  readonly workers: number;
  readonly json: boolean;
}

const MOST_PLANS = 100_000_000;
/** Between two looks at the keyboard. */
const POLL_MS = 100;

export const command: CommandModule<object, EconomicArguments> = {
  command: 'economic',
  builder: (yargs) =>
    yargs
      .option('plans', { type: 'number', default: 5000, describe: 'plans to try' })
      .option('seed', { type: 'string', default: '1', describe: 'the same seed searches the same' })
      .option('arena', {
        choices: [...ARENA_KINDS, 'both'] as const,
        default: 'both' as const,
        describe: 'an index that stands still, one that jumps up or down alike, or both in turn',
      })
      .options(SEARCH_OPTIONS)
      .option('journal', { type: 'string', describe: 'write the best plan there as a journal' })
      .example('$0 economic --plans 20000', 'look for money for free')
      .example('$0 economic --arena still --seed 7 --json', 'one arena, for a program')
      .epilogue(
        'Exit codes: 0 nothing is to be had for free, 1 a plan gains, 2 bad input, 130 interrupted.',
      ),
  handler: async ({ plans, seed, arena, workers, journal, json }) => {
    mustBeWhole('plans', plans, 1, MOST_PLANS);
    mustBeWhole('workers', workers, 1, MOST_WORKERS);
    const kinds = arena === 'both' ? ARENA_KINDS : [arena];
    const options = { seed, kinds };
    // Before the search: what cannot be written is no find.
    if (journal !== undefined) await makeFolder(dirname(journal));
    const search = new CoalitionSearch(options, plans);
    await searchSideBySide(search, options, plans, workers, startProgress('plans', json));
    const best = must(search.best ?? undefined, 'a search tries a plan at least');
    const plan = shortest(best);
    const summary = describeFind(search, best, plan, seed);
    if (json) printJson(summary);
    else for (const line of summaryText(search, best, plan)) print(line);
    if (journal !== undefined) {
      await writeWholeFile(journal, journalOf(best, plan));
      if (!json) print(`written: ${journal}`);
    }
    if (search.found) setExitCode(EXIT.failed);
  },
};

/** Each worker takes the next arena. Ends at once when it is interrupted. */
async function searchSideBySide(
  search: CoalitionSearch,
  options: SearchOptions,
  plans: number,
  workers: number,
  progress: Progress,
): Promise<void> {
  const pool = new FuzzPool(workers);
  let next = 0;
  const work = async (): Promise<void> => {
    while (!search.isOver) {
      const arena = next;
      next += 1;
      search.add(await pool.searchArena(options, arena, plans));
      progress.update(search.plans / plans, `${String(search.arenas)} arenas`);
    }
  };
  let poll: NodeJS.Timeout | undefined;
  const interrupt = new Promise<never>((_resolve, reject) => {
    poll = setInterval(() => {
      if (isInterrupted()) reject(new Interrupted('interrupted'));
    }, POLL_MS);
  });
  const all = Promise.all(Array.from({ length: workers }, work));
  // What an interrupt leaves behind fails when its pool ends.
  all.catch(() => undefined);
  try {
    await Promise.race([all, interrupt]);
  } finally {
    clearInterval(poll);
    progress.stop();
    await pool.close();
  }
}

function describeFind(
  search: CoalitionSearch,
  best: Find,
  plan: Plan,
  seed: string,
): Record<string, unknown> {
  return {
    found: search.found,
    plans: search.plans,
    arenas: search.arenas,
    seed,
    best: {
      arena: best.arena.kind,
      arenaSeed: best.arena.seed,
      after: best.after,
      worthQuanta: worthOf(best.arena, plan),
      paths: best.arena.paths.length,
      moves: plan,
      words: describePlan(plan),
    },
  };
}

function summaryText(search: CoalitionSearch, best: Find, plan: Plan): string[] {
  const tried = `${String(search.plans)} plans in ${String(search.arenas)} arenas`;
  if (!search.found) {
    return [
      `${tried}: nothing is to be had for free`,
      best.worth === 0n
        ? 'the best plan is to do nothing, or what costs nothing'
        : `the best plan loses ${money(-best.worth)}`,
    ];
  }
  const { arena } = best;
  return [
    `${tried}: a coalition gains ${money(worthOf(arena, plan))} for free, with an index that ${arena.kind === 'still' ? 'stands still' : 'jumps up or down alike (sum over all ways it may go)'}`,
    ...describePlan(plan).map((words, i) => `  ${String(i + 1)}. ${words}`),
    `again: the arena ${arena.kind} of seed ${arena.seed}`,
  ];
}

/** The plan on the first path of its arena, as commands that replay. */
function journalOf({ arena }: Find, plan: Plan): Uint8Array {
  const recorded = new RecordedExchange(arena.config);
  for (const command of arena.opening) recorded.submit(command);
  play(arena, plan, arena.paths[0] ?? [], (command) => {
    recorded.submit(command);
  });
  return recorded.finish();
}
