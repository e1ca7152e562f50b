/**
 * The published schema is generated from the code, and accepts every scenario that the parser
 * accepts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Compile } from 'typebox/schema';
import { scenarioJsonSchema } from '../../src/scenario/json-schema.ts';

const SCHEMA = new URL('../../src/scenario/scenario.schema.json', import.meta.url);
const FOLDER = new URL('../../scenarios/', import.meta.url);
const validator = Compile(JSON.parse(scenarioJsonSchema()) as object);

it('is published as it is generated', async () => {
  await expect(scenarioJsonSchema()).toMatchFileSnapshot(SCHEMA.pathname);
});

describe('accepts', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
  it.each(files)('%s', (file) => {
    const document: unknown = parse(readFileSync(new URL(file, FOLDER), 'utf8'));
    expect(validator.Check(document)).toBe(true);
  });
});

it.each([
  ['an unknown key', { orrery: 1, steps: [], stepz: [] }],
  ['an unknown key in a step', { orrery: 1, steps: [{ wiat: '1s' }] }],
  [
    'an unknown key in a repeated step',
    { orrery: 1, steps: [{ repeat: { times: 1, steps: [{ x: 1 }] } }] },
  ],
  ['a missing version', { steps: [] }],
  ['missing steps', { orrery: 1 }],
  ['an unknown endpoint', { orrery: 1, steps: [{ do: 'submitOder' }] }],
  ['an unknown outcome', { orrery: 1, steps: [{ expect: { outcome: 'lost' } }] }],
  ['a level of three', { orrery: 1, steps: [{ tapeDepth: { bids: [['1', '2', '3']] } }] }],
])('refuses %s', (_, document) => {
  expect(validator.Check(document)).toBe(false);
});
