/** An error of the data is no result of a trial, since a log would keep it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { METRICS_DEFAULTS } from '../../src/metrics/options.ts';
import { runTrial } from '../../src/search/trial.ts';
import { openDataset } from '../../src/tape-files/dataset-files.ts';
import { writeDataset } from '../live/made-up-dataset.ts';
import { example, plannedOf, type planOf } from '../run-plan/plans.ts';

const ODD = `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'odd', parameters: {}, create: () => ({
  onBook() { throw new Error('a\\0b\\ud800c \\\\u0000 \\u{1f600}'); },
}) });
`;

const folder = mkdtempSync(join(tmpdir(), 'orrery-trial-'));
const data = join(folder, 'data');
let plan: ReturnType<typeof planOf>;
let events = '';
beforeAll(async () => {
  await writeDataset(data, [{ symbol: 'AAA', steps: 40, everyUs: 100_000, marksEvery: 2 }]);
  const [stream] = (await openDataset(data)).manifest.streams;
  events = join(data, must(stream?.parts[0], 'the stream has a part').events.name);
  const strategies = [await plannedOf(example('sma-cross'))];
  plan = { data, strategies, balance: '1', seed: '1', warmUpUs: 0 };
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const trial = () =>
  runTrial({ plan, parameters: {}, objective: 'sharpe', options: METRICS_DEFAULTS });

test('the error of a strategy has no character that a campaign could not store', async () => {
  const file = join(folder, 'odd.ts');
  writeFileSync(file, ODD);
  const planned = { ...plan, strategies: [await plannedOf(file)] };
  const task = { plan: planned, parameters: {}, objective: 'sharpe', options: METRICS_DEFAULTS };
  expect((await runTrial(task))?.error).toContain('a\ufffdb\ufffdc \\u0000 \u{1f600} (odd.ts:');
});

test('a damaged file of the data ends the trial with its error', async () => {
  writeFileSync(events, 'damaged');
  await expect(trial()).rejects.toThrow(`${events}: sha256 is`);
});

test('a file of the data that is missing ends the trial with its error', async () => {
  rmSync(events);
  await expect(trial()).rejects.toThrow(`${events}: no such file or folder`);
});
