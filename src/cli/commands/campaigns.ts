/** `orrery campaigns`: lists the campaigns of a database, cancels one, changes its priority. */
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import type { CampaignProgress } from '../../postgres/jobs/job-store.ts';
import { campaignOf, withCampaigns } from '../campaigns/open-campaigns.ts';
import { MOST_PRIORITY, PG_OPTION, shownId } from '../campaigns/remote-options.ts';
import { InputError, mustBeWhole, print, printJson } from '../cli-support.ts';

const ACTIONS = ['list', 'cancel', 'priority'] as const;

interface CampaignsArguments {
  readonly action: (typeof ACTIONS)[number];
  readonly id: string | undefined;
  readonly pg: string | undefined;
  readonly to: number;
  readonly json: boolean;
}

export const command: CommandModule<object, CampaignsArguments> = {
  command: 'campaigns [action] [id]',
  builder: (yargs) =>
    yargs
      .positional('action', { choices: ACTIONS, default: 'list' as const, describe: 'what to do' })
      .positional('id', { type: 'string', describe: 'id of a campaign, or its first digits' })
      .options(PG_OPTION)
      .option('to', { type: 'number', default: 0, describe: 'for priority: the new one' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 campaigns --pg postgres://db/campaigns', 'states and progress')
      .example('$0 campaigns cancel 5f0c1b', '')
      .example('$0 campaigns priority 5f0c1b --to 10', ''),
  handler: async ({ action, id, pg, to, json }) => {
    mustBeWhole('to', to, -MOST_PRIORITY, MOST_PRIORITY);
    await withCampaigns(pg, async (store) => {
      if (action !== 'list') {
        if (id === undefined) throw new InputError(`campaigns ${action}: name the id`);
        const campaign = await campaignOf(store, id);
        if (action === 'priority') await store.setPriority(campaign.id, to);
        else if (campaign.status === 'running') await store.end(campaign.id, 'cancelled', null);
        else throw new InputError(`campaign ${id} is ${campaign.status}`);
      }
      const found = await store.list(id ?? '');
      const workers = await store.workers();
      if (json) printJson({ workers, campaigns: found });
      else printTable(found, workers);
    });
  },
};

function printTable(campaigns: readonly CampaignProgress[], workers: number): void {
  const table = new Table({
    head: ['id', 'campaign', 'status', 'priority', 'done', 'running', 'set aside', 'submitted'],
    style: { head: [], border: [], compact: true },
  });
  for (const one of campaigns) {
    table.push([
      shownId(one.id),
      one.title,
      one.error === null ? one.status : `${one.status}: ${one.error}`,
      String(one.priority),
      `${String(one.done)}/${String(one.jobs)}`,
      String(one.running),
      String(one.setAside),
      one.submittedAt.toISOString().slice(0, 19),
    ]);
  }
  if (campaigns.length > 0) print(table.toString());
  print(`${countText(campaigns.length, 'campaign')}, ${countText(workers, 'slot')} of workers`);
}
