/**
 * The beginning of each world. A prepared world starts close to a boundary: a depth of three covers
 * there what would take eight operations from the opening of all worlds.
 */
import type { Command } from '../../engine/commands.ts';
import { ExploredExchange } from './explored-exchange.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { CONFIG, OPENING } from './setting.ts';
import type { WorldName } from './worlds.ts';

const PREPARATIONS: Partial<Record<WorldName, readonly OperationName[]>> = {
  /** Y is stale with a gain of Bob; X is halted before a sample of its changed basis. */
  frozen: ['yRecovers', 'stale', 'xReturns', 'catOffers', 'xHalts'],
  /** Only users who have positions quote X. */
  thin: ['catCancelsX'],
  /** Before midnight the vault is long in Z, near its highest price; X has no bid. */
  vault: [
    ...['zLists', 'danDeposits', 'zReturns', 'catSellsZ', 'danBuysZ', 'zSinks', 'evening'],
    ...['catFeedsVault', 'catCancelsX', 'zReturns', 'xSags', 'yRecovers'],
  ] as const,
  /** Dan, bankrupt in Z, owes a clearing debt and holds X and Y, both halted below their index. */
  debt: [
    ...['zLists', 'danDepositsMore', 'zStarts', 'catSellsMoreZ', 'danBuysMoreZ'],
    ...['catSellsY', 'danBuysY', 'danBuysX', 'xHalts', 'yHalts', 'xGains', 'yGains', 'zCrashes'],
  ] as const,
  /** Ann's take-profit rests above a part of its parent that is still on the book. */
  legs: ['catCancelsX', 'annDepositsMore', 'annHangs', 'bobHits', 'xRises'],
  /** The quotes of W, whose index follows them, are about to stand still. */
  quiet: ['wLists', 'danDeposits', 'wQuotes', 'wTrades'],
  /** Dan, isolated in X, may turn a position about as large as its first tier. */
  turns: [
    'bobCancelsAll',
    'catCancelsX',
    'danDepositsMore',
    'danDepositsMore',
    'catQuotesBoth',
    'danIsolates',
  ],
};

const openings = new Map<WorldName, readonly Command[]>();

/** Commands before the first step of a world; ends with the command that throws, if one does. */
export function openingOf(world: WorldName): readonly Command[] {
  const known = openings.get(world);
  if (known !== undefined) return known;
  const commands = [...OPENING];
  const names = PREPARATIONS[world] ?? [];
  if (names.length > 0) {
    const exchange = new ExploredExchange(CONFIG);
    for (const command of OPENING) exchange.apply(command);
    commands.push(...commandsOf(exchange, names));
  }
  openings.set(world, commands);
  return commands;
}

/** Commands of operations, which are applied; ends with the one that throws, if one does. */
export function commandsOf(
  exchange: ExploredExchange,
  names: readonly OperationName[],
): readonly Command[] {
  const commands: Command[] = [];
  for (const name of names) {
    const command = OPERATIONS[name](exchange);
    if (command === null) continue;
    commands.push(command);
    try {
      exchange.apply(command);
    } catch {
      break;
    }
  }
  return commands;
}
