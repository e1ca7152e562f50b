/** Result of `orrery diff` as lines of text and as an object for programs. */
import Table from 'cli-table3';
import type { EngineEvent } from '../engine/events.ts';
import type { Exchange } from '../engine/exchange.ts';
import { describeEvent } from '../scenario/describe-event.ts';
import { changedRows, type Around, type ChangedRow } from '../journal/diff/around.ts';
import type { FieldDifference } from '../journal/diff/field-differences.ts';
import type { SequencedCommand } from '../journal/diff/journal-cursor.ts';
import type { JournalDiff, JournalSummary } from '../journal/diff/journal-diff.ts';
import { describeCommand } from '../journal/format/codec.ts';

/**
 * Names of the two journals, and their states around the first difference; null if there is none.
 */
export interface Sides {
  readonly a: string;
  readonly b: string;
  readonly around: { readonly a: Around; readonly b: Around } | null;
}

const MOST_STATE_ROWS = 20;
const MOST_CHANGED_ROWS = 40;

export function diffText(diff: JournalDiff, sides: Sides): string[] {
  const lines = [
    `a  ${sides.a}: ${summaryText(diff.a)}`,
    `b  ${sides.b}: ${summaryText(diff.b)}`,
    '',
    verdict(diff),
  ];
  if (diff.same) {
    return [
      ...lines,
      `chain hash  ${diff.a.chainHash ?? ''}`,
      `state hash  ${diff.a.stateHash ?? ''}`,
    ];
  }
  if (diff.config.length > 0) lines.push('', 'configuration', ...fieldLines(diff.config));
  if (diff.firstCommand !== null) {
    const { a, b, fields } = diff.firstCommand;
    lines.push(
      '',
      `first command that differs, after ${count(diff.commonCommands, 'equal command')}`,
      `  a  ${commandText(a)}`,
      `  b  ${commandText(b)}`,
      ...fieldLines(fields),
    );
  }
  if (diff.recorded !== null) {
    const { what, seq, a, b, computed } = diff.recorded;
    lines.push(
      '',
      `recorded ${what === 'stateHash' ? 'state hash' : 'chain hash'} after command ${String(seq)}`,
      `  a         ${a ?? 'none'}`,
      `  b         ${b ?? 'none'}`,
      `  replayed  ${computed ?? 'not replayed'}`,
    );
  }
  lines.push(...placeLines(diff, sides));
  if (diff.state.length > 0) {
    lines.push('', 'state at the end', ...stateEndLines(diff));
  }
  return lines;
}

function verdict({
  same,
  prefix,
  firstEvent,
  firstCommand,
  config,
  recorded,
  state,
}: JournalDiff): string {
  if (same) return 'same: configuration, commands and events';
  const other = prefix === 'a' ? 'b' : 'a';
  const differing = [
    config.length > 0 ? 'their configurations differ' : '',
    prefix !== null ? `${prefix} is a prefix of ${other}` : '',
    firstCommand !== null && prefix === null ? 'their commands differ' : '',
    firstEvent === null ? '' : 'their events differ',
    recorded !== null ? 'one was recorded by another engine version: hashes differ' : '',
    state.length > 0 ? 'their states at the end differ' : '',
  ].filter((what) => what !== '');
  const alike = firstEvent === null && recorded === null && state.length === 0;
  return `different: ${differing.join('; ')}${alike ? '; all events are equal' : ''}`;
}

function summaryText({ commands, complete, torn }: JournalSummary): string {
  const end = complete ? '' : ', not closed';
  const tail = torn === null ? '' : `, torn at byte ${String(torn.offset)}: ${torn.reason}`;
  return `${count(commands, 'command')}${end}${tail}`;
}

function fieldLines(fields: readonly FieldDifference[]): string[] {
  const width = Math.max(0, ...fields.map(({ field }) => field.length));
  return fields.map(
    ({ field, a, b }) => `     ${field.padEnd(width)}  ${a ?? 'absent'} | ${b ?? 'absent'}`,
  );
}

function placeLines(diff: JournalDiff, { around }: Sides): string[] {
  if (around === null) return [];
  const { a, b } = around;
  const lines: string[] = [];
  if (diff.firstEvent !== null) {
    const event = diff.firstEvent;
    lines.push(
      '',
      `first event that differs, after ${count(diff.commonEvents, 'equal event')}`,
      `  a  ${eventText(event.a, a.after)}`,
      `  b  ${eventText(event.b, b.after)}`,
      ...fieldLines(event.fields),
    );
  }
  lines.push('', ...contextLines('a', a), '', ...contextLines('b', b));
  const rows = changedRows(a, b);
  const differing = rows.filter(differs);
  // A crash changes hundreds of accounts: then only differing rows are shown.
  const shown = rows.length > MOST_CHANGED_ROWS ? differing : rows;
  if (rows.length > 0) lines.push('', 'state around it');
  if (shown.length > 0) lines.push(stateTable(shown));
  if (shown !== rows) {
    lines.push(`and ${count(rows.length - shown.length, 'figure')} with equal changes in both`);
  }
  return lines;
}

