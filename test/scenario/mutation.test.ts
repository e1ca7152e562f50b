/**
 * Any edit of a scenario's text results in a list of faults with places, or in a run with a report.
 */
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const FOLDER = new URL('../../scenarios/', import.meta.url);
// These two have more than a thousand commands; the others are short.
const LONG = ['nonce-windows.yaml', 'black-friday.yaml'];
const TEXTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml') && !LONG.includes(name))
  .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
const SCRAPS = [
  '',
  '-',
  '0',
  '99999999999999999999',
  '.5',
  '1e9',
  ': ',
  '{',
  ']',
  '\n',
  '~',
  '$x',
  '__proto__',
  '"',
];

const edit = fc.record({
  at: fc.nat(6_000),
  length: fc.nat(12),
  by: fc.constantFrom(...SCRAPS),
});

it('survives any few edits of any scenario', () => {
  let ran = 0;
  let refused = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...TEXTS),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      (text, edits) => {
        const edited = edits.reduce((whole, { at, length, by }) => {
          const start = at % whole.length;
          return whole.slice(0, start) + by + whole.slice(start + length);
        }, text);
        const parsed = parseScenario(edited, 'x.yaml', keccak);
        if (parsed.ok) {
          ran += 1;
          expect(
            runScenario(parsed.scenario, { keccak, addressOf: addressOfName }).steps,
          ).not.toEqual([]);
          return;
        }
        refused += 1;
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { place } of parsed.problems) {
          expect(place.line).toBeGreaterThan(0);
          expect(place.column).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 1_000, seed: 20_240_101 },
  );
  // Both outcomes must be frequent.
  expect(ran).toBeGreaterThan(100);
  expect(refused).toBeGreaterThan(100);
});
