import { countText } from '../../base/count-text.ts';
import type { CommandModule } from 'yargs';
import { verifyTape, type BookTime } from '../../tape/verify-tape.ts';
import type { Exchange } from '../../engine/exchange.ts';
import { inSteps } from '../../gateway/encode.ts';
import { marketId } from '../../num/units.ts';
import type { TapeUnits } from '../../tape/record.ts';
import {
  isInterrupted,
  mustBeWhole,
  print,
  printError,
  startProgress,
  stopIfInterrupted,
} from '../cli-support.ts';
import { openTapes, specOf, unitOptions, type UnitArguments } from './tape-options.ts';

interface BookArguments extends UnitArguments {
  readonly recording: string;
  readonly json: boolean;
  readonly every: number;
}

const BOOK_LEVELS = 20;

export const bookCommand: CommandModule<object, BookArguments> = {
  command: 'book <recording>',
  describe: 'Print the rebuilt book, best 20 levels, every N updates',
  builder: (yargs) =>
    yargs
      .positional('recording', {
        type: 'string',
        demandOption: true,
        describe: 'dataset folder or raw file',
      })
      .option('every', { type: 'number', default: 1000, describe: 'updates between two books' })
      .option('json', {
        type: 'boolean',
        default: false,
        describe: 'print one JSON object per line',
      })
      .options(unitOptions)
      .example('$0 data book data/btcusdt-20240808 --every 500 --json', ''),
  handler: async (args) => {
    mustBeWhole('every', args.every, 1);
    const tapes = await openTapes(args.recording, args, true);
    for (const tape of tapes) {
      const progress = startProgress('rebuild', args.json);
      let updates = 0;
      try {
        await verifyTape(tape.steps, () => specOf(tape.units()), {
          onBook: (engine, at) => {
            updates += 1;
            if (updates % args.every === 0) show(engine, updates, at, tape.units(), args.json);
            progress.update(tape.progress());
          },
          cancelled: isInterrupted,
        });
      } finally {
        progress.stop();
      }
      stopIfInterrupted();
      if (updates < args.every) {
        const { symbol } = tape.units();
        printError(
          `${symbol}: ${countText(updates, 'update')}, fewer than --every ${String(args.every)}`,
        );
      }
    }
  },
};

function show(
  engine: Exchange,
  update: number,
  at: BookTime,
  units: TapeUnits,
  json: boolean,
): void {
  const side = (name: 'bid' | 'ask'): (readonly [string, string])[] =>
    engine
      .depth(marketId(0), name, BOOK_LEVELS)
      .map(
        ({ priceTicks, lots }) =>
          [inSteps(priceTicks, units.tickSize), inSteps(lots, units.lotSize)] as const,
      );
  const { symbol } = units;
  const { line, timeUs } = at;
  const book = { symbol, update, line, timeUs, bids: side('bid'), asks: side('ask') };
  if (json) {
    print(JSON.stringify(book));
    return;
  }
  print(`${units.symbol}, update ${String(update)} at ${String(timeUs)} µs`);
  for (let i = 0; i < BOOK_LEVELS; i++) {
    const [bidPrice, bidSize] = book.bids[i] ?? ['', ''];
    const [askPrice, askSize] = book.asks[i] ?? ['', ''];
    print(`${bidSize.padStart(14)} ${bidPrice.padStart(12)} | ${askPrice.padEnd(12)} ${askSize}`);
  }
}
