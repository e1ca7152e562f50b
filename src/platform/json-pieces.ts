/**
 * JSON of plain data in pieces, so that a large file needs neither its whole text nor all of its
 * bytes in memory. Together the pieces are the text of `JSON.stringify(value, null, indent)`, but a
 * long array has one line for each entry: a quarter less text for a report with many fills, and one
 * line for each of them.
 */

/** Entries of a long array per piece; a shorter one is split like an object, by its entries. */
const ENTRIES = 64;
/** Values that are nested deeper are not split. */
const MAX_DEPTH = 4;

/** @param indent spaces per level; 0: one line */
export function jsonPieces(value: unknown, indent = 0): Generator<string> {
  return piecesOf(value, indent, 0);
}

/** The same as a file, which ends with a line break. */
export function* jsonFile(value: unknown, indent = 0): Generator<string> {
  yield* jsonPieces(value, indent);
  yield '\n';
}

function* piecesOf(value: unknown, indent: number, depth: number): Generator<string> {
  if (depth >= MAX_DEPTH || !isSplit(value)) yield textAt(value, indent, depth);
  else if (!Array.isArray(value)) yield* piecesOfObject(value, indent, depth);
  else if (value.length > ENTRIES) yield* piecesOfLong(value, indent, depth);
  else if (value.length === 0) yield '[]';
  else {
    for (const [i, entry] of (value as readonly unknown[]).entries()) {
      yield (i === 0 ? '[' : ',') + lineAt(indent, depth + 1);
      yield* piecesOf(entry, indent, depth + 1);
    }
    yield `${lineAt(indent, depth)}]`;
  }
}

function* piecesOfObject(value: object, indent: number, depth: number): Generator<string> {
  let begin = '{';
  for (const [name, field] of Object.entries(value) as [string, unknown][]) {
    // JSON has no such field.
    if (field === undefined || typeof field === 'function' || typeof field === 'symbol') continue;
    yield `${begin}${lineAt(indent, depth + 1)}${JSON.stringify(name)}:${indent > 0 ? ' ' : ''}`;
    begin = ',';
    yield* piecesOf(field, indent, depth + 1);
  }
  yield begin === '{' ? '{}' : `${lineAt(indent, depth)}}`;
}

function* piecesOfLong(
  value: readonly unknown[],
  indent: number,
  depth: number,
): Generator<string> {
  const between = `,${lineAt(indent, depth + 1)}`;
  for (let from = 0; from < value.length; from += ENTRIES) {
    const entries = value.slice(from, from + ENTRIES);
    // A value that JSON does not have is null in an array.
    const text =
      indent === 0
        ? JSON.stringify(entries).slice(1, -1)
        : entries.map((entry) => stringified(entry, 0) ?? 'null').join(between);
    yield (from === 0 ? `[${between.slice(1)}` : between) + text;
  }
  yield `${lineAt(indent, depth)}]`;
}

/** Whether a value has entries of its own; a `toJSON` gives another value. */
function isSplit(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}

/** The text of a value inside of `depth` arrays, which give it its indent, without theirs. */
function textAt(value: unknown, indent: number, depth: number): string {
  // A value that JSON does not have is null in an array.
  if (depth === 0 || indent === 0) return stringified(value, indent) ?? 'null';
  let wrapped = value;
  for (let i = 0; i < depth; i++) wrapped = [wrapped];
  const text = JSON.stringify(wrapped, null, indent);
  // A bracket and a line for each array: with the indents of 1 to depth, and of depth − 1 to 0.
  const before = 2 * depth + (indent * depth * (depth + 1)) / 2;
  const after = 2 * depth + (indent * depth * (depth - 1)) / 2;
  return text.slice(before, text.length - after);
}

/** Its declared type omits that some values, such as functions, have no JSON. */
function stringified(value: unknown, indent: number): string | undefined {
  return JSON.stringify(value, null, indent);
}

/** The break of a line before an entry of this depth. */
function lineAt(indent: number, depth: number): string {
  return indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`;
}
