import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CommandModule } from 'yargs';
import { TapeError } from '../../sim/tape/record.ts';
import { sha256Of } from '../../store/dataset-files.ts';
import { DatasetWriter } from '../../store/dataset-writer.ts';
import { openRaw } from '../../store/recordings.ts';
import { InputError, print, startProgress, stopIfInterrupted } from '../manners.ts';
import { unitOptions, unitsOf, type UnitArguments } from './tape-source.ts';

interface ImportArguments extends UnitArguments {
  readonly format: string;
  readonly file: readonly string[];
  readonly out: string;
  readonly source: string;
  readonly licence: string;
  readonly add: boolean;
  readonly replace: boolean;
}

export const importCommand: CommandModule<object, ImportArguments> = {
  command: 'import <format> <file..>',
  describe: 'Make a dataset of recorded files',
  builder: (yargs) =>
    yargs
      .positional('format', {
        type: 'string',
        demandOption: true,
        choices: ['binance-raw'],
        describe: 'format of the files',
      })
      .positional('file', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'files of one recording, in order (gzip or plain)',
      })
      .option('out', { type: 'string', demandOption: true, describe: 'folder of the dataset' })
      .option('add', { type: 'boolean', default: false, describe: 'add to a dataset that is there' })
      .option('replace', { type: 'boolean', default: false, describe: 'replace a dataset' })
      .option('source', { type: 'string', default: '', describe: 'where the recording comes from' })
      .option('licence', { type: 'string', default: '', describe: 'its licence' })
      .options(unitOptions)
      .example('$0 data import binance-raw btcusdt.gz --out data/btcusdt', ''),
  handler: async (args) => {
    const { format, source, licence } = args;
    if (args.add && args.replace) throw new InputError('--add and --replace exclude each other');
    const writer = await DatasetWriter.open(args.out, {
      id: format,
      job: JSON.stringify([format, args.file, unitsOf(args)]),
      mode: args.add ? 'add' : args.replace ? 'replace' : 'create',
    });
    const progress = startProgress('import');
    try {
      const recording = openRaw(args.file, unitsOf(args));
      for await (const batch of recording.records) {
        stopIfInterrupted();
        for (const record of batch) await writer.write(record);
        progress.update(recording.progress());
      }
      for (const file of args.file) {
        const { size } = await stat(file);
        writer.done.push({ name: basename(file), sha256: await sha256Of(file), bytes: size });
      }
      const units = recording.units();
      if (units === null) throw new TapeError('the files hold no record');
      const stream = await writer.finish({ symbol: units.symbol, format, source, licence }, units);
      progress.stop();
      const counts = Object.entries(stream.counts).map(([kind, n]) => `${String(n)} ${kind}`);
      print(
        `${args.out}: ${units.symbol}, ${counts.join(', ')}, ${String(stream.levels)} levels, ${String(stream.gaps)} gaps`,
      );
      if (units.inverse) {
        print(`${units.symbol} is coin-margined: good for book checks, refused for PnL`);
      }
    } catch (error) {
      progress.stop();
      await writer.abandon();
      throw error;
    }
  },
};
