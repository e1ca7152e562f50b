/** `orrery exhaust`: every sequence of operations of a small world, up to a depth. */
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import { COVERED_STATE_NAMES, COVERED_STATES } from '../../fuzz/coverage.ts';
import { exhaustReport, namesOf } from '../../fuzz/exhaust/exhaust-failure.ts';
import type { ExhaustFailure, ExhaustPlan } from '../../fuzz/exhaust/expand.ts';
import { newSearch, searchIdentity } from '../../fuzz/exhaust/new-search.ts';
import type { Search } from '../../fuzz/exhaust/search.ts';
import { operationsOf, WORLD_NAMES, type WorldName } from '../../fuzz/exhaust/worlds.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import {
  endCheckpoint,
  loadCheckpoint,
  mustNotReplace,
  saveCheckpoint,
} from '../exhaust/checkpoint-file.ts';
import { levelTable } from '../exhaust/level-table.ts';
import { noteOf, runSearch } from '../exhaust/run-search.ts';
import { isRemote, REMOTE_OPTIONS, type RemoteArguments } from '../campaigns/remote-options.ts';
import { MOST_WORKERS, SEARCH_OPTIONS } from '../fuzz/campaign-options.ts';
import { lockCampaign } from '../fuzz/lock-campaign.ts';
import {
  EXIT,
  InputError,
  Interrupted,
  isInterrupted,
  mustBeWhole,
  print,
  printJson,
  setExitCode,
  startProgress,
} from '../cli-support.ts';

interface ExhaustArguments extends RemoteArguments {
  readonly world: WorldName | undefined;
  readonly depth: number | undefined;
  readonly 'oracle-depth': number | undefined;
  readonly sample: number | undefined;
  readonly seconds: number | undefined;
  readonly workers: number;
  readonly resume: boolean | undefined;
  readonly out: string;
  readonly json: boolean;
}

const DEFAULTS = { world: 'small', depth: 6, oracleDepth: 4, sample: 0.001 } as const;
const MOST_DEPTH = 12;
const MOST_SECONDS = 7 * 86_400;
const MILLION = 1_000_000;

export const command: CommandModule<object, ExhaustArguments> = {
  command: 'exhaust',
  builder: (yargs) =>
    yargs
      .option('world', {
        choices: WORLD_NAMES,
        describe: `operations to combine [${DEFAULTS.world}]`,
      })
      .option('depth', {
        type: 'number',
        describe: `operations of the longest sequences [${String(DEFAULTS.depth)}]`,
      })
      .option('oracle-depth', {
        type: 'number',
        describe: `depth to which every edge is compared with the oracle [${String(DEFAULTS.oracleDepth)}]`,
      })
      .option('sample', {
        type: 'number',
        describe: `share of the deeper states whose edges are compared too, from 0 to 1 [${String(DEFAULTS.sample)}]`,
      })
      .option('seconds', {
        type: 'number',
        describe: 'duration in seconds; --resume continues',
      })
      .options(SEARCH_OPTIONS)
      .option('resume', { type: 'boolean', describe: 'resume the search in --out' })
      .option('out', {
        type: 'string',
        default: join('reports', 'exhaust'),
        describe: 'folder of the checkpoint and the failure',
      })
      .options(REMOTE_OPTIONS)
      .conflicts('resume', ['world', 'depth', 'oracle-depth', 'sample'])
      .conflicts('pg', ['resume', 'seconds'])
      .conflicts('attach', ['world', 'depth', 'oracle-depth', 'sample'])
      .example('$0 exhaust --depth 4', 'every sequence of at most four operations')
      .example('$0 exhaust --world risk --seconds 600', 'ten minutes of it')
      .example('$0 exhaust --resume', 'continue')
      .example('$0 exhaust --pg postgres://db/campaigns --depth 7', 'on workers elsewhere'),
  handler: async (options) => {
    mustBeWhole('depth', options.depth, 1, MOST_DEPTH);
    mustBeWhole('oracle-depth', options['oracle-depth'], 0, MOST_DEPTH);
    mustBeWhole('workers', options.workers, 1, MOST_WORKERS);
    mustBeWithin('sample', options.sample, 0, 1);
    mustBeWithin('seconds', options.seconds, 0, MOST_SECONDS);
    await (isRemote(options) ? exhaustElsewhere(options) : exhaust(options));
  },
};

function mustBeWithin(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (value >= min && value <= max)) return;
  const limit = `a number from ${String(min)} to ${String(max)}`;
  throw new InputError(`--${name} must be ${limit}, got ${String(value)}`, { field: name, limit });
}

function planOf(options: ExhaustArguments): ExhaustPlan {
  return {
    world: options.world ?? DEFAULTS.world,
    depth: options.depth ?? DEFAULTS.depth,
    oracleDepth: options['oracle-depth'] ?? DEFAULTS.oracleDepth,
    samplePpm: Math.round((options.sample ?? DEFAULTS.sample) * MILLION),
    digest: false,
  };
}

