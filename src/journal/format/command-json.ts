/**
 * Commands from JSON: the inverse of `describeCommand`, whose form `orrery inspect --json` prints.
 * Numbers may be text, so that none loses digits. Optional fields may be left out for null.
 */
import { UserError } from '../../base/user-error.ts';
import type { Command } from '../../engine/commands.ts';
import { COMMANDS, REFERENCED } from '../../engine/schema/command-schema.ts';
import type { RecordShape, Shape } from '../../engine/schema/field-types.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';

type Row = Readonly<Record<string, unknown>>;

/** A field of a command that is missing, unknown or out of range. */
export class CommandError extends UserError {
  override readonly name = 'CommandError';
  readonly code = 'command';
}

/** `nowUs`: time of a command without `timeUs`. Throws `CommandError` with field and limit. */
export function parseCommand(value: unknown, nowUs: TimeUs): Command {
  const row = rowOf(value, 'command');
  const { kind, timeUs: at, ...fields } = row;
  const kinds = Object.keys(COMMANDS);
  if (typeof kind !== 'string' || !Object.hasOwn(COMMANDS, kind)) {
    throw fault('kind', `must be one of ${kinds.join(', ')}`);
  }
  const { body } = schemaOfKind(kind as Command['kind'], fields['reference'] !== undefined);
  const time = at === undefined ? nowUs : timeUs(whole(at, 'timeUs', 0, MAX_SAFE));
  if (time < nowUs) throw fault('timeUs', `must not be before now, ${String(nowUs)}`);
  return { kind, timeUs: time, ...recordOf(body, fields, '') } as unknown as Command;
}

function schemaOfKind(
  kind: Command['kind'],
  isReferenced: boolean,
): { readonly body: RecordShape } {
  return isReferenced && (kind === 'deposit' || kind === 'withdraw')
    ? REFERENCED[kind]
    : COMMANDS[kind];
}

const MAX_SAFE = Number.MAX_SAFE_INTEGER;
const MAX_WORD = 2 ** 32 - 1;
const fault = (field: string, what: string): CommandError => new CommandError(`${field}: ${what}`);

function rowOf(value: unknown, path: string): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw fault(path, 'must be a map');
  }
  return value as Row;
}

function recordOf(shape: RecordShape, row: Row, path: string): Row {
  const known = new Set<string>();
  const entries = shape.fields.map(({ name, shape: of }): [string, unknown] => {
    const flag = of.type === 'word' || of.type === 'optional' ? of.jsonFlag : undefined;
    known.add(name);
    if (flag !== undefined) known.add(flag);
    const at = `${path}${name}`;
    if (of.type === 'word' && flag !== undefined && row[name] === undefined) {
      return [name, of.words[flagOf(row[flag], `${path}${flag}`) ? 1 : 0]];
    }
    return [name, valueOf(of, row[name], at)];
  });
  const unknown = Object.keys(row).find((name) => !known.has(name));
  if (unknown !== undefined) throw fault(`${path}${unknown}`, 'unknown field');
  return Object.fromEntries(entries);
}

function valueOf(shape: Shape, value: unknown, path: string): unknown {
  switch (shape.type) {
    case 'optional':
      return value === undefined || value === null ? null : valueOf(shape.of, value, path);
    case 'number': {
      const max = shape.wide ? MAX_SAFE : MAX_WORD;
      return whole(value, path, shape.signed || shape.unit === 'ppm' ? -max : 0, max);
    }
    case 'bigint':
      return bigintOf(value, path);
    case 'boolean':
      return flagOf(value, path);
    case 'text':
      if (typeof value !== 'string') throw fault(path, 'must be text');
      if (shape.isAddress && !/^0x[0-9a-f]{40}$/.test(value)) {
        throw fault(path, 'must be an address: 0x and 40 lower-case hex digits');
      }
      return value;
    case 'word':
      if (!shape.words.includes(value as string)) {
        throw fault(path, `must be one of ${shape.words.join(', ')}`);
      }
      return value;
    case 'list':
      if (!Array.isArray(value)) throw fault(path, 'must be a list');
      return value.map((item: unknown, i) => valueOf(shape.of, item, `${path}[${String(i)}]`));
    case 'record': {
      if (shape.jsonList === true && Array.isArray(value)) {
        const items: readonly unknown[] = value;
        const row = Object.fromEntries(shape.fields.map(({ name }, i) => [name, items[i]]));
        return recordOf(shape, row, `${path}.`);
      }
      return recordOf(shape, rowOf(value, path), `${path}.`);
    }
  }
}

function flagOf(value: unknown, path: string): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw fault(path, 'must be true or false');
}

function whole(value: unknown, path: string, min: number, max: number): number {
  const number = isDigits(value) ? Number(value) : NaN;
  if (Number.isSafeInteger(number) && number >= min && number <= max) return number;
  throw fault(path, `must be a whole number from ${String(min)} to ${String(max)}`);
}

function bigintOf(value: unknown, path: string): bigint {
  const number = isDigits(value) ? BigInt(String(value)) : null;
  if (number !== null && BigInt.asIntN(64, number) === number) return number;
  throw fault(path, 'must be a whole number of 64 bits');
}

/** A number, a bigint, or decimal digits. */
function isDigits(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value);
}
