/**
 * A failure is never lost: its commands are on disk before shrinking starts, the best script so far
 * during it, and an error of the shrinker leaves both.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { reportFailure } from '../../src/cli/fuzz/failure-folder.ts';
import type { FuzzPool, ShrinkWatch } from '../../src/cli/fuzz/pool.ts';
import type { ShrinkReport } from '../../src/fuzz/campaign.ts';
import type { Failure } from '../../src/fuzz/fuzz-run.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { timeUs } from '../../src/num/units.ts';

const out = mkdtempSync(join(tmpdir(), 'orrery-report-'));
afterAll(() => {
  rmSync(out, { recursive: true, force: true });
});

const violation = { invariant: 'small', rule: 'R-1.6', says: 'stays small', detail: 'is large' };
const failure: Failure = {
  violation,
  config: DEFAULT_EXCHANGE_CONFIG,
  commands: [1, 2, 3].map((i) => ({
    kind: 'advanceTime',
    timeUs: timeUs(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs + i),
  })),
};
const reportOf = (text: string): ShrinkReport => ({
  shrunk: { violation, from: 3, to: 1, tests: 1, complete: false } as ShrinkReport['shrunk'],
  files: { 'README.md': text },
});

type Shrink = (folder: string, watch: ShrinkWatch) => Promise<ShrinkReport>;

/** A pool whose first report says `found`. */
function poolOf(folder: string, shrink: Shrink): FuzzPool {
  const pool = {
    reportFailure: () => Promise.resolve(reportOf('found')),
    shrinkFailure: (_failure: Failure, _origin: readonly string[], watch: ShrinkWatch) =>
      shrink(folder, watch),
  };
  return pool as unknown as FuzzPool;
}

const readme = (folder: string): string => readFileSync(join(folder, 'README.md'), 'utf8');

async function report(id: string, shrink: Shrink): Promise<string> {
  const pool = poolOf(join(out, `small-${id}`), shrink);
  return reportFailure(pool, failure, { out, id, origin: [], shrinkSeconds: 60, quiet: true });
}

test('the commands and a first report are on disk before shrinking starts', async () => {
  const folder = await report('first', (at) => {
    expect(existsSync(join(at, 'original.orrery'))).toBe(true);
    expect(readme(at)).toBe('found');
    return Promise.resolve(reportOf('shrunk'));
  });
  expect(readme(folder)).toBe('shrunk');
  const reader = new JournalReader(readFileSync(join(folder, 'original.orrery')));
  let commands = 0;
  for (let frame = reader.next(); frame !== null; frame = reader.next()) commands += 1;
  expect(commands).toBe(3);
});

test('a crash while shrinking leaves the best script so far', async () => {
  const folder = await report('crash', (_at, { onBest }) => {
    onBest(reportOf('better'));
    return Promise.reject(new Error('out of memory'));
  });
  expect(readme(folder)).toBe('better');
});

test('shrinking ends at its limit', async () => {
  const pool = poolOf('', async (_at, { isOver }) => {
    while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 5));
    return reportOf('in time');
  });
  const limits = { shrinkSeconds: 0.05, quiet: true };
  const folder = await reportFailure(pool, failure, { out, id: 'limit', origin: [], ...limits });
  expect(readme(folder)).toBe('in time');
});
