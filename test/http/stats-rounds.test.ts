/** Stats of accounts with very many subaccounts are sent in slices. */
import { expect, test } from 'vitest';
import type { ExchangeView } from '../../src/engine/read/views.ts';
import type { Held } from '../../src/http/feeds/watcher.ts';
import { StatsRounds } from '../../src/http/feeds/stats-rounds.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Each record takes a millisecond. */
function scene(counts: Readonly<Record<string, number>>) {
  let nowMs = 0;
  const slices: string[][] = [];
  const view = {
    subaccountsOf: (account: string) =>
      Array.from({ length: counts[account] ?? 0 }, (_, index) => ({
        id: `${account}${String(index)}`,
        index,
      })),
  } as unknown as ExchangeView;
  const rounds = new StatsRounds({
    view: () => view,
    send: (records) => {
      const slice: string[] = [];
      for (const { held, id } of records) {
        nowMs += 1;
        slice.push(`${(held.watcher as unknown as { name: string }).name} ${String(id)}`);
      }
      slices.push(slice);
    },
    nowMs: () => nowMs,
  });
  const watchers = new Map<string, object>();
  const hold = (name: string, account: string, indices: number[] | null = null): Held => {
    const watcher = watchers.get(name) ?? { name, allows: () => true };
    watchers.set(name, watcher);
    const subscription = { access: 'private', source: 'stats', account, indices, key: '' };
    return { watcher, subscription, active: true, isOneOfSeveral: false } as unknown as Held;
  };
  return { rounds, slices, hold };
}

test('a round sends two milliseconds of records in a turn', async () => {
  const { rounds, slices, hold } = scene({ a: 5 });
  rounds.all([hold('x', 'a')]);
  expect(slices).toEqual([['x a0', 'x a1']]);
  await turn();
  await turn();
  await turn();
  expect(slices).toEqual([['x a0', 'x a1'], ['x a2', 'x a3'], ['x a4']]);
});

test('a subscription gets its first record at once, beside a long round', async () => {
  const { rounds, slices, hold } = scene({ a: 4, b: 2 });
  rounds.all([hold('x', 'a')]);
  rounds.first(hold('y', 'b'));
  expect(slices[1]).toEqual(['y b0', 'x a2']);
  for (let i = 0; i < 4; i++) await turn();
  expect(slices.slice(2).flat()).toEqual(['y b1', 'x a3']);
});

test('the next time waits for a round that is not yet sent', async () => {
  const { rounds, slices, hold } = scene({ a: 3 });
  rounds.all([hold('x', 'a')]);
  rounds.all([hold('x', 'a')]);
  for (let i = 0; i < 4; i++) await turn();
  expect(slices.flat()).toEqual(['x a0', 'x a1', 'x a2']);
  rounds.all([hold('x', 'a')]);
  expect(slices.at(-1)).toEqual(['x a0', 'x a1']);
});

test('an ended subscription and a reset end their records', async () => {
  const { rounds, slices, hold } = scene({ a: 9, b: 9 });
  const held = hold('x', 'a');
  rounds.all([held, hold('x', 'b', [7])]);
  held.active = false;
  await turn();
  await turn();
  expect(slices.flat()).toEqual(['x a0', 'x a1', 'x b7']);
  rounds.all([hold('x', 'a')]);
  rounds.drop();
  await turn();
  await turn();
  expect(slices.flat().slice(3)).toEqual(['x a0', 'x a1']);
});

test('a watcher gets a subaccount once in a round', async () => {
  const { rounds, slices, hold } = scene({ a: 2 });
  rounds.all([hold('x', 'a', [1]), hold('x', 'a'), hold('y', 'a', [1])]);
  await turn();
  await turn();
  expect(slices.flat()).toEqual(['x a1', 'x a0', 'y a1']);
});
