/** `orrery data sample`: writes a dataset of synthetic bars and funding rates. */
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { parseTime } from '../../num/time-text.ts';
import { fileError } from '../../platform/file-error.ts';
import { makeFolderBeside, realFolder } from '../../platform/make-folder.ts';
import {
  SAMPLE_MARKETS,
  sampleRecords,
  type SampleMarket,
} from '../../tape/sample/sample-market.ts';
import { isManifest } from '../../tape/manifest.ts';
import { DatasetWriter } from '../../tape-files/dataset-writer.ts';
import { mustHoldDatasetOnly } from '../../tape-files/foreign-files.ts';
import { RandomStreams } from '../../virtual-time/rng.ts';
import {
  InputError,
  mustBeWhole,
  print,
  startProgress,
  stopIfInterrupted,
} from '../cli-support.ts';
import { shellWord } from '../../platform/shell-word.ts';

interface SampleArguments {
  readonly out: string;
  readonly symbols: string;
  readonly days: number;
  readonly from: string;
  readonly seed: string;
  readonly replace: boolean;
}

const MINUTES_A_DAY = 1_440;
const MAX_DAYS = 3_660;
/** Records between two updates of the progress bar, and checks of Ctrl-C. */
const BATCH = 4_096;
const NAMES = SAMPLE_MARKETS.map(({ symbol }) => symbol);

export const sampleCommand: CommandModule<object, SampleArguments> = {
  command: 'sample',
  describe: 'Write a dataset of synthetic 1m bars and funding rates',
  builder: (yargs) =>
    yargs
      .option('out', { type: 'string', demandOption: true, describe: 'folder of the dataset' })
      .option('symbols', {
        type: 'string',
        default: 'BTC-SAMPLE,ETH-SAMPLE',
        describe: `markets, separated by commas: ${NAMES.join(', ')}`,
      })
      .option('days', {
        type: 'number',
        default: 365,
        describe: `length, up to ${String(MAX_DAYS)}`,
      })
      .option('from', { type: 'string', default: '2024-01-01', describe: 'first day, UTC' })
      .option('seed', { type: 'string', default: 'sample', describe: 'seed of the random draws' })
      .option('replace', {
        type: 'boolean',
        default: false,
        describe: 'overwrite an existing dataset',
      })
      .example('$0 data sample --out sample', 'a year of two markets')
      .epilog('The model of the prices: docs/DATA.md'),
  handler: async (args) => {
    const markets = marketsOf(args.symbols);
    mustBeWhole('days', args.days, 1, MAX_DAYS);
    const startUs = dayOf(args.from);
    const out = realFolder(args.out);
    await mustBeFree(out, args.replace);
    // A folder of its own beside the dataset: it never removes one that is there.
    const temporary = await makeFolderBeside(out, '.sample-');
    try {
      const folder = join(temporary, 'dataset');
      await writeMarkets(folder, markets, startUs, args);
      await mustBeFree(out, args.replace);
      if (args.replace) await rm(out, { recursive: true, force: true });
      await rename(folder, out);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
    const bars = String(args.days * MINUTES_A_DAY);
    print(
      `${args.out}: ${markets.map(({ symbol }) => symbol).join(', ')}, ${bars} bars of 1m each, synthetic`,
    );
    print(`next  npx orrery new strategy trend --template sma --data ${shellWord(args.out)}`);
  },
};

function marketsOf(text: string): readonly SampleMarket[] {
  const names = text.split(',').map((name) => name.trim().toUpperCase());
  if (new Set(names).size < names.length) {
    throw new InputError(`--symbols names a market twice: ${text}`, { field: 'symbols' });
  }
  return names.map((name) => {
    const found = SAMPLE_MARKETS.find(({ symbol }) => symbol === name);
    if (found !== undefined) return found;
    throw new InputError(`--symbols: '${name}' is none of ${NAMES.join(', ')}`, {
      field: 'symbols',
      limit: NAMES.join(', '),
    });
  });
}

function dayOf(text: string): number {
  const us = parseTime(`${text}T00:00:00Z`);
  if (us !== null) return us;
  throw new InputError(`--from must be a day such as 2024-01-01, got '${text}'`, { field: 'from' });
}

async function mustBeFree(out: string, replace: boolean): Promise<void> {
  const present = await stat(out).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fileError(out, error);
  });
  if (present === null) return;
  if (!replace) throw new InputError(`${out}: exists; --replace overwrites a dataset`);
  // Web applications have a file of this name, too.
  const manifest = await readFile(join(out, 'manifest.json'), 'utf8').catch(() => '');
  if (!isManifest(manifest)) throw new InputError(`${out}: exists and is not a dataset`);
  await mustHoldDatasetOnly(out, manifest);
}

async function writeMarkets(
  folder: string,
  markets: readonly SampleMarket[],
  startUs: number,
  { days, seed }: SampleArguments,
): Promise<void> {
  const progress = startProgress('sample');
  const minutes = days * MINUTES_A_DAY;
  try {
    for (const [i, market] of markets.entries()) {
      const streams = new RandomStreams(seed);
      const factor = streams.stream('factor');
      const own = streams.stream(market.symbol);
      const path = streams.stream(`${market.symbol} path`);
      const draws = { factor: () => factor.next(), own: () => own.next(), path: () => path.next() };
      const mode = i === 0 ? 'create' : 'add';
      const writer = await DatasetWriter.open(folder, { id: market.symbol, job: '', mode });
      let written = 0;
      for (const record of sampleRecords({ market, startUs, minutes, draws })) {
        await writer.write(record);
        if (++written % BATCH > 0) continue;
        stopIfInterrupted();
        progress.update((i + written / minutes) / markets.length);
      }
      const source = `synthetic: orrery data sample, seed ${seed}`;
      await writer.finish(
        { symbol: market.symbol, format: 'sample', source, licence: 'CC0-1.0' },
        market,
      );
    }
  } finally {
    progress.stop();
  }
}
