/**
 * Canonical bytes of a record by its schema: in snapshots, and under the journal's config hash.
 * Literals are archived as text, so that a new one never changes the bytes of an old one.
 */
import { unreachable } from '../../base/assert.ts';
import { archiveList, ArchiveError, type Archive } from '../../base/archive.ts';
import type { RecordShape, RecordType, Shape } from '../schema/field-types.ts';

/** Saves `saved`, or loads when it is null. */
export function archiveRecord<T>(io: Archive, type: RecordType<T>, saved: T | null): T {
  return archiveShape(io, type, saved as object | null) as T;
}

function archiveShape(io: Archive, shape: RecordShape, saved: object | null): object {
  if (shape.section !== undefined) io.section(shape.section);
  const from = saved as Readonly<Record<string, unknown>> | null;
  const record = { ...shape.template };
  for (const { name, shape: of } of shape.fields) record[name] = archiveValue(io, of, from?.[name]);
  return record;
}

/** `saved` is undefined when the archive is being loaded. */
function archiveValue(io: Archive, shape: Shape, saved: unknown): unknown {
  switch (shape.type) {
    case 'number':
      return io.int((saved as number | undefined) ?? 0);
    case 'bigint':
      return io.bigint((saved as bigint | undefined) ?? 0n);
    case 'boolean':
      return io.bool(saved === true);
    case 'text':
      return io.text((saved as string | undefined) ?? '');
    case 'word': {
      const text = io.text((saved as string | undefined) ?? '');
      if (shape.words.includes(text)) return text;
      throw new ArchiveError(`'${text}' is not one of ${shape.words.join(', ')}`);
    }
    case 'optional':
      return io.bool((saved ?? null) !== null) ? archiveValue(io, shape.of, saved) : null;
    case 'list':
      return archiveList(io, (saved as readonly unknown[] | undefined) ?? [], (item) =>
        archiveValue(io, shape.of, item ?? undefined),
      );
    case 'record':
      return archiveShape(io, shape, (saved as object | undefined) ?? null);
    default:
      return unreachable(shape);
  }
}
