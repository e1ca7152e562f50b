/** `orrery walkforward`: parameters picked on one stretch of time and judged on the next, window by window; its page and walk.json. */
import type { CommandModule } from 'yargs';
import { RUN_OPTIONS } from '../run-options.ts';
import { SEARCH_OPTIONS, withWorkers } from '../search-options.ts';
import { lengthsOf, WALK_MODES, type WalkArguments } from '../search/walk-lengths.ts';

export const command: CommandModule<object, WalkArguments> = {
  command: 'walkforward <strategy>',
  builder: (yargs) =>
    yargs
      .positional('strategy', { type: 'string', demandOption: true, describe: 'strategy file' })
      .option('train', { type: 'string', demandOption: true, describe: 'length, such as 30d' })
      .option('test', { type: 'string', demandOption: true, describe: 'length, such as 7d' })
      .option('purge', {
        type: 'string',
        describe:
          'left out between training and test; none unless given, a tenth of the training when purged',
      })
      .option('mode', {
        choices: WALK_MODES,
        default: 'rolling',
        describe:
          'training moves along, keeps its start, or moves along and ends a purge before the test',
      })
      .options(SEARCH_OPTIONS)
      .options(RUN_OPTIONS)
      .option('out', {
        type: 'string',
        describe: 'folder; reports/walk-<strategy> unless given. The same walk goes on there',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example(
        '$0 walkforward my.ts --data btc --train 30d --test 7d --purge 1d --method grid --vary fast=5:50:5',
        '',
      ) as never,
  handler: async (given) => {
    // Local time is the same on every machine.
    process.env['TZ'] = 'UTC';
    const lengths = lengthsOf(given);
    await withWorkers(given, async (pool) => {
      const { walkAndReport } = await import('../search/walk-and-report.ts');
      await walkAndReport(given, lengths, pool);
    });
  },
};
