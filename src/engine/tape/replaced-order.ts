/** A single order that moves: a recording has its removal and its addition as two commands. */
import type { Command } from '../commands.ts';

/** A removal after which no book is shown yet: the next command may add the same order. */
export const isRemoval = (command: Command): boolean =>
  command.kind === 'tapeL3' && command.action === 'remove';

/** Whether the second command adds the order that the first removes, at the same instant. */
export function isReplacement(removal: Command, next: Command | undefined): boolean {
  return (
    removal.kind === 'tapeL3' &&
    removal.action === 'remove' &&
    next?.kind === 'tapeL3' &&
    next.action === 'add' &&
    next.ref === removal.ref &&
    next.market === removal.market &&
    next.timeUs === removal.timeUs
  );
}
