/**
 * Servers on one journal under seeded faults: what clients saw is one order of commands, nothing
 * answered is lost, and nothing is done twice. Each planted bug of replication is found.
 */
import { describe, expect, test } from 'vitest';
import { EFFORT } from '../setup/effort.ts';
import { runSchedule } from './sim-cluster.ts';
import type { Flaw } from './sim-database.ts';

/** `run-schedules.ts` runs 100,000, in parts. */
const SCHEDULES = 100 * EFFORT;
/** Schedules in which a planted bug must show. */
const MOST_FOR_A_FLAW = 200;

const FLAWS: readonly Flaw[] = [
  'answer before commit',
  'no epoch in the append',
  'stale read of a leader',
  'stale read of a follower',
  'double take-over',
  'lost tail at take-over',
  'lost tail at promotion',
  'repeated append',
];

test(`no schedule of ${SCHEDULES} contradicts one order of commands`, async () => {
  let answered = 0;
  let takeovers = 0;
  for (let i = 0; i < SCHEDULES; i++) {
    const result = await runSchedule(`s${i}`);
    expect(result.contradiction, `schedule s${i}`).toBeNull();
    answered += result.answered;
    takeovers += result.takeovers;
  }
  // The schedules do something: commands are answered, and leaders change.
  expect(answered / SCHEDULES).toBeGreaterThan(20);
  expect(takeovers / SCHEDULES).toBeGreaterThan(1.5);
});

test('a schedule is the same each time', async () => {
  expect(await runSchedule('twice')).toEqual(await runSchedule('twice'));
});

describe('a planted bug is found', () => {
  test.each(FLAWS)('%s', async (flaw) => {
    for (let i = 0; i < MOST_FOR_A_FLAW; i++) {
      const { contradiction } = await runSchedule(`s${i}`, flaw);
      if (contradiction !== null) return;
    }
    expect.fail(`${MOST_FOR_A_FLAW} schedules do not show it`);
  });
});
