/** States of a user: counted over runs, and listed while no run has reached them. */
import { expect, test } from 'vitest';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { sometimes } from '../../src/fuzz/sometimes.ts';

test('states of a user are counted by event and by command', () => {
  const reached = sometimes({
    fills: { event: ({ kind }) => kind === 'orderFilled' },
    listings: { after: (_engine, { kind }) => kind === 'listMarket' },
    nothing: { event: () => false },
  });
  const profile = drawProfile('sometimes', { name: 'matching', commands: 300 });
  expect(runFuzz(profile, reached).failure).toBeNull();
  expect(reached.never()).toEqual(['nothing']);
  const counts = reached.counts();
  expect(counts['fills']).toBeGreaterThan(0);
  expect(counts['listings']).toBe(profile.markets.length);
});
