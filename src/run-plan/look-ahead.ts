/**
 * Tests a strategy for look-ahead: runs it on the recording and on copies whose future, after a
 * random instant, is another. Every decision before the instant must be the same. Decisions are
 * the requests that it sends and the lines that it logs.
 */
import type { Decision, TapeBatch } from '../backtest/run-backtest.ts';
import { StrategyFault } from '../strategy/strategy-fault.ts';
import type { Command, TapeLevel } from '../engine/commands.ts';
import { lots, priceTicks, timeUs, type Lots, type PriceTicks } from '../num/units.ts';
import { RandomStreams, type RandomStream } from '../virtual-time/rng.ts';
import { executePlan, type PlanPorts, type RunPlan } from './plan.ts';

/** Changes of the recording after the instant. */
export const CHANGES = ['end', 'prices', 'volumes', 'missing'] as const;
/** `feeds`: the user's data end. */
export type Change = (typeof CHANGES)[number] | 'feeds';

export interface Probe {
  readonly change: Change;
  /** Seed of the instant and of the change. */
  readonly seed: string;
  readonly atUs: number;
  /** Decisions before the instant that were compared. */
  readonly compared: number;
  /** First decision that differs: with the recording, and with the other future. */
  readonly difference: { readonly recorded: string; readonly changed: string } | null;
}

export interface LookAheadOptions {
  /** Instants per kind of change. */
  readonly instants: number;
  readonly seed: string;
  readonly onProgress?: (fraction: number) => void;
  readonly cancelled?: () => boolean;
}

/** Commands of the other future that are played, for a strategy that reads ahead. */
const COMMANDS_AFTER = 20_000;

/** Throws the errors of `executePlan`. Empty if cancelled. */
export async function probeLookAhead(
  plan: RunPlan,
  { instants, seed, onProgress, cancelled = () => false }: LookAheadOptions,
  ports: Pick<PlanPorts, 'definitions' | 'tape' | 'data'> = {},
): Promise<Probe[]> {
  const recorded = await decisionsOf(plan, { ...ports, cancelled }, false);
  const { firstUs, lastUs } = recorded;
  const hasFeeds = (plan.feeds ?? []).length > 0;
  const changes: readonly Change[] = hasFeeds ? [...CHANGES, 'feeds'] : CHANGES;
  const runs = changes.flatMap((change) =>
    Array.from({ length: instants }, (_, i) => ({
      change,
      seed: `${seed}.${change}.${String(i)}`,
    })),
  );
  const probes: Probe[] = [];
  for (const run of runs) {
    if (cancelled()) return [];
    const random = new RandomStreams(run.seed).stream('look-ahead');
    const atUs = firstUs + 1 + Math.floor(random.next() * (lastUs - firstUs));
    const tape = (batches: AsyncIterable<TapeBatch>): AsyncIterable<TapeBatch> => {
      const other = otherFuture(batches, { change: run.change, atUs, random });
      return ports.tape?.(other) ?? other;
    };
    const other: PlanPorts =
      run.change === 'feeds'
        ? {
            data: (rows) => {
              const before = rows.filter(({ timeUs: availableUs }) => availableUs < atUs);
              return ports.data?.(before) ?? before;
            },
          }
        : { tape };
    const changed = await decisionsOf(plan, { ...ports, cancelled, ...other }, true);
    probes.push({ ...run, atUs, ...compared(recorded, changed, atUs) });
    onProgress?.(probes.length / runs.length);
  }
  return probes;
}

interface Decisions {
  readonly firstUs: number;
  readonly lastUs: number;
  /** Time from which they are incomplete. */
  readonly untilUs: number;
  readonly made: readonly Decision[];
}

/** @param isChanged whether an error of the strategy is a decision, not the end of the test */
async function decisionsOf(
  plan: RunPlan,
  ports: PlanPorts,
  isChanged: boolean,
): Promise<Decisions> {
  const made: Decision[] = [];
  let playedUs = 0;
  async function* played(batches: AsyncIterable<TapeBatch>): AsyncGenerator<TapeBatch> {
    for await (const batch of ports.tape?.(batches) ?? batches) {
      playedUs = batch.commands.at(-1)?.timeUs ?? playedUs;
      yield batch;
    }
  }
  try {
    const { output } = await executePlan(plan, {
      ...ports,
      tape: played,
      onDecision: (decision) => {
        made.push(decision);
      },
    });
    const { firstUs, lastUs } = output;
    return { firstUs, lastUs, untilUs: playedUs, made };
  } catch (error) {
    if (!(error instanceof StrategyFault) || !isChanged) throw error;
    const { timeUs: atUs } = error;
    made.push({ strategy: error.strategy, timeUs: atUs, text: error.message });
    return { firstUs: atUs, lastUs: atUs, untilUs: atUs + 1, made };
  }
}

