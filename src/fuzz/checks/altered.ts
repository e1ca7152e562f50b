/**
 * A record with one field changed, by its schema: another number, another literal, a value in place
 * of null. For checks that a hash or an encoding depends on every field.
 */
import type { RecordShape, Shape } from '../../engine/schema/field-types.ts';

type Row = Readonly<Record<string, unknown>>;

/** Words of 32 bits enter a hash one by one, so both are changed in turn. */
const HIGH_WORD = 2 ** 32;

/** Names of the fields, and of the fields of records in lists, as paths. */
interface Altered {
  readonly field: string;
  readonly record: object;
}

/** The record with its nth field changed; `turn` selects among the changes of a field. */
export function alterField(shape: RecordShape, record: object, nth: number, turn: number): Altered {
  const alterable = shape.fields.filter((one) => isAlterable(one.shape));
  const field = alterable[nth % alterable.length];
  if (field === undefined) return { field: '', record };
  const { name } = field;
  const before = (record as Row)[name];
  const { path, value } = alterValue(field.shape, before, turn);
  return { field: `${name}${path}`, record: { ...record, [name]: value } };
}

/** A literal without an alternative has no other value. */
const isAlterable = (shape: Shape): boolean => shape.type !== 'word' || shape.words.length > 1;

interface AlteredValue {
  readonly path: string;
  readonly value: unknown;
}

function alterValue(shape: Shape, value: unknown, turn: number): AlteredValue {
  switch (shape.type) {
    case 'number':
      return plain(otherNumber(value as number, shape.wide, turn));
    case 'bigint': {
      const whole = value as bigint;
      return plain(turn % 2 === 0 ? whole + 1n : whole + BigInt(HIGH_WORD));
    }
    case 'boolean':
      return plain(value !== true);
    case 'text':
      return plain(otherText(value as string, turn));
    case 'word': {
      const { words } = shape;
      const place = words.indexOf(value as string);
      const step = 1 + (turn % Math.max(1, words.length - 1));
      return plain(words[(place + step) % words.length]);
    }
    case 'optional':
      if (value === null) return plain(sample(shape.of));
      return turn % 3 === 2 ? plain(null) : alterValue(shape.of, value, turn);
    case 'list': {
      const items = value as readonly unknown[];
      const at = turn % (items.length + 1);
      if (at === items.length) return plain([...items, sample(shape.of)]);
      const { path, value: item } = alterValue(shape.of, items[at], turn);
      return {
        path: `[${String(at)}]${path}`,
        value: items.map((one, i) => (i === at ? item : one)),
      };
    }
    case 'record': {
      const { field, record } = alterField(shape, value as object, turn, turn >> 3);
      return { path: `.${field}`, value: record };
    }
  }
}

const plain = (value: unknown): AlteredValue => ({ path: '', value });

function otherNumber(value: number, wide: boolean, turn: number): number {
  if (turn % 2 === 0 || !wide) return value + 1;
  return value + HIGH_WORD <= Number.MAX_SAFE_INTEGER ? value + HIGH_WORD : value - HIGH_WORD;
}

function otherText(value: string, turn: number): string {
  if (value === '') return 'x';
  const at = turn % 3 === 0 ? value.length - 1 : turn % value.length;
  const other = value[at] === 'x' ? 'y' : 'x';
  return `${value.slice(0, at)}${other}${value.slice(at + 1)}`;
}

/** Some value of a type. */
function sample(shape: Shape): unknown {
  switch (shape.type) {
    case 'number':
      return 7;
    case 'bigint':
      return 7n;
    case 'boolean':
      return true;
    case 'text':
      return shape.isAddress ? `0x${'7'.repeat(40)}` : 'x';
    case 'word':
      return shape.words[0];
    case 'optional':
      return sample(shape.of);
    case 'list':
      return [];
    case 'record':
      return Object.fromEntries(shape.fields.map(({ name, shape: of }) => [name, sample(of)]));
  }
}
