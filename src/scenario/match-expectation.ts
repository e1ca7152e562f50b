/**
 * Matches expected against actual values. Maps match in part (exactly if `exact`), lists item by
 * item, plain numbers by value, quoted text by characters. Differences are reported by path.
 */
import { parseDecimal } from '../num/decimal.ts';
import { childPath, itemPath, type ScalarNode, type SourceNode } from './source-node.ts';

export interface Difference {
  /** Such as `body.orders[0].status`. */
  readonly path: string;
  readonly expected: string;
  readonly actual: string;
}

export interface MatchOptions {
  readonly exact: boolean;
  /** Value of an expected text under a key: a saved value, an account's address, or itself. */
  readonly resolve: (text: string, key: string | null) => unknown;
  /** Display text of an actual value: account addresses by name. */
  readonly show: (value: unknown) => string;
}

export function differences(
  expected: SourceNode,
  actual: unknown,
  path: string,
  options: MatchOptions,
  key: string | null = null,
): Difference[] {
  const differ = (what: string): Difference[] => [
    { path, expected: what, actual: options.show(actual) },
  ];
  switch (expected.kind) {
    case 'scalar': {
      if (scalarMatches(expected, actual, key, options)) return [];
      const wanted = showNode(expected);
      // Text and another kind of value may look alike: 5 and "5".
      if (wanted !== options.show(actual)) return differ(wanted);
      if (typeof actual !== 'string') return differ(JSON.stringify(wanted));
      return [{ path, expected: wanted, actual: JSON.stringify(actual) }];
    }
    case 'list': {
      if (!Array.isArray(actual)) return differ(showNode(expected));
      const items: readonly unknown[] = actual;
      if (items.length !== expected.items.length) {
        return differ(`${String(expected.items.length)} items: ${showNode(expected)}`);
      }
      return expected.items.flatMap((item, i) =>
        differences(item, items[i], itemPath(path, i), options, key),
      );
    }
    case 'map': {
      if (!isRecord(actual)) return differ(showNode(expected));
      const found = [...expected.entries].flatMap(([name, { value }]) => {
        const child = Object.hasOwn(actual, name) ? actual[name] : undefined;
        return differences(value, child, childPath(path, name), options, name);
      });
      if (!options.exact) return found;
      const extra = Object.keys(actual).filter((name) => !expected.entries.has(name));
      return [
        ...found,
        ...extra.map((name) => ({
          path: childPath(path, name),
          expected: ABSENT,
          actual: options.show(actual[name]),
        })),
      ];
    }
  }
}

/** Display text of a missing value. */
export const ABSENT = '(absent)';

/** A plain value on one line in YAML flow style; undefined is absent. */
export function showValue(value: unknown): string {
  if (value === undefined) return ABSENT;
  if (Array.isArray(value)) return `[${value.map(showValue).join(', ')}]`;
  if (isRecord(value)) {
    const fields = Object.entries(value).map(([key, field]) => `${key}: ${showValue(field)}`);
    return `{${fields.join(', ')}}`;
  }
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

/** An expected value on one line. */
export function showNode(node: SourceNode): string {
  switch (node.kind) {
    case 'scalar':
      return node.type === 'null' ? 'null' : node.text;
    case 'list':
      return `[${node.items.map(showNode).join(', ')}]`;
    case 'map':
      return `{${[...node.entries].map(([k, { value }]) => `${k}: ${showNode(value)}`).join(', ')}}`;
  }
}

function scalarMatches(
  expected: ScalarNode,
  actual: unknown,
  key: string | null,
  options: MatchOptions,
): boolean {
  switch (expected.type) {
    case 'null':
      return actual === null;
    case 'boolean':
      return actual === (expected.text === 'true');
    case 'number':
      return sameNumber(expected.text, actual);
    case 'text': {
      const wanted = options.resolve(expected.text, key);
      return typeof wanted === 'object'
        ? showValue(wanted) === showValue(actual)
        : wanted === actual;
    }
  }
}

function sameNumber(expected: string, actual: unknown): boolean {
  if (typeof actual !== 'string' && typeof actual !== 'number' && typeof actual !== 'bigint') {
    return false;
  }
  const wanted = parseDecimal(expected);
  const found = parseDecimal(String(actual));
  return (
    wanted !== null &&
    found !== null &&
    wanted.digits === found.digits &&
    wanted.scale === found.scale
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