function contextLines(name: string, { earlier, command, later }: Around): string[] {
  return [
    `${name} around it`,
    ...earlier.map((entry) => `     ${commandText(entry)}`),
    `  →  ${commandText(command)}`,
    ...later.map((entry) => `     ${commandText(entry)}`),
  ];
}

function differs({ beforeA, beforeB, afterA, afterB }: ChangedRow): boolean {
  return beforeA !== beforeB || afterA !== afterB;
}

/** One column if both journals are equal, else `a | b`. */
function stateTable(rows: readonly ChangedRow[]): string {
  const table = new Table({
    head: ['', 'before', 'after', ''],
    style: { head: [], border: [], compact: true },
  });
  const cell = (a: string | null, b: string | null): string =>
    a === b ? (a ?? '–') : `a ${a ?? '–'}\nb ${b ?? '–'}`;
  let subject = '';
  for (const row of rows) {
    if (row.subject !== subject) table.push([{ colSpan: 4, content: row.subject }]);
    subject = row.subject;
    table.push([
      `  ${row.field}`,
      cell(row.beforeA, row.beforeB),
      cell(row.afterA, row.afterB),
      differs(row) ? '≠' : '',
    ]);
  }
  return table.toString();
}

function stateEndLines({ state }: JournalDiff): string[] {
  const shown = state.slice(0, MOST_STATE_ROWS);
  const lines = fieldLines(
    shown.map(({ subject, field, a, b }) => ({ field: `${subject} ${field}`, a, b })),
  );
  const more = state.length - shown.length;
  return more > 0 ? [...lines, `     and ${String(more)} more`] : lines;
}

function commandText(entry: SequencedCommand | null): string {
  if (entry === null) return 'nothing more';
  return `#${String(entry.seq)} ${fieldsText(describeCommand(entry.command))}`;
}

function eventText(event: EngineEvent | null, engine: Exchange): string {
  if (event === null) return 'nothing more';
  const place = `#${String(event.seq)}.${String(event.index)}`;
  return `${place} ${fieldsText(describe(event, engine))}`;
}

function describe(event: EngineEvent, engine: Exchange): Readonly<Record<string, unknown>> {
  return describeEvent(event, {
    engine,
    nameOf: (address) => address,
    orderName: (id) => id,
  });
}

function fieldsText({ kind, ...fields }: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(fields).flatMap(([key, value]) =>
    value === null || value === false ? [] : [`${key} ${plain(value)}`],
  );
  return `${String(kind)}: ${texts.join(', ')}`;
}

function plain(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const text = JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? field.toString() : field,
  );
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function count(n: number, what: string): string {
  return `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;
}

export function diffJson(diff: JournalDiff, { a, b, around }: Sides): Record<string, unknown> {
  const { firstCommand, firstEvent } = diff;
  const command = (entry: SequencedCommand | null): unknown =>
    entry === null ? null : { seq: entry.seq, ...describeCommand(entry.command) };
  const event = (found: EngineEvent | null, side: Around | undefined): unknown =>
    found === null || side === undefined
      ? null
      : { seq: found.seq, index: found.index, ...describe(found, side.after) };
  return {
    same: diff.same,
    prefix: diff.prefix,
    a: { path: a, ...diff.a },
    b: { path: b, ...diff.b },
    config: diff.config,
    commonCommands: diff.commonCommands,
    firstCommand: firstCommand && {
      a: command(firstCommand.a),
      b: command(firstCommand.b),
      fields: firstCommand.fields,
    },
    commonEvents: diff.commonEvents,
    firstEvent: firstEvent && {
      a: event(firstEvent.a, around?.a),
      b: event(firstEvent.b, around?.b),
      fields: firstEvent.fields,
    },
    recorded: diff.recorded,
    around: around && {
      a: aroundJson(around.a),
      b: aroundJson(around.b),
      state: changedRows(around.a, around.b),
    },
    stateAtEnd: diff.state,
  };

  function aroundJson({ earlier, command: at, later, events }: Around): unknown {
    return {
      earlier: earlier.map(command),
      command: command(at),
      events: events.length,
      later: later.map(command),
    };
  }
}
