/** After the end of the data nothing trades on the last book but answers, and `onStop`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import { main } from '../../src/cli/main.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';
import { DATASET } from '../run-plan/plans.ts';
import { entryOf, inputOf, START_US } from './made-up.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-end-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const SECONDS = 5;
const END_US = START_US + SECONDS * 1_000_000;

/** Buys once in 300 ms, for ever. */
const buys: Strategy['onStart'] = async (context) => {
  await context.sleep(1_000_000);
  for (;;) {
    await context.submit({ side: 'buy', size: '0.001' });
    await context.sleep(300_000);
  }
};

test.each([
  ['without onStop', undefined],
  ['with one that returns', () => undefined],
  [
    'with one that awaits an answer',
    async (context) => {
      await context.position();
    },
  ],
] satisfies (readonly [string, Strategy['onStop']])[])(
  'a loop of sleeps ends with the data, %s',
  async (_, onStop) => {
    const strategy: Strategy = { onStart: buys, ...(onStop === undefined ? {} : { onStop }) };
    const { strategies } = await runBacktest(inputOf([entryOf(strategy)], SECONDS));
    const sent = strategies[0]!.orders.map(({ sentUs }) => sentUs);
    expect(sent.length).toBeGreaterThan(10);
    expect(sent.filter((us) => us > END_US)).toEqual([]);
  },
);

test('onStop may sleep, and close the position', async () => {
  let closedUs = 0;
  const strategy: Strategy = {
    onStart: async (context) => {
      await context.sleep(1_000_000);
      await context.submit({ side: 'buy', size: '0.002' });
    },
    onStop: async (context) => {
      await context.sleep(2_000_000);
      await context.submit({ side: 'sell', size: '0.002' });
      closedUs = context.now();
    },
  };
  const { strategies } = await runBacktest(inputOf([entryOf(strategy)], SECONDS));
  expect(closedUs).toBeGreaterThan(END_US);
  expect(strategies[0]!.summary.positions[0]!.final).toBe('0');
});

test('a strategy of a file sets no timer after the end', async () => {
  const file = join(scratch, 'ticks.js');
  writeFileSync(
    file,
    `import { defineStrategy } from 'orrery/strategy';
    export default defineStrategy({
      name: 'ticks',
      parameters: {},
      create: () => ({
        onStart(context) {
          const tick = () => {
            context.log(String(context.now()));
            setTimeout(tick, 10_000);
          };
          tick();
        },
      }),
    });`,
  );
  const out = join(scratch, 'run');
  expect(await main(['backtest', file, '--data', DATASET, '--out', out, '--json'])).toBe(0);
  const { strategies } = await readRun(out);
  const { log, equity } = strategies[0]!;
  expect(log.length).toBeGreaterThan(30);
  expect(log.filter(({ timeUs }) => timeUs > equity.at(-1)!.timeUs)).toEqual([]);
});
