/** Changes of a journal for a what-if. Commands are named by their number in the journal. */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';

export type Edit =
  | { readonly kind: 'drop'; readonly seq: number }
  /** Without one order of a command that places several; `nth` begins at 0. */
  | { readonly kind: 'dropOrder'; readonly seq: number; readonly nth: number }
  /** Another command in place of this one; ids in it are those of the journal. */
  | { readonly kind: 'replace'; readonly seq: number; readonly command: Command }
  /** A command before this one; `lastSeq + 1` appends. */
  | { readonly kind: 'insert'; readonly before: number; readonly command: Command }
  | { readonly kind: 'move'; readonly seq: number; readonly before: number }
  /** Multiplies the prices of an oracle, a mark or recorded data from one command to another. */
  | {
      readonly kind: 'scalePrices';
      readonly market: number;
      readonly fromSeq: number;
      readonly toSeq: number;
      /** In 1e-6: 1,010,000 raises prices by 1 %. */
      readonly factorPpm: number;
    }
  /** Other parameters of the exchange, from its first command on. */
  | { readonly kind: 'config'; readonly changes: Partial<ExchangeConfig> };

const PPM = 1_000_000;

/** First command that the edits affect. */
export function firstEdited(edits: readonly Edit[], baseSeq: number): number {
  const firsts = edits.map((edit) => {
    switch (edit.kind) {
      case 'drop':
      case 'dropOrder':
      case 'replace':
        return edit.seq;
      case 'insert':
        return edit.before;
      case 'move':
        return Math.min(edit.seq, edit.before);
      case 'scalePrices':
        return edit.fromSeq;
      case 'config':
        return baseSeq + 1;
    }
  });
  return Math.max(baseSeq + 1, Math.min(...firsts));
}

/** A command of the branch, and the command of the journal that it comes from; null: inserted. */
export interface Planned {
  readonly origin: number | null;
  readonly command: Command;
  /** Place of an order that the origin has and this command lacks; null without one. */
  readonly without: number | null;
}

/**
 * The commands of the branch in place of command `seq`, in order. `commandOf` reads a command of
 * the journal that moves here from elsewhere.
 */
export function plannedAt(
  edits: readonly Edit[],
  seq: number,
  command: Command | null,
  commandOf: (seq: number) => Command | null,
): Planned[] {
  const planned: Planned[] = [];
  for (const edit of edits) {
    if (edit.kind === 'insert' && edit.before === seq) {
      planned.push({ origin: null, command: edit.command, without: null });
    } else if (edit.kind === 'move' && edit.before === seq) {
      const moved = commandOf(edit.seq);
      if (moved !== null) planned.push({ origin: edit.seq, command: moved, without: null });
    }
  }
  if (command === null) return planned;
  const isGone = edits.some(
    (edit) => (edit.kind === 'drop' || edit.kind === 'move') && edit.seq === seq,
  );
  if (isGone) return planned;
  const replaced = edits.find((edit) => edit.kind === 'replace' && edit.seq === seq);
  let own = replaced?.kind === 'replace' ? replaced.command : command;
  for (const edit of edits) {
    if (edit.kind !== 'scalePrices' || seq < edit.fromSeq || seq > edit.toSeq) continue;
    own = withPrices(own, edit.market, (ticks) =>
      Math.max(1, Math.round((ticks * edit.factorPpm) / PPM)),
    );
  }
  const part = edits.find((edit) => edit.kind === 'dropOrder' && edit.seq === seq);
  if (part?.kind === 'dropOrder' && own.kind === 'placeOrders') {
    const orders = own.orders.filter((_, i) => i !== part.nth);
    if (orders.length === 0) return planned;
    planned.push({ origin: seq, command: { ...own, orders }, without: part.nth });
  } else planned.push({ origin: seq, command: own, without: null });
  return planned;
}

/** A command that sets prices, with other prices; any other command as it is. */
export function withPrices(
  command: Command,
  market: number,
  change: (ticks: number) => number,
): Command {
  if (!('market' in command) || command.market !== market) return command;
  const ticks = <T extends number>(value: T): T => change(value) as T;
  switch (command.kind) {
    case 'setIndex': {
      const priceTicks = ticks(command.priceTicks);
      // The text of the oracle no longer has these ticks; reads show the ticks.
      return { ...command, priceTicks, text: String(priceTicks) };
    }
    case 'setMark':
    case 'tapeTrade':
    case 'tapeL3':
      return { ...command, priceTicks: ticks(command.priceTicks) };
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes':
      return {
        ...command,
        levels: command.levels.map((level) => ({ ...level, priceTicks: ticks(level.priceTicks) })),
      };
    case 'tapeBar':
      return {
        ...command,
        openTicks: ticks(command.openTicks),
        highTicks: ticks(command.highTicks),
        lowTicks: ticks(command.lowTicks),
        closeTicks: ticks(command.closeTicks),
        quoteTicks: ticks(command.quoteTicks),
      };
    default:
      return command;
  }
}
