/**
 * A record with one field changed, by its schema: another number, another literal, a value in place
 * of null. For checks that a hash or an encoding depends on every field.
 */
import type { NumberShape, RecordShape, Shape } from '../../engine/schema/field-types.ts';

type Row = Readonly<Record<string, unknown>>;

/** Words of 32 bits enter a hash one by one, so both are changed in turn. */
const HIGH_WORD = 2 ** 32;
/** Above it a bigint becomes smaller: it stays an int64. */
const MIDDLE = 2n ** 62n;

/** Names of the fields, and of the fields of records in lists, as paths. */
interface Altered {
  readonly field: string;
  readonly record: object;
}

/**
 * The record with its nth field changed; `turn` selects among the changes of a field. With `far`
 * numbers also take other signs, and values beside the powers of two.
 */

export function alterField(
  shape: RecordShape,
  record: object,
  nth: number,
  turn: number,
  far = false,
): Altered {
  const alterable = shape.fields.filter((one) => isAlterable(one.shape));
  const field = alterable[nth % alterable.length];
  if (field === undefined) return { field: '', record };
  const { name } = field;
  const before = (record as Row)[name];
  const { path, value } = alterValue(field.shape, before, turn, far);
  return { field: `${name}${path}`, record: { ...record, [name]: value } };
}

/** A literal without an alternative has no other value. */
const isAlterable = (shape: Shape): boolean => shape.type !== 'word' || shape.words.length > 1;

interface AlteredValue {
  readonly path: string;
  readonly value: unknown;
}

function alterValue(shape: Shape, value: unknown, turn: number, far: boolean): AlteredValue {
  switch (shape.type) {
    case 'number':
      return plain(
        far && turn % 4 > 1
          ? farNumber(shape, turn)
          : otherNumber(value as number, shape.wide, turn),
      );
    case 'bigint': {
      const whole = value as bigint;
      const other = turn % 2 === 0 ? 1n : BigInt(HIGH_WORD);
      return plain(whole < MIDDLE ? whole + other : whole - other);
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
      return turn % 3 === 2 ? plain(null) : alterValue(shape.of, value, turn, far);
    case 'list': {
      const items = value as readonly unknown[];
      const at = turn % (items.length + 1);
      if (at === items.length) return plain([...items, sample(shape.of)]);
      const { path, value: item } = alterValue(shape.of, items[at], turn, far);
      return {
        path: `[${String(at)}]${path}`,
        value: items.map((one, i) => (i === at ? item : one)),
      };
    }
    case 'record': {
      const { field, record } = alterField(shape, value as object, turn, turn >> 3, far);
      return { path: `.${field}`, value: record };
    }
  }
}

const plain = (value: unknown): AlteredValue => ({ path: '', value });

function otherNumber(value: number, wide: boolean, turn: number): number {
  if (turn % 2 === 0 || !wide) return value + 1;
  return value + HIGH_WORD <= Number.MAX_SAFE_INTEGER ? value + HIGH_WORD : value - HIGH_WORD;
}

/** Bits at which the length of a number's bytes changes, or the words of a hash. */
const EDGE_BITS = [7, 14, 21, 28, 30, 31, 32, 35, 42, 49, 52] as const;
const BITS = 31;
const WIDE_BITS = 53;

/** A power of two, often one at an edge, or one less; negative ones for signed fields. */
function farNumber({ wide, signed }: NumberShape, turn: number): number {
  const most = wide ? WIDE_BITS : BITS;
  const edge = EDGE_BITS[(turn >> 3) % EDGE_BITS.length] ?? 0;
  const isEdge = (turn >> 2) % 2 === 0 && edge < most;
  const power = Number(1n << BigInt(isEdge ? edge : (7 * turn) % most));
  const beside = power - (turn % 3 === 0 ? 1 : 0);
  return signed && (turn >> 4) % 2 === 0 ? -beside : beside;
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
