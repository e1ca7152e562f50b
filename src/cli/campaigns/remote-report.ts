/** `orrery report --pg`: the pages of a campaign, as its own command makes them with `--attach`. */
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { InputError } from '../cli-support.ts';
import { campaignOf, withCampaigns } from './open-campaigns.ts';
import { shownId } from './remote-options.ts';

type Loaded = Promise<{ readonly command: CommandModule<object, never> }>;

/** Commands by the kind of their campaigns, each with the option that names its output. */
const COMMANDS: Readonly<
  Record<string, { readonly load: () => Loaded; readonly out: (folder: string) => string[] }>
> = {
  sweep: { load: () => import('../commands/sweep.ts') as Loaded, out: inFolder },
  walkforward: { load: () => import('../commands/walkforward.ts') as Loaded, out: inFolder },
  fuzz: { load: () => import('../commands/fuzz.ts') as Loaded, out: inFolder },
  exhaust: { load: () => import('../commands/exhaust.ts') as Loaded, out: inFolder },
  economic: {
    load: () => import('../commands/economic.ts') as Loaded,
    out: (folder) => ['--journal', join(folder, 'best.orrery')],
  },
};

function inFolder(folder: string): string[] {
  return ['--out', folder];
}

export interface ReportOptions {
  readonly out: string | undefined;
  readonly json: boolean;
}

/** Waits for a campaign that is running. Throws `InputError`. */
export async function reportCampaign(
  pg: string,
  start: string,
  { out, json }: ReportOptions,
): Promise<void> {
  const { id, kind } = await withCampaigns(pg, (store) => campaignOf(store, start));
  const own = COMMANDS[kind];
  if (own === undefined) throw new InputError(`campaign ${start} is of kind ${kind}`);
  const folder = out ?? join('reports', `${kind}-${shownId(id)}`);
  const line = [
    kind,
    `--pg=${pg}`,
    '--attach',
    id,
    ...own.out(folder),
    ...(json ? ['--json'] : []),
  ];
  const { default: yargs } = await import('yargs');
  const { command } = await own.load();
  await yargs(line)
    .command(command as CommandModule)
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new InputError(message ?? 'bad command line');
    })
    .parseAsync();
}
