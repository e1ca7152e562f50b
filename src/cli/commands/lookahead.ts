/** `orrery lookahead`: tests whether a strategy's decisions depend on data of their future. */
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import { dateText } from '../../base/date-text.ts';
import { probeLookAhead, type Probe } from '../../run-plan/look-ahead.ts';
import {
  EXIT,
  Interrupted,
  isInterrupted,
  mustBeWhole,
  print,
  printJson,
  setExitCode,
  startProgress,
} from '../cli-support.ts';
import { planOf, RUN_OPTIONS, type RunArguments } from '../run-options.ts';

interface LookAheadArguments extends RunArguments {
  readonly strategy: string;
  readonly instants: number;
  readonly json: boolean;
}

const MAX_INSTANTS = 1000;

export const command: CommandModule<object, LookAheadArguments> = {
  command: 'lookahead <strategy>',
  builder: (yargs) =>
    yargs
      .positional('strategy', { type: 'string', demandOption: true, describe: 'strategy file' })
      .options(RUN_OPTIONS)
      .option('instants', {
        type: 'number',
        default: 5,
        describe: 'random instants for each kind of change of the future',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 lookahead my.ts --data btc', 'exit code 1 if a decision depends on the future'),
  handler: async (options) => {
    process.env['TZ'] = 'UTC';
    mustBeWhole('instants', options.instants, 1, MAX_INSTANTS);
    const plan = await planOf([options.strategy], options);
    const data = plan.strategies.flatMap(({ bundle }) => bundle?.data ?? []);
    const progress = startProgress('look-ahead', options.json);
    let probes: readonly Probe[];
    try {
      probes = await probeLookAhead(plan, {
        instants: options.instants,
        seed: options.seed,
        cancelled: isInterrupted,
        onProgress: (fraction) => {
          progress.update(fraction);
        },
      });
    } finally {
      progress.stop();
    }
    if (isInterrupted()) throw new Interrupted('interrupted');
    const found = probes.filter(({ difference }) => difference !== null);
    if (found.length > 0) setExitCode(EXIT.failed);
    if (options.json) {
      printJson({ lookAhead: found.length > 0, probes, data });
      return;
    }
    const table = new Table({
      head: ['future', 'instant', 'seed', 'decisions before', 'verdict'],
      style: { head: [], border: [], compact: true },
    });
    for (const { change, atUs, seed, compared, difference } of probes) {
      const verdict = difference === null ? 'same' : 'DIFFERS';
      table.push([change, dateText(atUs), seed, compared, verdict]);
    }
    print(table.toString());
    const [first] = found;
    if (first?.difference != null) {
      print('look-ahead: a decision depends on data of its future');
      print(`  with the recording:   ${first.difference.recorded}`);
      print(`  with another future:  ${first.difference.changed}`);
    } else {
      print('no look-ahead: no decision before an instant depends on the data after it');
    }
    for (const { file, sha256 } of data) {
      print(`bundled data, not changed by this test: ${file} (sha256 ${sha256})`);
    }
  },
};
