/**
 * A copy of a tape whose future, after an instant, is another: the tape ends, prices are elsewhere,
 * volumes are multiples, or trades are missing. What is left is consistent, so that a run plays it
 * as any other tape.
 */
import type { TapeBatch } from '../backtest/run-backtest.ts';
import type { Command, TapeL3 } from '../engine/commands.ts';
import { lots, type Lots } from '../num/units.ts';
import type { RandomStream } from '../virtual-time/rng.ts';
import { MovedBook } from './moved-book.ts';

/** Changes of the recording after the instant. */
export const CHANGES = ['end', 'prices', 'volumes', 'missing'] as const;
export type TapeChange = (typeof CHANGES)[number];

/** Commands of the other future that are played, for a strategy that reads ahead. */
const COMMANDS_AFTER = 20_000;

interface Other {
  readonly change: TapeChange;
  readonly atUs: number;
  readonly random: RandomStream;
}

/** The recording up to the instant, and another future after it. */
export async function* otherFuture(
  batches: AsyncIterable<TapeBatch>,
  { change, atUs, random }: Other,
): AsyncGenerator<TapeBatch> {
  const books = new Map<number, MovedBook>();
  const factor = 2 + random.below(4);
  let after = 0;
  for await (const { commands, localUs } of batches) {
    const kept: Command[] = [];
    const received: number[] = [];
    const keep = (command: Command, i: number): void => {
      kept.push(command);
      if (localUs !== undefined) received.push(localUs[i] ?? command.timeUs);
    };
    for (const [i, command] of commands.entries()) {
      const isAfter = command.timeUs >= atUs;
      if (isAfter) after += 1;
      if (after > (change === 'end' ? 0 : COMMANDS_AFTER)) break;
      if (change === 'prices') {
        for (const next of shifted(command, isAfter, books, random)) keep(next, i);
      } else if (!isAfter) keep(command, i);
      else if (change === 'volumes') keep(enlarged(command, factor), i);
      else if (command.kind === 'tapeL3') {
        keep(random.below(2) === 0 ? command : withoutTrade(command), i);
      } else if (!isTrading(command) || random.below(2) === 0) keep(command, i);
    }
    yield { commands: kept, ...(localUs === undefined ? {} : { localUs: received }) };
    if (after > (change === 'end' ? 0 : COMMANDS_AFTER)) return;
  }
}

function isTrading({ kind }: Command): boolean {
  return kind === 'tapeTrade' || kind === 'tapeBar';
}

/** The order leaves the book without a trade. */
function withoutTrade(command: TapeL3): TapeL3 {
  return command.action === 'execute' ? { ...command, action: 'reduce' } : command;
}

function enlarged(command: Command, factor: number): Command {
  const times = (size: Lots): Lots => lots(size * factor);
  switch (command.kind) {
    case 'tapeTrade':
    case 'tapeL3':
      return { ...command, lots: times(command.lots) };
    case 'tapeBar':
      return { ...command, volumeLots: times(command.volumeLots) };
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes':
      return {
        ...command,
        levels: command.levels.map((level) => ({ ...level, lots: times(level.lots) })),
      };
    default:
      return command;
  }
}

/** The command with other prices after the instant; first the whole book at them. */
function shifted(
  command: Command,
  isAfter: boolean,
  books: Map<number, MovedBook>,
  random: RandomStream,
): Command[] {
  const { kind } = command;
  if (
    kind !== 'tapeDepth' &&
    kind !== 'tapeSnapshot' &&
    kind !== 'tapeQuotes' &&
    kind !== 'tapeL3' &&
    kind !== 'tapeTrade' &&
    kind !== 'tapeBar' &&
    kind !== 'setMark'
  ) {
    return [command];
  }
  const { market } = command;
  const book = books.get(market) ?? new MovedBook(market);
  books.set(market, book);
  const opening: Command[] = [];
  if (isAfter && book.ticks === null) {
    const price = priceOf(command);
    if (price !== null) {
      const ticks = 5 + Math.floor(price * (0.002 + 0.01 * random.next()));
      book.ticks = random.below(2) === 0 ? ticks : -Math.min(ticks, Math.floor(price / 2));
      opening.push(...book.commands(command.timeUs));
    }
  }
  const isMoved = book.ticks !== null;
  switch (kind) {
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes':
      if (!isMoved) book.take(command.levels, kind !== 'tapeDepth');
      return [...opening, isMoved ? { ...command, levels: book.moved(command.levels) } : command];
    case 'tapeL3':
      if (!isMoved) book.takeOrder(command);
      return [...opening, { ...command, priceTicks: book.price(command.priceTicks) }];
    case 'tapeBar':
      return [
        {
          ...command,
          openTicks: book.price(command.openTicks),
          highTicks: book.price(command.highTicks),
          lowTicks: book.price(command.lowTicks),
          closeTicks: book.price(command.closeTicks),
          quoteTicks: book.price(command.quoteTicks),
        },
      ];
    default:
      return [...opening, { ...command, priceTicks: book.price(command.priceTicks) }];
  }
}

function priceOf(command: Command): number | null {
  switch (command.kind) {
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes':
      return command.levels[0]?.priceTicks ?? null;
    case 'tapeBar':
      return command.closeTicks;
    case 'tapeTrade':
    case 'tapeL3':
    case 'setMark':
      return command.priceTicks;
    default:
      return null;
  }
}