function compared(
  recorded: Decisions,
  changed: Decisions,
  atUs: number,
): Pick<Probe, 'compared' | 'difference'> {
  const endUs = Math.min(atUs, changed.untilUs);
  const before = ({ made }: Decisions): readonly string[] =>
    made
      .filter((decision) => decision.timeUs < endUs)
      .map(({ strategy, timeUs: at, text }) => `${strategy} at ${String(at)}: ${text}`);
  const [left, right] = [before(recorded), before(changed)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    if (left[i] === right[i]) continue;
    const difference = { recorded: left[i] ?? 'nothing', changed: right[i] ?? 'nothing' };
    return { compared: i + 1, difference };
  }
  return { compared: left.length, difference: null };
}

interface Other {
  readonly change: Change;
  readonly atUs: number;
  readonly random: RandomStream;
}

/** The recording up to the instant, and another future after it. */
async function* otherFuture(
  batches: AsyncIterable<TapeBatch>,
  { change, atUs, random }: Other,
): AsyncGenerator<TapeBatch> {
  const books = new Map<number, ShiftedBook>();
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
      else if (!isTrading(command) || random.below(2) === 0) keep(command, i);
    }
    yield { commands: kept, ...(localUs === undefined ? {} : { localUs: received }) };
    if (after > (change === 'end' ? 0 : COMMANDS_AFTER)) return;
  }
}

function isTrading({ kind }: Command): boolean {
  return kind === 'tapeTrade' || kind === 'tapeBar';
}

function enlarged(command: Command, factor: number): Command {
  const times = (size: Lots): Lots => lots(size * factor);
  switch (command.kind) {
    case 'tapeTrade':
      return { ...command, lots: times(command.lots) };
    case 'tapeBar':
      return { ...command, volumeLots: times(command.volumeLots) };
    case 'tapeDepth':
    case 'tapeSnapshot':
      return {
        ...command,
        levels: command.levels.map((level) => ({ ...level, lots: times(level.lots) })),
      };
    default:
      return command;
  }
}

/** The levels of a market's recorded book, to be quoted elsewhere from an instant on. */
class ShiftedBook {
  readonly levels = new Map<string, TapeLevel>();
  /** Ticks by which the market's prices differ after the instant; null before it. */
  ticks: number | null = null;

  take(levels: readonly TapeLevel[], isWhole: boolean): void {
    if (isWhole) this.levels.clear();
    for (const level of levels) this.levels.set(`${level.side}${String(level.priceTicks)}`, level);
  }

  moved(levels: Iterable<TapeLevel>): TapeLevel[] {
    return [...levels]
      .filter((level) => this.ticks !== null && level.priceTicks + this.ticks > 0)
      .map((level) => ({ ...level, priceTicks: this.price(level.priceTicks) }));
  }

  price(price: PriceTicks): PriceTicks {
    return priceTicks(Math.max(1, price + (this.ticks ?? 0)));
  }
}

/** The command with other prices after the instant; first the whole book at them. */
function shifted(
  command: Command,
  isAfter: boolean,
  books: Map<number, ShiftedBook>,
  random: RandomStream,
): Command[] {
  const { kind } = command;
  if (
    kind !== 'tapeDepth' &&
    kind !== 'tapeSnapshot' &&
    kind !== 'tapeTrade' &&
    kind !== 'tapeBar' &&
    kind !== 'setMark'
  ) {
    return [command];
  }
  const { market } = command;
  const book = books.get(market) ?? new ShiftedBook();
  books.set(market, book);
  const opening: Command[] = [];
  if (isAfter && book.ticks === null) {
    const price = priceOf(command);
    if (price !== null) {
      const ticks = 5 + Math.floor(price * (0.002 + 0.01 * random.next()));
      book.ticks = random.below(2) === 0 ? ticks : -Math.min(ticks, Math.floor(price / 2));
    }
    const levels = book.moved(book.levels.values()).filter((level) => level.lots > 0);
    if (levels.length > 0) {
      opening.push({ kind: 'tapeSnapshot', timeUs: timeUs(command.timeUs), market, levels });
    }
  }
  const isMoved = book.ticks !== null;
  switch (kind) {
    case 'tapeDepth':
    case 'tapeSnapshot':
      if (!isMoved) book.take(command.levels, kind === 'tapeSnapshot');
      return [...opening, isMoved ? { ...command, levels: book.moved(command.levels) } : command];
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
      return command.levels[0]?.priceTicks ?? null;
    case 'tapeBar':
      return command.closeTicks;
    case 'tapeTrade':
    case 'setMark':
      return command.priceTicks;
    default:
      return null;
  }
}
