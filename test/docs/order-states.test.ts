/** The table of transitions is the one that docs/ORDER-STATES.md draws. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TRANSITIONS } from '../../src/engine/orders/states.ts';

test('docs/ORDER-STATES.md shows the table of transitions', () => {
  const text = readFileSync(new URL('../../docs/ORDER-STATES.md', import.meta.url), 'utf8');
  for (const { from, to, why } of TRANSITIONS) {
    const start = from === 'none' ? '[*]' : from;
    expect(text).toContain(`${start} --> ${to}: ${why}`);
  }
  expect(text.match(/-->/g)).toHaveLength(TRANSITIONS.length + 4);
});
