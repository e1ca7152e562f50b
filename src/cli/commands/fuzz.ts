/**
 * `orrery fuzz`: runs random commands on all cores, checks invariants (and the oracle) and shrinks
 * failures. Runs are numbered; a run does not depend on the number of workers.
 */
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import { checksOfRun, profileOf, runBatch, type CampaignPlan } from '../../fuzz/campaign.ts';
import { checkCommands, commandsOf } from '../../fuzz/check-journal.ts';
import type { Violation } from '../../fuzz/checker.ts';
import { CHECK_NAMES, type CheckName } from '../../fuzz/checks/checks.ts';
import { describeProfile, PROFILE_NAMES } from '../../fuzz/profile.ts';
import type { Failure } from '../../fuzz/fuzz-run.ts';
import { CampaignState } from '../fuzz/campaign-state.ts';
import {
  againText,
  earlierFindings,
  noteFailure,
  printPlan,
  reportCampaign,
  shrinkAndWrite,
  shrinkingOf,
  type FuzzArguments,
  type Written,
} from '../fuzz/campaign-report.ts';
import { writeCiReports, type Finding } from '../fuzz/ci-report.ts';
import { optimizeLate } from '../../platform/late-optimizing.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { reportFailure } from '../fuzz/failure-folder.ts';
import { driveTarget, type TargetResult } from '../fuzz/drive-target.ts';
import { repeatAtTarget, reportTarget } from '../fuzz/target-failure.ts';
import { MOST_WORKERS, SEARCH_OPTIONS } from '../fuzz/campaign-options.ts';
import { bundleStates } from '../fuzz/own-states.ts';
import { FuzzPool } from '../fuzz/pool.ts';
import { runCampaign } from '../fuzz/run-campaign.ts';
import { RunLog } from '../fuzz/run-log.ts';
import { lockCampaign } from '../fuzz/lock-campaign.ts';
import { mustNotBeInput } from '../own-input.ts';
import { isRemote, REMOTE_OPTIONS } from '../campaigns/remote-options.ts';
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
import { JournalError } from '../../journal/format/journal-error.ts';
import { readJournal } from '../read-file.ts';
import { shellWord } from '../../platform/shell-word.ts';

const DEFAULT_SECONDS = 60;
const MOST_SECONDS = 7 * 86_400;
const SHRINK_SECONDS = 60;
const MOST_RUNS = 1_000_000_000;
/** Max commands of one run, which is kept in memory. */
const MOST_COMMANDS = 10_000_000;
/** Full state scans every this many commands; shrinking finds the exact command of a failure. */
const EVERY = 64;

