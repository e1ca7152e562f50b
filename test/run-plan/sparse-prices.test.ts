/**
 * Recorded marks and indices that come rarely, or rarely in a part of the recording, do not freeze
 * their market (R-5.3b); a hole does, and the report states it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backtest, defineStrategy } from 'orrery/backtest';
import { afterAll, expect, test } from 'vitest';
import { DatasetWriter } from '../../src/tape-files/dataset-writer.ts';
import type { TapeRecord } from '../../src/tape/record.ts';
import { lots, priceTicks, timeUs } from '../../src/num/units.ts';

const FROM_US = 1_704_067_200_000_000;
const SECOND_US = 1_000_000;
const DAY = 86_400;

const folder = mkdtempSync(join(tmpdir(), 'orrery-sparse-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const idle = defineStrategy({ name: 'idle', parameters: {}, create: () => ({}) });

/** `count` times from `from`, `every` seconds apart. */
const times = (from: number, count: number, every: number): number[] =>
  Array.from({ length: count }, (_each, i) => from + i * every);

const level = (side: 'bid' | 'ask', ticks: number) => ({
  side,
  priceTicks: priceTicks(ticks),
  lots: lots(100),
});

async function writeRecording(
  name: string,
  kind: 'mark' | 'index',
  seconds: readonly number[],
): Promise<string> {
  const path = join(folder, name);
  const writer = await DatasetWriter.open(path, { id: 'x', job: 'x', mode: 'create' });
  const at = (second: number, line: number) => {
    const us = timeUs(FROM_US + second * SECOND_US);
    return { timeUs: us, localUs: us, line };
  };
  const records: TapeRecord[] = [
    { kind: 'snapshot', ...at(0, 1), lastId: 1, levels: [level('bid', 999), level('ask', 1001)] },
    ...seconds.map((second, i) => ({ kind, ...at(second, i + 2), priceTicks: priceTicks(1000) })),
  ];
  for (const record of records) await writer.write(record);
  await writer.endFile({ name, sha256: name, bytes: 0 }, null);
  await writer.finish(
    { symbol: 'X', format: 'csv', source: '', licence: '' },
    { symbol: 'X', tickSize: '0.1', lotSize: '0.1', inverse: false },
  );
  return path;
}

test.each([
  ['an index every five minutes', 'index', times(0, 20, 300), 0],
  ['a mark every hour', 'mark', times(0, 20, 3600), 0],
  [
    'marks every second, then every five minutes',
    'mark',
    [...times(0, 1800, 1), ...times(1800, 40, 300)],
    0,
  ],
  // Ten intervals of ten seconds are the limit.
  [
    'marks with a hole of ten days',
    'mark',
    [...times(0, 120, 10), ...times(10 * DAY, 120, 10)],
    10 * DAY - 1190 - 100,
  ],
] as const)('R-5.3b: %s', async (name, kind, seconds, frozen) => {
  const data = await writeRecording(name, kind, seconds);
  const { markets, report } = await backtest({ strategy: idle, data });
  expect(Math.round((markets[0]?.frozenUs ?? -1) / SECOND_US)).toBe(frozen);
  expect(JSON.stringify(report).includes(`X was frozen for`)).toBe(frozen > 0);
});
