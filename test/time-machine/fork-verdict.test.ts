/** The answer of a fork in sentences. */
import { expect, it } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { runBranch } from '../../src/web/time-machine/branch-run.ts';
import type { EditText } from '../../src/web/time-machine/edits.ts';
import { verdictOf } from '../../src/web/time-machine/fork-verdict.ts';
import { World } from './journals.ts';

function fall(margin: number) {
  const world = new World({ terms: { takerFee: '0.001' } });
  const [maker, taker] = [world.user(1e6), world.user(margin)];
  world.price(1000);
  world.order(maker, -1, 1000);
  const fill = world.order(taker, 1, 1000);
  world.order(maker, 1, 880);
  const crash = world.price(890);
  const timeline = Timeline.open(world.bytes());
  timeline.index();
  return { timeline, taker, fill, crash };
}

async function verdict(timeline: Timeline, edit: EditText): Promise<readonly string[]> {
  const of = await runBranch(timeline, [edit], () => false);
  const comparison = must(of ?? undefined, 'it is not stopped');
  // The edited command itself is not a difference that the edit caused.
  expect(comparison.outcomes).toEqual([]);
  return verdictOf(comparison, [edit]);
}

it('says whether more collateral saves the account', async () => {
  for (const [margin, expected] of [
    // 155 − 1 of fee − 110 is below 44.5; 1 % of 154 is enough.
    [155, 'Yes: 1 % more collateral saves u2.'],
    [130, 'No: with 1 % more collateral, u2 is still liquidated, at the same command.'],
  ] as const) {
    const { timeline, taker, fill, crash } = fall(margin);
    const edit = { kind: 'collateral', owner: 'u2', subaccount: taker, sharePpm: 10_000 } as const;
    const [answer] = await verdict(timeline, { ...edit, before: crash.seq });
    expect(answer).toBe(expected);
    const before = await verdict(timeline, { ...edit, owner: 'u1', before: fill.seq });
    expect(before[0]).toBe('u1 is not liquidated in the recorded run.');
  }
});

it('names what a run without a command saves, fills and earns', async () => {
  const { timeline, fill } = fall(130);
  const texts = await verdict(timeline, { kind: 'drop', seq: fill.seq });
  expect(texts).toEqual([
    'The fork saves u2 from liquidation.',
    'The fork has 2 fills fewer.',
    expect.stringMatching(/^The PnL of u\d is 0\.00 instead of /),
  ]);
});
