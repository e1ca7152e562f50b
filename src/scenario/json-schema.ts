/**
 * Converts shapes to JSON Schema (2020-12), the published form of the scenario language for
 * editors.
 */
import { SCENARIO_SHAPE } from './language.ts';
import type { Shape } from './shape.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Text of `scenario.schema.json`. */
export function scenarioJsonSchema(): string {
  const defs = new Map<string, Json>();
  const root = toSchema(SCENARIO_SHAPE, defs);
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Orrery scenario',
    ...(root as object),
    $defs: Object.fromEntries(defs),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Text may be written without quotes, which YAML readers parse as a number. */
const TEXT_TYPES: Json = ['string', 'number'];

function toSchema(shape: Shape, defs: Map<string, Json>): Json {
  switch (shape.kind) {
    case 'anything':
      return {};
    case 'boolean':
      return { type: 'boolean' };
    case 'text':
      return shape.pattern === undefined
        ? { type: TEXT_TYPES }
        : { type: TEXT_TYPES, pattern: shape.pattern.source };
    case 'word':
      return { enum: shape.words };
    case 'decimal':
      return { type: TEXT_TYPES, pattern: '^-?\\d+(\\.\\d+)?$' };
    case 'whole':
      return { type: 'integer', minimum: shape.min, maximum: shape.max };
    case 'list':
      return {
        type: 'array',
        items: toSchema(shape.of, defs),
        ...(shape.min === undefined ? {} : { minItems: shape.min }),
        ...(shape.max === undefined ? {} : { maxItems: shape.max }),
      };
    case 'map':
      return {
        type: 'object',
        propertyNames: { pattern: shape.keys.pattern.source },
        ...(shape.min === undefined ? {} : { minProperties: shape.min }),
        additionalProperties: toSchema(shape.of, defs),
      };
    case 'record': {
      const fields = Object.entries(shape.fields);
      const required = fields.filter(([, field]) => field.required === true).map(([key]) => key);
      const properties = fields.map(([key, field]): [string, Json] => [
        key,
        { description: field.doc, ...(toSchema(field.shape, defs) as object) },
      ]);
      return {
        type: 'object',
        properties: Object.fromEntries(properties),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
      };
    }
    case 'textOr':
      return { anyOf: [toSchema(shape.text, defs), toSchema(shape.other, defs)] };
    case 'named': {
      if (!defs.has(shape.name)) {
        defs.set(shape.name, {});
        defs.set(shape.name, toSchema(shape.shape(), defs));
      }
      return { $ref: `#/$defs/${shape.name}` };
    }
  }
}
