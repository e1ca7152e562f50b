/** The vendored generator draws what seedrandom's alea draws. */
import seedrandom from 'seedrandom';
import { expect, test } from 'vitest';
import { Alea, type AleaState } from '../../src/virtual-time/alea.ts';

const SEEDS = ['', ' ', '0', '1', 'seed\u0000stream', '\u0000', 'Ω🙂', 'x'.repeat(1000)];
const numbered = Array.from({ length: 500 }, (_, i) => `seed ${String(i)}`);

test('it draws what seedrandom draws, and goes on from its states', () => {
  for (const seed of [...SEEDS, ...numbered]) {
    const theirs = seedrandom.alea(seed, { state: true });
    let ours = Alea.fromSeed(seed);
    for (let i = 0; i < 10; i++) {
      const draws = Array.from({ length: 100 }, () => [ours.next(), theirs()]);
      const differing = draws.filter(([mine, original]) => !Object.is(mine, original));
      expect(differing, seed).toEqual([]);
      expect(JSON.stringify(ours.state())).toBe(JSON.stringify(theirs.state()));
      ours = new Alea(JSON.parse(JSON.stringify(ours.state())) as AleaState);
    }
  }
});
