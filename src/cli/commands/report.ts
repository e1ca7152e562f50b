/** `orrery report`: writes the page of a run again, or one page of several runs. */
import { readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { EXPLANATIONS } from '../../report/explain-page.ts';
import { fileAddress } from '../../report/file-address.ts';
import type { ReportedRun } from '../../report/page-data.ts';
import { buildReport, reportOptions, type ReportAbout } from '../../report/report.ts';
import { listed, REPORT_FILE } from '../../report/text.ts';
import { TIME_MACHINE, writeReport, writeRuns } from '../../report/write.ts';
import { bundleHashes, dataOf } from '../../run-plan/bundle-hashes.ts';
import type { RunPlan } from '../../run-plan/run-plan.ts';
import { makeFreeFolder, readRun, type RecordedRun } from '../../run-plan/run-folder.ts';
import { InputError, print, printJson } from '../cli-support.ts';
import { FileError } from '../../platform/file-error.ts';
import { faultOf, type Of } from '../../platform/json-shape.ts';
import { shellWord } from '../../platform/shell-word.ts';

interface ReportArguments {
  readonly pg: string | undefined;
  readonly run: string[];
  readonly out: string | undefined;
  readonly json: boolean;
}

const MOST_RUNS = 20;

/** Fields of `plan.json` that a report reads. */
const PLAN = {
  strategies: [{ id: 'text', bundle: 'record?' }],
  journal: 'flag?',
  population: 'record?',
} as const satisfies Of<RunPlan>;
const BUNDLE = { sha256: 'text', data: 'list?' } as const;
const DATA = [{ file: 'text', sha256: 'text' }] as const;

export const command: CommandModule<object, ReportArguments> = {
  command: 'report <run..>',
  builder: (yargs) =>
    yargs
      .positional('run', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'folders of runs; several are put on one page. With --pg: id of a campaign',
      })
      .option('pg', {
        type: 'string',
        describe: 'database of the campaign, postgres://…; empty: ORRERY_PG',
      })
      .option('out', {
        type: 'string',
        describe: 'folder of the page; default: that of the run, or in reports',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 report reports/sma-cross', 'write the page of a run again')
      .example('$0 report reports/fast reports/slow reports/carry', 'three runs on one page')
      .example('$0 report --pg postgres://db/campaigns 5f0c1b', 'the pages of a campaign'),
  handler: async ({ run: folders, pg, out, json }) => {
    if (pg !== undefined) {
      const [id = '', ...others] = folders;
      if (others.length > 0) throw new InputError('--pg: name one campaign');
      const { reportCampaign } = await import('../campaigns/remote-report.ts');
      return reportCampaign(pg, id, { out, json });
    }
    if (folders.length > MOST_RUNS) {
      throw new InputError(
        `${String(folders.length)} runs: a page has at most ${String(MOST_RUNS)}`,
      );
    }
    const twice = folders.find((folder, i) =>
      folders.slice(0, i).some((other) => resolve(other) === resolve(folder)),
    );
    if (twice !== undefined) throw new InputError(`${twice}: named twice`);
    const runs: { folder: string; run: RecordedRun; about: ReportAbout }[] = [];
    for (const folder of folders) {
      const run = await readRun(folder);
      runs.push({ folder, run, about: await aboutOf(folder, run) });
    }
    const [only] = runs;
    if (only !== undefined && runs.length === 1) {
      const { page } = await writeReport(only.run, only.about, out ?? only.folder);
      say([page], json);
      return;
    }
    const target = out ?? (await makeFreeFolder(join('reports', 'runs')));
    const names = namesOf(folders);
    const reported = runs.map(({ folder, run, about }, i): ReportedRun => ({
      name: names[i] ?? folder,
      report: buildReport(run, about),
      output: run,
      recording: recordingOf(run),
      explanations: fileAddress(target, join(folder, EXPLANATIONS)),
      timeMachine: fileAddress(target, join(folder, TIME_MACHINE)),
      allRows: relative(resolve(target), resolve(folder, REPORT_FILE)),
    }));
    say([await writeRuns(reported, target)], json);
  },
};

function say([page]: readonly [string], json: boolean): void {
  if (json) printJson({ report: page });
  else print(`report   ${page}`);
}

/** Last parts of the paths, as many as distinguish them. */
function namesOf(folders: readonly string[]): string[] {
  const paths = folders.map((folder) => resolve(folder).split('/'));
  for (let parts = 1; ; parts++) {
    const names = paths.map((path) => path.slice(-parts).join('/'));
    if (new Set(names).size === names.length) return names;
  }
}

/** Runs of earlier versions have no terms. */
function recordingOf({ terms }: RecordedRun): string | null {
  const [own] = terms ?? [];
  return own?.['population'] ?? own?.['data'] ?? null;
}

/** A strategy that is an object has no bundle. */
function faultOfBundles({ strategies }: RunPlan): string | null {
  for (const [i, { bundle }] of strategies.entries()) {
    if (bundle === null) continue;
    const fault = faultOf(bundle, BUNDLE) ?? faultOf({ data: dataOf(bundle) }, { data: DATA });
    if (fault !== null) return `strategies[${String(i)}].bundle.${fault}`;
  }
  return null;
}

/** Plan of a run, for its bundles; null without one. Throws `FileError`. */
async function planOf(folder: string): Promise<RunPlan | null> {
  const file = join(folder, 'plan.json');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  let plan: unknown;
  try {
    plan = JSON.parse(text);
  } catch (error) {
    throw new FileError(`${file}: damaged, or cut off: ${(error as Error).message}`);
  }
  const fault = faultOf(plan, PLAN) ?? faultOfBundles(plan as RunPlan);
  if (fault !== null) throw new FileError(`${file}: ${fault}`);
  return plan as RunPlan;
}

async function aboutOf(folder: string, run: RecordedRun): Promise<ReportAbout> {
  const plan = await planOf(folder);
  const symbols = listed(run.markets.map(({ symbol }) => symbol));
  const names = listed(run.strategies.map(({ name }) => name));
  const journal = join(folder, 'journal.orrery');
  const hasJournal = plan !== null && plan.journal !== false;
  return {
    title: `${names === '' ? basename(folder) : names} on ${symbols}`,
    isEndogenous: plan?.population !== undefined,
    assumptions: run.assumptions,
    data: run.data,
    verify: hasJournal ? [`npx orrery replay ${shellWord(journal)} --verify`] : [],
    bundle: plan === null ? {} : bundleHashes(plan.strategies),
    options: reportOptions(run),
    trials: null,
  };
}
