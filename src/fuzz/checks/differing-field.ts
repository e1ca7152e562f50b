import type { Fields } from './records.ts';

/**
 * The first field of `expected` that a reply has differently; null if there is none. Numbers and
 * bigints of equal value are equal. Fields that are not expected are not compared.
 */
export function differingField(expected: unknown, found: unknown, path = ''): string | null {
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return `${path} is not a list`;
    if (found.length !== expected.length) {
      return `${path} has ${String(found.length)} entries, not ${String(expected.length)}`;
    }
    for (const [i, item] of expected.entries()) {
      const differs = differingField(item, found[i], `${path}[${String(i)}]`);
      if (differs !== null) return differs;
    }
    return null;
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof found !== 'object' || found === null) return `${path} is ${textOf(found)}`;
    for (const [name, value] of Object.entries(expected)) {
      const differs = differingField(value, (found as Fields)[name], `${path}.${name}`);
      if (differs !== null) return differs;
    }
    return null;
  }
  if (textOf(expected) === textOf(found)) return null;
  return `${path} is ${textOf(found)}, not ${textOf(expected)}`;
}

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
}
