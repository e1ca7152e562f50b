/** `orrery sweep`: searches a strategy's parameters and measures overfitting of the best trial. */
import type { CommandModule } from 'yargs';
import {
  isRemote,
  REMOTE_OPTIONS,
  UPLOAD_OPTION,
  type RemoteArguments,
  type UploadArguments,
} from '../campaigns/remote-options.ts';
import { RUN_OPTIONS } from '../run-options.ts';
import { mustNameStrategy, SEARCH_OPTIONS, withWorkers } from '../search-options.ts';
import type { SweepArguments } from '../search/search-and-report.ts';

export const command: CommandModule<object, SweepArguments & RemoteArguments & UploadArguments> = {
  command: 'sweep [strategy]',
  builder: (yargs) =>
    yargs
      .positional('strategy', { type: 'string', default: '', describe: 'strategy file' })
      .options(SEARCH_OPTIONS)
      .options(RUN_OPTIONS)
      .options({ ...REMOTE_OPTIONS, ...UPLOAD_OPTION })
      .option('robustness', {
        type: 'boolean',
        default: true,
        describe: 'test the best trial with changed parameters, latency and fees',
      })
      .option('out', {
        type: 'string',
        describe: 'output folder; default reports/sweep-<strategy>. An existing search resumes',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example(
        '$0 sweep examples/strategies/sma-cross.ts --data data/btcusdt-20240808 --vary fast=5:50:5 --method grid',
        '',
      )
      .example('$0 sweep my.ts --data btc --method tpe --trials 200 --objective calmar', ''),
  handler: async (args) => {
    // Makes local time identical on every machine.
    process.env['TZ'] = 'UTC';
    if (isRemote(args)) {
      const { remoteSweep } = await import('../campaigns/remote-search.ts');
      await remoteSweep(args);
      return;
    }
    mustNameStrategy(args);
    await withWorkers(args, async (pool) => {
      const { searchAndReport } = await import('../search/search-and-report.ts');
      const { searchOf } = await import('../search/plan-search.ts');
      await searchAndReport(args, await searchOf(args), pool);
    });
  },
};
