/** docs/SCENARIOS.md: its example passes, and it explains every key of the language. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SCENARIO_SHAPE } from '../../src/scenario/language.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import type { Shape } from '../../src/scenario/shape.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const page = readFileSync(new URL('../../docs/SCENARIOS.md', import.meta.url), 'utf8');

it('runs its example', () => {
  const example = /^```yaml\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
  const parsed = parseScenario(example, 'docs/SCENARIOS.md', keccak);
  if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
  const result = runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
  expect(result.steps.filter((step) => step.differences.length > 0)).toEqual([]);
});

/** All keys of the language's records. */
function keysOf(shape: Shape, seen: Set<Shape> = new Set()): string[] {
  if (seen.has(shape)) return [];
  seen.add(shape);
  switch (shape.kind) {
    case 'list':
    case 'map':
      return keysOf(shape.of, seen);
    case 'named':
      return keysOf(shape.shape(), seen);
    case 'textOr':
      return [...keysOf(shape.text, seen), ...keysOf(shape.other, seen)];
    case 'record':
      return Object.entries(shape.fields).flatMap(([key, field]) => [
        key,
        ...keysOf(field.shape, seen),
      ]);
    default:
      return [];
  }
}

it.each([...new Set(keysOf(SCENARIO_SHAPE))])('explains `%s`', (key) => {
  expect(page).toContain(`\`${key}\``);
});