async function exhaust(options: ExhaustArguments): Promise<void> {
  const { out, json, workers } = options;
  if (options.resume !== true) await makeFolder(out);
  lockCampaign(out, 'search');
  if (options.resume !== true) await mustNotReplace(out, searchIdentity);
  const { search, seconds: before } =
    options.resume === true
      ? await loadCheckpoint(out, searchIdentity)
      : { search: newSearch(planOf(options)), seconds: 0 };
  const { identity } = searchIdentity(search.plan);
  const started = performance.now();
  const elapsed = (): number => before + (performance.now() - started) / 1000;
  const save = (): Promise<void> => saveCheckpoint(out, search, identity, elapsed());
  // If this search is killed at once, `--resume` must not continue the one before.
  if (options.resume !== true) await save();
  printPlan(options, search);
  if (!json && options.resume === true)
    print(`resumed     after ${countText(search.edges, 'edge')}`);
  const progress = startProgress('exhaust', json);
  try {
    const limits = { workers, seconds: options.seconds ?? Infinity };
    await runSearch(search, limits, { progress, save });
  } finally {
    progress.stop();
  }
  const seconds = elapsed();
  await (search.failure === null ? save() : endCheckpoint(out));
  await report(options, search, seconds);
}

/** On workers elsewhere. The files do not depend on them, nor on the time they took. */
async function exhaustElsewhere(options: ExhaustArguments): Promise<void> {
  const { openRemoteWork } = await import('../campaigns/remote-work.ts');
  const { expandAll } = await import('../../campaigns/exhaust-jobs.ts');
  const create = () => {
    const plan = planOf(options);
    const work = { kind: 'exhaust', plan } as const;
    return { work, title: `exhaust ${plan.world}, depth ${String(plan.depth)}` };
  };
  await openRemoteWork('exhaust', options, create, async ({ plan }, jobs) => {
    const { out, json } = options;
    await makeFolder(out);
    lockCampaign(out, 'search');
    await mustNotReplace(out, searchIdentity);
    const search = newSearch(plan);
    printPlan(options, search);
    const progress = startProgress('exhaust', json);
    const onJob = (): void => {
      progress.update(search.fraction, noteOf(search));
    };
    await expandAll(search, { jobs, stopped: isInterrupted, onJob }).finally(() => {
      progress.stop();
    });
    if (search.failure === null && !isInterrupted()) {
      await saveCheckpoint(out, search, searchIdentity(plan).identity, 0);
    }
    await report(options, search, 0);
  });
}

function printPlan({ json }: ExhaustArguments, { plan }: Search): void {
  if (json) return;
  const { length } = operationsOf(plan.world);
  print(`world       ${plan.world}, ${String(length)} operations, depth ${String(plan.depth)}`);
}

async function report(options: ExhaustArguments, search: Search, seconds: number): Promise<void> {
  const { json, workers } = options;
  const { plan, failure } = search;
  const written = failure === null ? null : await writeFailure(options, plan, failure);
  if (json) printJson({ ...summaryOf(search, seconds), workers, written });
  else printSummary(search, seconds, written);
  if (failure !== null) setExitCode(EXIT.failed);
  if (isInterrupted()) throw new Interrupted('interrupted');
}

/** Returns the folder. */
async function writeFailure(
  { out }: ExhaustArguments,
  plan: ExhaustPlan,
  failure: ExhaustFailure,
): Promise<string> {
  const origin = [
    `orrery exhaust --world ${plan.world} --depth ${String(failure.path.length)} --oracle-depth ${String(plan.oracleDepth)} --sample ${String(plan.samplePpm / MILLION)}`,
  ];
  const { files } = exhaustReport(plan.world, failure, { keccak, origin });
  const name = `${failure.violation.invariant}-${plan.world}`.replaceAll(/[^\w.-]+/g, '-');
  const folder = join(out, name);
  await makeFolder(folder);
  for (const [file, content] of Object.entries(files)) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    await writeWholeFile(join(folder, file), bytes);
  }
  return folder;
}

function summaryOf(search: Search, seconds: number): Record<string, unknown> {
  const { plan, rows, failure } = search;
  return {
    ...plan,
    complete: search.isComplete,
    interrupted: isInterrupted(),
    levels: rows,
    states: search.states,
    edges: search.edges,
    seconds: Math.round(seconds * 10) / 10,
    operations: operationsOf(plan.world).map((name, i) => ({
      name,
      accepted: search.accepted[i],
      refused: search.refused[i],
    })),
    statesNeverReached: neverReached(search),
    failure:
      failure === null
        ? null
        : { violation: failure.violation, operations: namesOf(plan.world, failure.path) },
  };
}

const neverReached = (search: Search): readonly (keyof typeof COVERED_STATES)[] =>
  COVERED_STATE_NAMES.filter((name) => !search.reached.has(`sometimes ${name}`));

function printSummary(search: Search, seconds: number, written: string | null): void {
  const { plan, failure } = search;
  print(levelTable(search.rows));
  const never = neverReached(search);
  const reached = COVERED_STATE_NAMES.length - never.length;
  print(
    `total       ${search.states.toLocaleString('en')} states, ${search.edges.toLocaleString('en')} edges in ${seconds.toFixed(1)} s`,
  );
  print(
    `states      ${String(reached)} of ${String(COVERED_STATE_NAMES.length)} reached by checked edges`,
  );
  for (const name of never)
    print(`  never     ${name}: ${COVERED_STATES[name][1]} (${COVERED_STATES[name][0]})`);
  for (const [i, name] of operationsOf(plan.world).entries()) {
    if (search.accepted[i] === 0) print(`  never     ${name} is accepted`);
  }
  if (failure !== null) {
    const { violation } = failure;
    print(`VIOLATED    ${violation.invariant} (${violation.rule})`);
    print(`  must be   ${violation.says}`);
    print(`  found     ${violation.detail}`);
    print(`  after     ${namesOf(plan.world, failure.path).join(', ')}`);
    print(`  written   ${String(written)}`);
  } else if (search.isComplete) print('no check fails on any edge that was checked');
  else print(`stopped at depth ${String(search.depth)}; --resume continues`);
}
