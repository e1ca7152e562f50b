/** Requests that are in flight when a run ends, and what the report states of parameters. */
import { backtest } from 'orrery/backtest';
import { defineStrategy, integer } from 'orrery/strategy';
import { expect, test } from 'vitest';
import { DATASET } from './plans.ts';

const once = defineStrategy({
  name: 'once',
  parameters: {
    lots: integer(1, { min: 1, max: 9, describe: 'size of the order, thousandths' }),
    plain: integer(2, { min: 1, max: 9 }),
  },
  create: () => {
    let isSent = false;
    return {
      onBook(_book, context) {
        if (isSent) return;
        isSent = true;
        context.submit({ side: 'buy', size: '0.001' }).catch(() => undefined);
      },
    };
  },
});

const run = (latency: string) =>
  backtest({ strategy: once, data: DATASET, to: '2024-08-08T23:55:00Z', latency });

test.each([
  ['constant:feed=1ms,entry=1h,response=1ms', '1 request had not arrived', '0 answers had not'],
  ['constant:feed=1ms,entry=1ms,response=1h', '0 requests had not arrived', '1 answer had not'],
])('requests without an answer are a warning of the report: %s', async (latency, sent, back) => {
  const { report } = await run(latency);
  const note = report.data.find(({ title }) => title.startsWith('Requests in flight of once'));
  expect(note).toMatchObject({ isWarning: true });
  expect(note?.text).toContain(sent);
  expect(note?.text).toContain(back);
});

test('a run whose requests have answers has no such note, and describes its parameters', async () => {
  const { report } = await run('5ms');
  expect(report.data.filter(({ title }) => title.startsWith('Requests'))).toEqual([]);
  const parameters = report.assumptions.find(({ title }) => title.startsWith('Parameters'));
  expect(parameters?.text).toContain('lots 1 (size of the order, thousandths), plain 2;');
});
