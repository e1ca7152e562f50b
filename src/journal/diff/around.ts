/**
 * One journal around one command: the states before and after it, its events, and its neighbours.
 */
import type { EngineEvent } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import { EVENTS } from '../../engine/schema/event-schema.ts';
import type { IdUnit } from '../../engine/schema/field-types.ts';
import { idsOf } from '../../engine/schema/map-ids.ts';
import { marketId, subaccountId } from '../../num/units.ts';
import { JournalCursor, type NamedJournal, type SequencedCommand } from './journal-cursor.ts';
import type { DiffOptions } from './journal-diff.ts';
import { marketRows, subaccountRows, type StateRow } from './state-rows.ts';

export interface Around {
  readonly before: Exchange;
  readonly after: Exchange;
  /** Events of the command; empty past the end of the journal. */
  readonly events: readonly EngineEvent[];
  readonly earlier: readonly SequencedCommand[];
  /** null past the end. */
  readonly command: SequencedCommand | null;
  readonly later: readonly SequencedCommand[];
}

/** Commands between two calls of `onProgress`. */
const STRETCH = 1024;

/**
 * Replays up to a command by sequence number; returns `context` commands on either side of it.
 * `onProgress` and `cancelled` are as in `diffJournals`; null if cancelled.
 */
export async function lookAround(
  source: NamedJournal,
  seq: number,
  context: number,
  { onProgress, cancelled }: DiffOptions = {},
): Promise<Around | null> {
  const cursor = new JournalCursor(source);
  const engine = new Exchange(cursor.header.config);
  const earlier: SequencedCommand[] = [];
  const take = (): SequencedCommand | null => {
    cursor.fill();
    const next = cursor.peek();
    if (next !== null) cursor.drop();
    return next;
  };
  let command = take();
  while (command !== null && command.seq < seq) {
    engine.apply(command.command);
    earlier.push(command);
    if (earlier.length > context) earlier.shift();
    if (cursor.commands % STRETCH === 0) {
      await onProgress?.(cursor.offset);
      if (cancelled?.() === true) return null;
    }
    command = take();
  }
  const before = engine.fork();
  const events: EngineEvent[] = [];
  if (command !== null) {
    engine.apply(command.command, (event) => {
      events.push(event);
    });
  }
  const later: SequencedCommand[] = [];
  while (command !== null && later.length < context) {
    const next = take();
    if (next === null) break;
    later.push(next);
  }
  return { before, after: engine, events, earlier, command, later };
}

/** A value that differs among four states: before and after, in either journal. */
export interface ChangedRow {
  readonly subject: string;
  readonly field: string;
  /** null if the value is absent. */
  readonly beforeA: string | null;
  readonly beforeB: string | null;
  readonly afterA: string | null;
  readonly afterB: string | null;
}

/** Values that changed or differ, for every subject of the events. */
export function changedRows(a: Around, b: Around): ChangedRow[] {
  const touched = [...a.events, ...b.events];
  const idsIn = (unit: IdUnit): Set<number> =>
    new Set(touched.flatMap((event) => idsOf(EVENTS[event.kind].body, event, unit)));
  const subaccounts = [...idsIn('subaccountId')].map(subaccountId);
  const markets = [...idsIn('marketId')].map(marketId);
  const rows = [a.before, b.before, a.after, b.after].map((engine) => {
    const of: StateRow[] = [
      ...markets
        .filter((id) => id < engine.markets().length)
        .flatMap((id) => marketRows(engine, id)),
      ...subaccounts
        .filter((id) => id < engine.subaccountCount)
        .flatMap((id) => subaccountRows(engine, id)),
    ];
    return new Map(of.map((row) => [`${row.subject}\n${row.field}`, row.value]));
  });
  const [beforeA, beforeB, afterA, afterB] = rows;
  const keys = new Set(rows.flatMap((of) => [...of.keys()]));
  return [...keys].flatMap((key) => {
    const [subject = '', field = ''] = key.split('\n');
    const row = {
      subject,
      field,
      beforeA: beforeA?.get(key) ?? null,
      beforeB: beforeB?.get(key) ?? null,
      afterA: afterA?.get(key) ?? null,
      afterB: afterB?.get(key) ?? null,
    };
    const stays = row.beforeA === row.afterA && row.beforeB === row.afterB;
    return stays && row.afterA === row.afterB ? [] : [row];
  });
}
