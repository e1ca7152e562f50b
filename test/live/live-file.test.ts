import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LiveFile } from '../../src/cli/live-file.ts';
import type { LiveRecord } from '../../src/live/live-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-live-file-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A run whose log is a line longer each time that it is recorded. */
function growing() {
  const log: { timeUs: number; text: string }[] = [];
  return {
    records: () => log.length,
    complete: () => Promise.reject(new Error('not run')),
    record: (failure: string | null): LiveRecord => {
      log.push({ timeUs: log.length, text: 'line' });
      return {
        ...{ orrery: 'live', version: 1, strategy: 's', parameters: {}, clock: 'wall' },
        ...{ startedUs: 0, endedUs: 1, orders: [], fills: [], ends: [], equity: [] },
        log: [...log],
        failure,
      };
    },
  };
}

const read = (path: string): LiveRecord => JSON.parse(readFileSync(path, 'utf8')) as LiveRecord;

test('the record is on disk while the run goes, and says that it is not whole', async () => {
  const path = join(folder, 'live.json');
  const run = growing();
  const file = new LiveFile(path, run, { pauseMs: 5 });
  await expect.poll(() => existsSync(path) && read(path).log.length).toBeGreaterThan(2);
  expect(read(path).failure).toBe('the process ended before the run did');
  const last = run.record(null);
  await file.end(last);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(read(path)).toEqual(last);
});

test('a disk that refuses the record is reported once, and tried again', async () => {
  const gone = join(folder, 'gone');
  const path = join(gone, 'live.json');
  const lines: string[] = [];
  const run = growing();
  const file = new LiveFile(path, run, { pauseMs: 5, warn: (text) => lines.push(text) });
  await expect.poll(() => run.records()).toBeGreaterThan(5);
  expect(lines.join('')).toMatch(/^orrery: the record is not written yet: [^\n]*live\.json[^\n]*$/);
  mkdirSync(gone);
  await expect.poll(() => existsSync(path)).toBe(true);
  rmSync(gone, { recursive: true });
  await expect(file.end(run.record(null))).rejects.toThrow('live.json');
});
