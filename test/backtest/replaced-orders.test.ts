/**
 * A recording of single orders has a moved order as a removal and an addition. A strategy sees the
 * book after both, however the recording is read.
 */
import { expect, test } from 'vitest';
import { runBacktest, type TapeBatch } from '../../src/backtest/run-backtest.ts';
import type { Command, TapeL3 } from '../../src/engine/commands.ts';
import { lots, marketId, priceTicks, timeUs } from '../../src/num/units.ts';
import { entryOf, inputOf, START_US } from './made-up.ts';

type Event = Pick<TapeL3, 'action' | 'side'> & { ref: number; price: number; size: number };

const at = (seconds: number, { ref, price, size, ...event }: Event): Command => ({
  ...{ kind: 'tapeL3', timeUs: timeUs(START_US + seconds * 1_000_000), market: marketId(0), ref },
  ...{ ...event, priceTicks: priceTicks(price), lots: lots(size) },
});
const bid = { side: 'bid', ref: 1, size: 5 } as const;

const TAPE: readonly Command[] = [
  at(1, { action: 'add', side: 'ask', ref: 9, price: 10_200, size: 4 }),
  at(1, { action: 'add', side: 'bid', ref: 8, price: 9_900, size: 3 }),
  at(2, { action: 'add', ...bid, price: 10_000 }),
  // Moves up, and down again.
  at(3, { action: 'remove', ...bid, price: 10_000 }),
  at(3, { action: 'add', ...bid, price: 10_100 }),
  at(4, { action: 'remove', ...bid, price: 10_100 }),
  at(4, { action: 'add', ...bid, price: 10_000, size: 7 }),
  // Leaves, and another order joins at the same instant.
  at(5, { action: 'remove', ...bid, price: 10_000 }),
  at(5, { action: 'add', side: 'bid', ref: 7, price: 10_050, size: 2 }),
  // Leaves for a second.
  at(6, { action: 'remove', side: 'bid', ref: 7, price: 10_050, size: 2 }),
  at(7, { action: 'add', side: 'bid', ref: 7, price: 10_060, size: 2 }),
  // The recording ends with a removal.
  at(8, { action: 'remove', side: 'bid', ref: 7, price: 10_060, size: 2 }),
];

async function* inBatchesOf(size: number): AsyncGenerator<TapeBatch> {
  for (let i = 0; i < TAPE.length; i += size) {
    yield { commands: TAPE.slice(i, i + size) };
    await Promise.resolve();
  }
}

test.each([1, 4, 100])('the book between both is not shown, in batches of %i', async (size) => {
  const seen: string[] = [];
  const entry = entryOf({
    onBook: ({ timeUs: eventUs, bid: best }) => {
      seen.push(`${String((eventUs - START_US) / 1e6)} ${best?.price ?? '-'} ${best?.size ?? ''}`);
    },
  });
  await runBacktest(inputOf([entry], 10, { tape: inBatchesOf(size) }));
  expect(seen).toEqual([
    '1 - ',
    '1 990 0.003',
    '2 1000 0.005',
    '3 1010 0.005',
    '4 1000 0.007',
    '5 990 0.003',
    '5 1005 0.002',
    '6 990 0.003',
    '7 1006 0.002',
    '8 990 0.003',
  ]);
});