export const command: CommandModule<object, FuzzArguments> = {
  command: 'fuzz',
  builder: (yargs) =>
    yargs
      .option('seconds', {
        type: 'number',
        describe: `duration in seconds [${String(DEFAULT_SECONDS)}]`,
      })
      .option('runs', { type: 'number', describe: 'number of runs, instead of --seconds' })
      .option('run', {
        type: 'number',
        describe: 'repeat only the run of this number and print its profile',
      })
      .option('seed', {
        type: 'string',
        describe: 'seed of the campaign; default: ORRERY_SEED, else from the clock',
      })
      .options(SEARCH_OPTIONS)
      .option('profile', {
        choices: [...PROFILE_NAMES, 'all'] as const,
        describe: 'workload profile; `all` rotates through them [all]',
      })
      .option('commands', { type: 'number', describe: 'commands per run; default: random' })
      .option('oracle', {
        type: 'boolean',
        describe:
          'compare runs with the oracle after each command [true]; --no-oracle for longer runs',
      })
      .option('shrink', {
        type: 'boolean',
        default: true,
        describe: 'shrink a failure; --no-shrink only writes it',
      })
      .option('shrink-seconds', {
        type: 'number',
        default: SHRINK_SECONDS,
        describe: 'max seconds of shrinking one failure; the best result so far is kept',
      })
      .option('keep-going', {
        type: 'boolean',
        default: false,
        describe: 'continue after failures',
      })
      .option('resume', {
        type: 'boolean',
        describe: 'resume the campaign in --out',
      })
      .option('verbose', {
        type: 'boolean',
        default: false,
        describe: 'print the options of each run before it starts (always in runs.log of --out)',
      })
      .option('journal', {
        type: 'string',
        describe: 'run all checks on this journal instead, and shrink a failure',
      })
      .option('target', {
        type: 'string',
        describe: 'compare the host at this URL with a twin in this process',
      })
      .option('repeat', {
        type: 'string',
        describe: 'with --target: repeat the requests of the folder of such a failure',
      })
      .option('host-command', {
        type: 'string',
        describe: 'with --target: command of the build that the host runs, to shrink with',
      })
      .option('sim-token', { type: 'string', describe: 'token of the host for /sim/*' })
      .option('config', {
        type: 'string',
        describe: 'configuration file of the host, for --target',
      })
      .option('states', {
        type: 'string',
        describe: 'file that exports `states` of your own, which the coverage counts',
      })
      .option('out', {
        type: 'string',
        default: join('reports', 'fuzz'),
        describe: 'folder of the campaign and its failures',
      })
      .option('junit', {
        type: 'string',
        describe: 'also write the result to this file as JUnit XML',
      })
      .option('sarif', {
        type: 'string',
        describe: 'also write the failures to this file as SARIF',
      })
      .options(REMOTE_OPTIONS)
      .conflicts('seconds', 'runs')
      .conflicts('resume', ['seed', 'profile', 'commands', 'oracle', 'states'])
      .conflicts('states', ['run', 'journal', 'target', 'pg'])
      .conflicts('pg', ['seconds', 'run', 'resume', 'journal', 'target'])
      .conflicts('run', ['runs', 'seconds', 'resume'])
      .conflicts('journal', ['runs', 'run', 'seconds', 'resume'])
      .conflicts('target', ['runs', 'run', 'resume', 'journal'])
      .implies('target', 'sim-token')
      .implies('repeat', 'target')
      .implies('host-command', 'target')
      .implies('config', 'target')
      .implies('sim-token', 'target')
      .example('$0 fuzz --seconds 30', 'half a minute on all cores')
      .example('$0 fuzz --seed ci --runs 200', 'reproducible runs')
      .example('$0 fuzz --seconds 5 --verbose', 'print the options of each run')
      .example('$0 fuzz --seed ci --run 17', 'repeat one of these runs')
      .example(
        '$0 fuzz --pg postgres://db/campaigns --seed ci --runs 100000',
        'on workers elsewhere',
      )
      .example('$0 fuzz --profile stress --seconds 5', 'liquidations')
      .example('$0 fuzz --no-oracle', 'invariants only, in longer runs')
      .example('$0 fuzz --journal var/journal.orrery', 'check a recorded journal')
      .example(
        '$0 fuzz --target http://127.0.0.1:8080 --sim-token dev',
        'a fresh host, started with --clock virtual --trust-signatures',
      ),
  handler: async (options) => {
    mustBeWhole('runs', options.runs, 1, MOST_RUNS);
    mustBeWhole('run', options.run, 0, MOST_RUNS);
    mustBeWhole('workers', options.workers, 1, MOST_WORKERS);
    mustBeWhole('commands', options.commands, 1, MOST_COMMANDS);
    const { seconds } = options;
    if (seconds !== undefined && !(seconds > 0 && seconds <= MOST_SECONDS)) {
      throw new InputError(
        `--seconds must be above 0 and at most ${String(MOST_SECONDS)} (a week; continue with --resume), got ${String(seconds)}`,
      );
    }
    const shrinking = options['shrink-seconds'];
    if (!(shrinking > 0 && shrinking <= MOST_SECONDS)) {
      throw new InputError(
        `--shrink-seconds must be above 0 and at most ${String(MOST_SECONDS)}, got ${String(shrinking)}`,
      );
    }
    for (const name of ['junit', 'sarif'] as const) {
      mustNotBeInput(name, options[name], [options.journal, options.config, options.states]);
    }
    const remote = isRemote(options);
    optimizeLate();
    if (options.journal !== undefined) return checkOne(options, options.journal);
    if (options.target !== undefined) return driveOne(options, options.target);
    if (remote) {
      const { remoteFuzz } = await import('../campaigns/remote-fuzz.ts');
      return remoteFuzz(options, planOf(options));
    }
    return options.run === undefined ? campaign(options) : repeatRun(options, options.run);
  },
};

