import type { CommandModule } from 'yargs';
import { verifyTape, type TapeVerification } from '../../backtest/verify-tape.ts';
import { stepOf } from '../../gateway/encode.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { marketId } from '../../num/units.ts';
import type { MarketSpec } from '../../engine/config.ts';
import type { LevelView } from '../../engine/views.ts';
import type { TapeUnits } from '../../sim/tape/record.ts';
import { TapeError } from '../../sim/tape/record.ts';
import { TapeSteps } from '../../sim/tape/tape-steps.ts';
import { openRaw, openRecording, sha256Of } from '../../store/dataset-files.ts';
import { DatasetWriter } from '../../store/dataset-writer.ts';
import { keccak } from '../../wallet/ethers-ports.ts';
import { basename } from 'node:path';
import {
  EXIT,
  InputError,
  isInterrupted,
  print,
  printJson,
  setExitCode,
  startProgress,
  stopIfInterrupted,
} from '../manners.ts';

interface UnitArguments {
  readonly symbol: string | undefined;
  readonly tick: string | undefined;
  readonly lot: string | undefined;
  readonly inverse: boolean;
}

interface ImportArguments extends UnitArguments {
  readonly format: string;
  readonly file: readonly string[];
  readonly out: string;
  readonly source: string;
  readonly licence: string;
}

interface VerifyArguments extends UnitArguments {
  readonly recording: string;
  readonly json: boolean;
}

interface BookArguments extends VerifyArguments {
  readonly every: number;
}

const BOOK_LEVELS = 20;

export const command: CommandModule = {
  command: 'data <action>',
  builder: (yargs) =>
    yargs
      .command(importCommand)
      .command(verifyCommand)
      .command(bookCommand)
      .demandCommand(1, 'name an action: import, verify or book'),
  handler: () => undefined,
};

const unitOptions = {
  symbol: { type: 'string', describe: 'symbol, when its tick and lot size are given' },
  tick: { type: 'string', describe: 'tick size as decimal text' },
  lot: { type: 'string', describe: 'lot size as decimal text' },
  inverse: { type: 'boolean', default: false, describe: 'coin-margined contract' },
} as const;

const importCommand: CommandModule<object, ImportArguments> = {
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
      .option('source', { type: 'string', default: '', describe: 'where the recording comes from' })
      .option('licence', { type: 'string', default: '', describe: 'its licence' })
      .options(unitOptions)
      .example('$0 data import binance-raw btcusdt.gz --out data/btcusdt', ''),
  handler: async (args) => {
    const recording = openRaw(args.file, unitsOf(args));
    const writer = await DatasetWriter.create(args.out);
    const progress = startProgress('import');
    try {
      const importedFrom = [];
      for (const file of args.file) {
        importedFrom.push({ name: basename(file), sha256: await sha256Of(file) });
      }
      const steps = new TapeSteps(teed(recording.records, writer), marketId(0));
      for await (const batch of steps.batches()) {
        stopIfInterrupted();
        if (batch.length > 0) progress.update(recording.progress());
      }
      const units = recording.units();
      if (units === null) throw new TapeError('the files hold no record');
      const { symbol, tickSize, lotSize, inverse } = units;
      const sync = steps.syncFacts;
      const order = steps.orderingFacts;
      const manifest = await writer.finish({
        symbol,
        tickSize,
        lotSize,
        inverse,
        source: args.source,
        licence: args.licence,
        importedFrom,
        firstUs: sync.firstUs,
        lastUs: sync.lastUs,
        outOfOrder: order.outOfOrder,
        gaps: sync.gaps,
        droppedUpdates: sync.dropped,
        minFeedLatencyUs: order.minFeedLatencyUs,
        maxFeedLatencyUs: order.maxFeedLatencyUs,
      });
      progress.stop();
      const { depth, snapshot, trade, touch } = manifest.counts;
      print(
        `${args.out}: ${symbol}, ${String(depth)} depth updates, ${String(snapshot)} snapshots, ` +
          `${String(trade)} trades, ${String(touch)} touches, ${String(manifest.levels)} levels, ${String(sync.gaps)} gaps`,
      );
      if (inverse) {
        print(`${symbol} is coin-margined: good for book checks, refused for backtests of PnL`);
      }
    } catch (error) {
      progress.stop();
      await writer.abandon();
      throw error;
    }
  },
};

async function* teed<T extends readonly unknown[]>(
  source: AsyncIterable<T>,
  writer: { write(record: T[number]): Promise<void> },
): AsyncGenerator<T> {
  for await (const batch of source) {
    for (const record of batch) await writer.write(record);
    yield batch;
  }
}

