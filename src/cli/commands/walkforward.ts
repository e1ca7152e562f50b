/**
 * `orrery walkforward`: fits parameters on one interval and tests them on the next, window by
 * window.
 */
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
import { lengthsOf, WALK_MODES, type WalkArguments } from '../search/walk-lengths.ts';

export const command: CommandModule<object, WalkArguments & RemoteArguments & UploadArguments> = {
  command: 'walkforward [strategy]',
  builder: (yargs) =>
    yargs
      .positional('strategy', { type: 'string', default: '', describe: 'strategy file' })
      .option('train', {
        type: 'string',
        default: '',
        defaultDescription: 'required',
        describe: 'length of the training, such as 30d',
      })
      .option('test', {
        type: 'string',
        default: '',
        defaultDescription: 'required',
        describe: 'length of the test, such as 7d',
      })
      .option('purge', {
        type: 'string',
        describe:
          'gap between training and test; default: none, or a tenth of the training if purged',
      })
      .option('mode', {
        choices: WALK_MODES,
        default: 'rolling',
        describe: 'rolling training, fixed start, or rolling with a gap before the test',
      })
      .options(SEARCH_OPTIONS)
      .options(RUN_OPTIONS)
      .options({ ...REMOTE_OPTIONS, ...UPLOAD_OPTION })
      .option('out', {
        type: 'string',
        describe: 'output folder; default reports/walk-<strategy>. An existing analysis resumes',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example(
        '$0 walkforward my.ts --data btc --train 30d --test 7d --purge 1d --method grid --vary fast=5:50:5',
        '',
      ) as never,
  handler: async (args) => {
    // Makes local time identical on every machine.
    process.env['TZ'] = 'UTC';
    if (isRemote(args)) {
      const { remoteWalk } = await import('../campaigns/remote-search.ts');
      await remoteWalk(args);
      return;
    }
    mustNameStrategy(args);
    const lengths = lengthsOf(args);
    await withWorkers(args, async (pool) => {
      const { walkAndReport } = await import('../search/walk-and-report.ts');
      const { searchOf } = await import('../search/plan-search.ts');
      await walkAndReport(
        args,
        lengths,
        await searchOf(args, Math.min(lengths.trainUs, lengths.testUs)),
        pool,
      );
    });
  },
};