function planOf(options: FuzzArguments): CampaignPlan {
  return {
    seed: options.seed ?? seedOfEnvironment() ?? String(Date.now()),
    profile: options.profile ?? 'all',
    commands: options.commands ?? null,
    oracle: options.oracle ?? true,
    every: EVERY,
  };
}

async function campaign(options: FuzzArguments): Promise<void> {
  const { out, json } = options;
  const states = options.states === undefined ? {} : { states: await bundleStates(options.states) };
  await makeFolder(out);
  lockCampaign(out);
  if (options.resume !== true) await CampaignState.mustNotReplace(out);
  const state =
    options.resume === true
      ? await CampaignState.load(out)
      : new CampaignState({ ...planOf(options), ...states });
  const { plan } = state;
  const earlier = earlierFindings(state);
  const limits = {
    runs: options.runs ?? Infinity,
    seconds: options.runs === undefined ? (options.seconds ?? DEFAULT_SECONDS) : Infinity,
    workers: options.workers,
  };
  if (!json) {
    printPlan(plan);
    if (options.resume === true) print(`resumed     after ${countText(state.runs, 'run')}`);
    for (const { again } of earlier) print(`failed      before this session; again: ${again}`);
  }
  // Before the threads start, which would keep the process alive after an error. A campaign that is
  // killed before its next save is resumed, and not the one that had the folder before it.
  if (options.resume !== true) await state.save(out);
  const log = new RunLog(out, plan, {
    resumed: options.resume === true,
    verbose: options.verbose && !json,
  });
  const pool = new FuzzPool(options.workers);
  const progress = startProgress('fuzz', json);
  const save = (): Promise<void> => state.save(out);
  const written: Written = { folders: [], findings: earlier };
  try {
    for (;;) {
      const watch = { progress, onRun: log.note, save };
      const failed = await runCampaign(state, pool, limits, watch);
      progress.stop();
      await save();
      for (const one of failed) await noteFailure(options, plan, one, pool, written);
      const isOver = isInterrupted() || state.runs >= limits.runs || limits.seconds < Infinity;
      if (failed.length === 0 || !options['keep-going'] || isOver) break;
    }
  } finally {
    progress.stop();
    log.close();
    await pool.close();
  }
  state.ended = !isInterrupted();
  await save();
  await reportCampaign(options, state, log, written);
}

/** Repeats one run by its number in this thread. */
async function repeatRun(options: FuzzArguments, run: number): Promise<void> {
  if (options.seed === undefined) throw new InputError('--run needs the --seed of its campaign');
  const plan = planOf(options);
  if (!options.json) print(describeProfile(profileOf(plan, run)));
  const { failed, commands } = runBatch(plan, run, run + 1);
  const written: string[] = [];
  if (failed !== null) {
    await makeFolder(options.out);
    const pool = new FuzzPool(1);
    try {
      written.push(await shrinkAndWrite(options, plan, failed, pool));
    } finally {
      await pool.close();
    }
    setExitCode(EXIT.failed);
  }
  const violation = failed?.violation ?? null;
  const again = againText(plan, run);
  await reportOne(options, again, { violation, again, written: written[0] ?? null });
  const checks = checksOfRun(plan, run);
  if (options.json) printJson({ plan, run, checks, commands, violation, written });
  else print(verdictOf(commands, violation === null, checks));
}

const verdictOf = (commands: number, holds: boolean, checks: readonly CheckName[]): string =>
  `${countText(commands, 'command')}: ${holds ? `all checks pass (${checks.join(', ')})` : 'FAILED'}`;