const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: 'verify <recording>',
  describe: 'Rebuild the book of a dataset or raw file and hold it against the venue',
  builder: (yargs) =>
    yargs
      .positional('recording', { type: 'string', demandOption: true, describe: 'dataset or file' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .options(unitOptions)
      .example('$0 data verify data/btcusdt-20240808', ''),
  handler: async (args) => {
    const { verification, steps, units } = await verify(args, () => undefined);
    const passed =
      verification.compared > 0 &&
      verification.mismatched === 0 &&
      verification.crossedBooks === 0 &&
      verification.violations.length === 0;
    if (!passed) setExitCode(EXIT.failed);
    const order = steps.orderingFacts;
    const sync = steps.syncFacts;
    if (args.json) {
      printJson({ symbol: units.symbol, passed, ...verification, ordering: order, sync });
      return;
    }
    print(`${units.symbol}${units.inverse ? ' (coin-margined: book checks only)' : ''}`);
    print(`compared         ${String(verification.compared)} touches with the rebuilt book`);
    print(`mismatched       ${String(verification.mismatched)}`);
    for (const miss of verification.mismatches) {
      print(`  update ${String(miss.updateId)}, line ${String(miss.line)}: venue ${miss.venue}`);
      print(`  ${' '.repeat(String(miss.updateId).length + 7)} rebuilt ${miss.rebuilt}`);
    }
    print(`crossed books    ${String(verification.crossedBooks)}`);
    print(`depth, trades    ${String(sync.depths)}, ${String(sync.trades)}`);
    print(`gaps             ${String(sync.gaps)}, stale ${String(sync.staleUs / 1e6)} s`);
    print(`dropped updates  ${String(sync.dropped)} (older than the snapshot, or repeated)`);
    print(`out of order     ${String(order.outOfOrder)}, beyond the window ${String(order.late)}`);
    print(
      `feed latency     ${String(order.minFeedLatencyUs / 1000)} to ${String(order.maxFeedLatencyUs / 1000)} ms` +
        (order.minFeedLatencyUs < 0
          ? ' (negative: the recorder’s clock runs behind the venue’s)'
          : ''),
    );
    for (const violation of verification.violations) print(`VIOLATION        ${violation}`);
    if (verification.compared === 0) print('FAILED           nothing could be compared');
    print(`state hash       ${verification.stateHash}`);
  },
};

const bookCommand: CommandModule<object, BookArguments> = {
  command: 'book <recording>',
  describe: 'Print rebuilt books, best 20 levels, every N depth updates',
  builder: (yargs) =>
    yargs
      .positional('recording', { type: 'string', demandOption: true, describe: 'dataset or file' })
      .option('every', {
        type: 'number',
        default: 1000,
        describe: 'depth updates between two books',
      })
      .option('json', { type: 'boolean', default: false, describe: 'one JSON object a line' })
      .options(unitOptions)
      .example('$0 data book data/btcusdt-20240808 --every 500 --json', ''),
  handler: async (args) => {
    if (!Number.isSafeInteger(args.every) || args.every < 1) {
      throw new InputError(`--every must be a whole number from 1, got ${String(args.every)}`);
    }
    let updates = 0;
    await verify(args, (engine, atUs, units) => {
      updates += 1;
      if (updates % args.every !== 0) return;
      const side = (name: 'bid' | 'ask'): (readonly [string, string])[] =>
        engine
          .depth(marketId(0), name, BOOK_LEVELS)
          .map(
            (level) =>
              [
                inSteps(level.priceTicks, units.tickSize),
                inSteps(level.lots, units.lotSize),
              ] as const,
          );
      const book = { update: updates, timeUs: atUs, bids: side('bid'), asks: side('ask') };
      if (args.json) {
        print(JSON.stringify(book));
        return;
      }
      print(`update ${String(updates)} at ${String(atUs)} µs`);
      for (let i = 0; i < BOOK_LEVELS; i++) {
        const [bidPrice, bidSize] = book.bids[i] ?? ['', ''];
        const [askPrice, askSize] = book.asks[i] ?? ['', ''];
        print(
          `${bidSize.padStart(14)} ${bidPrice.padStart(12)} | ${askPrice.padEnd(12)} ${askSize}`,
        );
      }
    });
  },
};

interface BookReader {
  depth(id: ReturnType<typeof marketId>, side: 'bid' | 'ask', limit: number): LevelView[];
}

async function verify(
  args: VerifyArguments,
  onBook: (engine: BookReader, atUs: number, units: TapeUnits) => void,
): Promise<{ verification: TapeVerification; steps: TapeSteps; units: TapeUnits }> {
  const recording = await openRecording(args.recording, unitsOf(args));
  const steps = new TapeSteps(recording.records, marketId(0));
  const progress = startProgress('verify', args.json);
  const mustUnits = (): TapeUnits => {
    const units = recording.units();
    if (units === null) throw new TapeError(`${args.recording}: no record in it`);
    return units;
  };
  try {
    const verification = await verifyTape(steps, () => specOf(mustUnits()), {
      onBook: (engine, atUs) => {
        onBook(engine, atUs, mustUnits());
        progress.update(recording.progress());
      },
      cancelled: isInterrupted,
    });
    stopIfInterrupted();
    return { verification, steps, units: mustUnits() };
  } finally {
    progress.stop();
  }
}

function unitsOf({ symbol, tick, lot, inverse }: UnitArguments): TapeUnits | null {
  if (symbol === undefined && tick === undefined && lot === undefined) return null;
  if (symbol === undefined || tick === undefined || lot === undefined) {
    throw new InputError('--symbol, --tick and --lot are given together');
  }
  return { symbol, tickSize: tick, lotSize: lot, inverse };
}

function specOf(units: TapeUnits): MarketSpec {
  const spec = parseMarketSpec(
    {
      symbol: units.symbol,
      tickSize: units.tickSize,
      lotSize: units.lotSize,
      indexSource: 'mid',
    },
    keccak,
  );
  if (!spec.ok) throw new InputError(spec.error);
  return spec.value;
}

function inSteps(count: number, step: string): string {
  const { digits, scale } = stepOf(step);
  return formatDecimal(BigInt(count) * digits, scale);
}
