/** `orrery sweep`: a search over a strategy's parameters, and how far its best can be believed. */
import type { CommandModule } from 'yargs';
import { RUN_OPTIONS } from '../run-options.ts';
import { SEARCH_OPTIONS, withWorkers } from '../search-options.ts';
import type { SweepArguments } from '../search/search-and-report.ts';

export const command: CommandModule<object, SweepArguments> = {
  command: 'sweep <strategy>',
  builder: (yargs) =>
    yargs
      .positional('strategy', { type: 'string', demandOption: true, describe: 'strategy file' })
      .options(SEARCH_OPTIONS)
      .options(RUN_OPTIONS)
      .option('robustness', {
        type: 'boolean',
        default: true,
        describe: 'vary the best one’s parameters, latency and fees; --no-robustness leaves it out',
      })
      .option('out', {
        type: 'string',
        describe: 'folder; reports/sweep-<strategy> unless given. The same search goes on there',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example(
        '$0 sweep examples/strategies/sma-cross.ts --data data/btcusdt-20240808 --vary fast=5:50:5 --method grid',
        '',
      )
      .example('$0 sweep my.ts --data btc --method tpe --trials 200 --objective calmar', ''),
  handler: async (given) => {
    // Local time is the same on every machine.
    process.env['TZ'] = 'UTC';
    await withWorkers(given, async (pool) => {
      const { searchAndReport } = await import('../search/search-and-report.ts');
      await searchAndReport(given, pool);
    });
  },
};
