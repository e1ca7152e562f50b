/**
 * Whether a value fits a schema of the contract. It has the keywords of signed requests only, and a
 * schema with any other fits nothing. Integers must be exact. A test compares it with a validator.
 */

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isSafeInteger,
  null: (value) => value === null,
  object: isObject,
  string: (value) => typeof value === 'string',
};

function fieldsFit({ properties, required, additionalProperties }: Schema, value: unknown) {
  const fields = properties as Readonly<Record<string, Schema>>;
  const needed = (required ?? []) as readonly string[];
  return (
    isObject(value) &&
    additionalProperties === false &&
    needed.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, inner]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return field !== undefined && fitsSchema(field, inner);
    })
  );
}

/** Code points of text, or items of a list. */
const lengthOf = (value: unknown): number => Array.from(value as Iterable<unknown>).length;

function keywordFits(schema: Schema, keyword: string, value: unknown): boolean {
  const rule = schema[keyword];
  switch (keyword) {
    case 'type':
    case 'format':
    case 'required':
    case 'additionalProperties':
      return true;
    case 'properties':
      return fieldsFit(schema, value);
    case 'items':
      return (value as readonly unknown[]).every((item) => fitsSchema(rule as Schema, item));
    case 'minItems':
    case 'minLength':
      return lengthOf(value) >= (rule as number);
    case 'maxItems':
    case 'maxLength':
      return lengthOf(value) <= (rule as number);
    case 'minimum':
      return (value as number) >= (rule as number);
    case 'maximum':
      return (value as number) <= (rule as number);
    case 'pattern':
      return new RegExp(rule as string, 'u').test(value as string);
    default:
      return false;
  }
}

export function fitsSchema(schema: Schema, value: unknown): boolean {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return anyOf.some((one) => fitsSchema(one as Schema, value));
  const hasType = typeof type === 'string' && TYPES[type]?.(value) === true;
  return hasType && Object.keys(schema).every((keyword) => keywordFits(schema, keyword, value));
}
