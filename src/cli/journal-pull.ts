/** `orrery journal pull`: copies a journal from PostgreSQL into a data folder. */
import type { CommandModule } from 'yargs';
import { countText } from '../base/count-text.ts';
import { pullJournal, type PulledJournal } from '../postgres/pull-journal.ts';
import { Interrupted, isInterrupted, print, printJson, startProgress } from './cli-support.ts';

/** Interval at which a signal is looked for. */
const WATCH_MS = 100;

interface PullArguments {
  readonly address: string;
  readonly folder: string;
  readonly json: boolean;
}

export const pullCommand: CommandModule<object, PullArguments> = {
  command: 'pull <address> <folder>',
  describe: 'Copy a journal from PostgreSQL and verify it',
  builder: (yargs) =>
    yargs
      .positional('address', {
        type: 'string',
        demandOption: true,
        describe: 'postgres://… of a shared journal',
      })
      .positional('folder', {
        type: 'string',
        demandOption: true,
        describe: 'data folder without a journal',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 journal pull postgres://db/exchange ./copy', 'then journal verify ./copy'),
  handler: async ({ address, folder, json }) => {
    const progress = startProgress('pull', json);
    const stop = new AbortController();
    const watch = setInterval(() => {
      if (isInterrupted()) stop.abort(new Interrupted('interrupted'));
    }, WATCH_MS);
    let pulled: PulledJournal;
    try {
      pulled = await pullJournal(address, folder, {
        onProgress: (fraction) => {
          progress.update(fraction);
        },
        signal: stop.signal,
      });
    } finally {
      clearInterval(watch);
      progress.stop();
    }
    if (json) {
      printJson(pulled);
      return;
    }
    const { commands, rows, chainHash } = pulled;
    print(`${folder}: ${countText(commands, 'command')} in ${countText(rows, 'row')}, all match`);
    print(`chain hash ${chainHash}`);
  },
};