/** Runs all checks on a journal. */
async function checkOne(options: FuzzArguments, path: string): Promise<void> {
  const bytes = await readJournal(path);
  const checks = CHECK_NAMES.filter((name) => options.oracle !== false || name !== 'oracle');
  let commands = 0;
  const progress = startProgress('check', options.json);
  let failure: Failure | null;
  let torn: ReturnType<typeof commandsOf>['torn'];
  try {
    const found = commandsOf(bytes);
    ({ torn } = found);
    failure = checkCommands(found.config, found.commands, {
      checks,
      onCommand: (applied) => {
        commands = applied;
        if (applied % 64 === 0) progress.update(0, `${String(applied)} commands`);
        return isInterrupted();
      },
    });
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    throw new InputError(`${path}: ${error.message}`);
  } finally {
    progress.stop();
  }
  if (isInterrupted()) throw new Interrupted('interrupted');
  let written: string | null = null;
  if (failure !== null) {
    commands = failure.commands.length;
    const { invariant, detail } = failure.violation;
    if (!options.shrink) {
      if (!options.json) print(`VIOLATED    ${invariant}: ${detail}`);
    } else {
      await makeFolder(options.out);
      const pool = new FuzzPool(1);
      try {
        written = await reportFailure(pool, failure, {
          out: options.out,
          id: `journal-${String(commands)}`,
          origin: [`orrery fuzz --journal ${shellWord(path)}`],
          ...shrinkingOf(options),
        });
      } finally {
        await pool.close();
      }
    }
    setExitCode(EXIT.failed);
  }
  const violation = failure?.violation ?? null;
  await reportOne(options, path, {
    violation,
    again: `orrery fuzz --journal ${shellWord(path)}`,
    written,
  });
  if (options.json) printJson({ journal: path, checks, commands, torn, violation, written });
  else {
    if (torn !== null) print(`torn tail   at byte ${String(torn.offset)}: ${torn.reason}`);
    print(verdictOf(commands, violation === null, checks));
  }
}

/** Writes the files for build servers of a single result; `violation` is null if it passed. */
async function reportOne(
  options: FuzzArguments,
  subject: string,
  { violation, ...found }: Omit<Finding, 'violation'> & { readonly violation: Violation | null },
): Promise<void> {
  const findings = violation === null ? [] : [{ ...found, violation }];
  await writeCiReports(options, { subject, seconds: performance.now() / 1000, findings });
}

/** Compares a host with its twin until they differ. */
async function driveOne(options: FuzzArguments, url: string): Promise<void> {
  if (options.repeat !== undefined) return repeatOne(options, url, options.repeat);
  const { json, out } = options;
  const { seed, profile } = planOf(options);
  const progress = startProgress('drive', json);
  let result: TargetResult;
  try {
    result = await driveTarget(
      {
        url,
        simToken: options['sim-token'] ?? '',
        configPath: options.config ?? null,
        seed,
        profile: profile === 'all' ? 'swarm' : profile,
        commands: options.commands ?? 1_000_000,
        seconds: options.seconds ?? DEFAULT_SECONDS,
        quiet: json,
      },
      progress,
    );
  } finally {
    progress.stop();
  }
  const { requests, used, divergence, shown } = result;
  if (!json && divergence !== null) {
    print(`DIVERGED    ${divergence.detail}`);
    print(`  rule      ${divergence.rule}`);
  }
  const written =
    shown === null
      ? null
      : await reportTarget({
          ...result,
          out,
          seed,
          simToken: options['sim-token'] ?? '',
          divergence: shown,
          hostCommand: options['host-command'] ?? null,
          shrinkSeconds: options.shrink ? options['shrink-seconds'] : 0,
          quiet: json,
        });
  const again = `orrery fuzz --target ${url} --seed ${seed}`;
  const subject = `${url}, ${countText(requests, 'request')}`;
  await reportOne(options, subject, { violation: divergence, again, written });
  if (json) printJson({ target: url, seed, requests, used, divergence, written });
  else if (divergence === null)
    print(`${countText(requests, 'request')}: host and twin respond equally`);
  else {
    print(`  written   ${String(written)}`);
    print(`  again     bash ${join(String(written), 'requests.sh')}`);
  }
  if (divergence !== null) setExitCode(EXIT.failed);
  if (isInterrupted()) throw new Interrupted('interrupted');
}

async function repeatOne(options: FuzzArguments, url: string, folder: string): Promise<void> {
  const found = await repeatAtTarget(url, options['sim-token'] ?? '', folder);
  const violation = found?.violation ?? null;
  const again = `orrery fuzz --target ${url} --repeat ${shellWord(folder)}`;
  await reportOne(options, `${url}, ${folder}`, { violation, again, written: folder });
  if (options.json) printJson({ target: url, repeat: folder, divergence: violation });
  else if (violation === null) print('host and twin respond equally');
  else {
    print(`DIVERGED    ${violation.detail}`);
    print(`  rule      ${violation.rule}`);
  }
  if (violation !== null) setExitCode(EXIT.failed);
}

function seedOfEnvironment(): string | undefined {
  const seed = process.env['ORRERY_SEED'];
  return seed === '' ? undefined : seed;
}
