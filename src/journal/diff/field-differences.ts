/** Field-by-field comparison: paths of differing fields, both values as text. */

export interface FieldDifference {
  /** Path such as `orders.0.lots`; empty if the values themselves differ. */
  readonly field: string;
  /** null if absent. */
  readonly a: string | null;
  readonly b: string | null;
}

/** True if two plain values are equal except in `but`. Faster than listing differences. */
export function alike(a: unknown, b: unknown, but: readonly string[] = []): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!(key in b)) return false;
    if (but.includes(key)) continue;
    if (!alike((a as Fields)[key], (b as Fields)[key])) return false;
  }
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

/** Differing fields in the order of `a`, then fields only in `b`. */
export function fieldDifferences(
  a: unknown,
  b: unknown,
  but: readonly string[] = [],
): FieldDifference[] {
  const left = leaves(a);
  const right = leaves(b);
  const found: FieldDifference[] = [];
  for (const field of new Set([...left.keys(), ...right.keys()])) {
    const [x = null, y = null] = [left.get(field), right.get(field)];
    if (x !== y && !but.includes(field)) found.push({ field, a: x, b: y });
  }
  return found;
}

function leaves(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    for (const [key, field] of entries) leaves(field, path === '' ? key : `${path}.${key}`, into);
    if (entries.length === 0 && path !== '') into.set(path, Array.isArray(value) ? '[]' : '{}');
  } else if (value !== undefined) into.set(path, leafText(value));
  return into;
}

function leafText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}
