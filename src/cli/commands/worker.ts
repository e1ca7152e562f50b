/** `orrery worker`: runs jobs of campaigns that are submitted to a PostgreSQL database. */
import { availableParallelism } from 'node:os';
import type { CommandModule } from 'yargs';
import { HANDLER_LIMIT_OPTION } from '../handler-limit.ts';
import { PG_OPTION } from '../campaigns/remote-options.ts';
import { mustBeWhole } from '../cli-support.ts';
import type { WorkerArguments } from '../campaigns/run-worker.ts';

const MOST_WORKERS = 256;
const MOST_LEASE_MS = 3_600_000;

export const command: CommandModule<object, WorkerArguments> = {
  command: 'worker',
  builder: (yargs) =>
    yargs
      .options(PG_OPTION)
      .option('workers', {
        type: 'number',
        default: availableParallelism(),
        defaultDescription: 'number of cores',
        describe: 'jobs at the same time',
      })
      .option('cache', {
        type: 'string',
        describe: 'folder of files from the database; default: files in ORRERY_STATE',
      })
      .option('data', {
        type: 'string',
        array: true,
        default: [] as string[],
        defaultDescription: 'none',
        describe: 'dataset folder on this machine, used if its hashes are right',
      })
      .option('lease-ms', {
        type: 'number',
        default: 30_000,
        describe: 'a job of a worker that is silent for so long goes to another one',
      })
      .option('attempts', {
        type: 'number',
        default: 5,
        describe: 'a job that fails so often is set aside with its error',
      })
      .option('idle-seconds', {
        type: 'number',
        describe: 'end when there has been no work for so long; default: never',
      })
      .options(HANDLER_LIMIT_OPTION)
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 worker --pg postgres://db/campaigns', '')
      .example('$0 worker --data /mnt/shared/btc', 'with data on a shared path, and ORRERY_PG'),
  handler: async (args) => {
    mustBeWhole('workers', args.workers, 1, MOST_WORKERS);
    mustBeWhole('lease-ms', args['lease-ms'], 100, MOST_LEASE_MS);
    mustBeWhole('attempts', args.attempts, 1, 1000);
    mustBeWhole('idle-seconds', args['idle-seconds'], 0, 1_000_000);
    // Makes local time identical on every machine.
    process.env['TZ'] = 'UTC';
    const { runWorker } = await import('../campaigns/run-worker.ts');
    await runWorker(args);
  },
};
