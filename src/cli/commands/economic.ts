import { dirname } from 'node:path';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import { must } from '../../base/assert.ts';
import { GAME_KINDS, type AnyPlan, type GameKind } from '../../fuzz/economic/game.ts';
import {
  CoalitionSearch,
  shortest,
  worthOf,
  type Find,
  type SearchOptions,
} from '../../fuzz/economic/search.ts';
import { money } from '../../gateway/encode.ts';
import { RecordedExchange } from '../../journal/replay/recorded-exchange.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { writeOutput } from '../../platform/whole-file.ts';
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
} from '../cli-support.ts';
import { isRemote, REMOTE_OPTIONS, type RemoteArguments } from '../campaigns/remote-options.ts';
import { MOST_WORKERS, SEARCH_OPTIONS } from '../fuzz/campaign-options.ts';
import { FuzzPool } from '../fuzz/pool.ts';

interface EconomicArguments extends RemoteArguments {
  readonly plans: number;
  readonly seed: string;
  readonly arena: GameKind | 'all';
  readonly journal: string | undefined;
  readonly workers: number;
  readonly json: boolean;
}

/** Arenas of a mixed search; most have three markets. */
const MIX: readonly GameKind[] = ['crisis', 'still', 'crisis', 'walk'];
const MOST_PLANS = 100_000_000;
/** Interval between checks for an interrupt. */
const POLL_MS = 100;

export const command: CommandModule<object, EconomicArguments> = {
  command: 'economic',
  builder: (yargs) =>
    yargs
      .option('plans', { type: 'number', default: 5000, describe: 'number of plans to try' })
      .option('seed', {
        type: 'string',
        default: '1',
        describe: 'seed; equal seeds give equal searches',
      })
      .option('arena', {
        choices: [...GAME_KINDS, 'all'] as const,
        default: 'all' as const,
        describe: 'still: constant index; walk: random walk; crisis: three markets; all: mixed',
      })
      .options(SEARCH_OPTIONS)
      .options(REMOTE_OPTIONS)
      .option('journal', {
        type: 'string',
        describe: 'write the best plan as a journal to this file',
      })
      .example('$0 economic --plans 20000', 'search for free money')
      .example('$0 economic --arena still --seed 7 --json', 'one arena, output as JSON')
      .example('$0 economic --pg postgres://db/campaigns --plans 1000000', 'on workers elsewhere')
      .epilogue(
        'Exit codes: 0 no profitable plan, 1 a profitable plan, 2 bad input, 130 interrupted.',
      ),
  handler: async (args) => {
    const { plans, seed, arena, workers, journal, json } = args;
    mustBeWhole('plans', plans, 1, MOST_PLANS);
    mustBeWhole('workers', workers, 1, MOST_WORKERS);
    const options = { seed, kinds: arena === 'all' ? MIX : [arena] };
    // Before the search, so that an unwritable path fails early.
    const remote = isRemote(args);
    if (journal !== undefined) await makeFolder(dirname(journal));
    if (remote) return searchElsewhere(args, options);
    const search = new CoalitionSearch(options, plans);
    await searchSideBySide(search, options, plans, workers, startProgress('plans', json));
    await report(args, search, seed);
  },
};

async function report(
  { json, journal }: EconomicArguments,
  search: CoalitionSearch,
  seed: string,
): Promise<void> {
  const best = must(search.best ?? undefined, 'a search tries at least one plan');
  const plan = shortest(best);
  const summary = describeFind(search, best, plan, seed);
  if (json) printJson(summary);
  else for (const line of summaryText(search, best, plan)) print(line);
  if (journal !== undefined) {
    await writeOutput(journal, journalOf(best, plan));
    if (!json) print(`written: ${journal}`);
  }
  if (search.found) setExitCode(EXIT.failed);
}

async function searchElsewhere(args: EconomicArguments, options: SearchOptions): Promise<void> {
  const { openRemoteWork } = await import('../campaigns/remote-work.ts');
  const { searchArenas } = await import('../../campaigns/economic-jobs.ts');
  const create = () => {
    const work = { kind: 'economic', options, plans: args.plans } as const;
    return { work, title: `economic ${options.seed}, ${countText(args.plans, 'plan')}` };
  };
  await openRemoteWork('economic', args, create, async ({ options: own, plans }, jobs) => {
    const search = new CoalitionSearch(own, plans);
    const progress = startProgress('plans', args.json);
    const onArena = (): void => {
      progress.update(search.plans / plans, countText(search.arenas, 'arena'));
    };
    const ports = { jobs, stopped: isInterrupted, onArena };
    const isOver = await searchArenas(search, own, plans, ports).finally(() => {
      progress.stop();
    });
    if (!isOver) throw new Interrupted('interrupted');
    await report(args, search, own.seed);
  });
}

/** Each worker takes the next arena. Returns immediately on an interrupt. */
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
      progress.update(search.plans / plans, countText(search.arenas, 'arena'));
    }
  };
  let poll: NodeJS.Timeout | undefined;
  const interrupt = new Promise<never>((_resolve, reject) => {
    poll = setInterval(() => {
      if (isInterrupted()) reject(new Interrupted('interrupted'));
    }, POLL_MS);
  });
  const all = Promise.all(Array.from({ length: workers }, work));
  // Workers interrupted by the user fail when their pool ends.
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
  plan: AnyPlan,
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
      moves: plan,
      text: best.arena.describe(plan),
      reasons: best.arena.explain(plan),
    },
    insurance: describeInsured(search.insured),
  };
}

/** Max payment of insurance to a coalition within its hourly limit. */
function describeInsured(insured: Find | null): Record<string, unknown> | null {
  if (insured === null) return null;
  const { arena, plan, worth, after } = insured;
  return { arena: arena.kind, arenaSeed: arena.seed, after, paidQuanta: worth, moves: plan };
}

function summaryText(search: CoalitionSearch, best: Find, plan: AnyPlan): string[] {
  const tried = `${countText(search.plans, 'plan')} in ${countText(search.arenas, 'arena')}`;
  const { insured } = search;
  const insurance =
    insured === null
      ? 'insurance paid no coalition'
      : `insurance paid a coalition at most ${money(insured.worth)} within its hourly limit (arena ${insured.arena.seed})`;
  if (!search.found) {
    const loss = best.worth < 0n ? [`the best plan loses ${money(-best.worth)}`] : [];
    return [`${tried}: no coalition gains at the expense of others`, ...loss, insurance];
  }
  const { arena } = best;
  return [
    `${tried}: a coalition gains ${money(worthOf(arena, plan))} at the expense of others`,
    ...arena.describe(plan).map((text, i) => `  ${String(i + 1)}. ${text}`),
    ...arena.explain(plan),
    insurance,
    `arena: ${arena.kind}, seed ${arena.seed}`,
  ];
}

/** The plan as a journal that replays. */
function journalOf({ arena }: Find, plan: AnyPlan): Uint8Array {
  const recorded = new RecordedExchange(arena.config);
  for (const command of arena.opening) recorded.submit(command);
  for (const command of arena.commandsOf(plan)) recorded.submit(command);
  return recorded.finish();
}
