import { copyFileSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { openDataset, readStream } from '../../src/tape-files/dataset-files.ts';
import { RECORDED } from '../bench/long-tape.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-parts-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const { manifest } = await openDataset(RECORDED);
const { parts } = must(manifest.streams[0], 'the recording has a stream');
const [first, second] = parts;

/** A copy of the parts, of which one file has other bytes or is missing. */
function copy(name: string, change: (file: string) => void): string {
  const to = join(folder, name);
  for (const part of parts) {
    for (const { name: file } of [part.events, part.levels]) {
      mkdirSync(dirname(join(to, file)), { recursive: true });
      copyFileSync(join(RECORDED, file), join(to, file));
    }
  }
  change(join(to, must(second, 'the recording has two parts').levels.name));
  return to;
}

/** Records that are read before the end or an error. */
async function read(from: string): Promise<{ rows: number; error: string | null }> {
  let rows = 0;
  try {
    for await (const batch of readStream(from, parts, new Set())) rows += batch.length;
  } catch (error) {
    return { rows, error: (error as Error).message };
  }
  return { rows, error: null };
}

test('the next part is opened early, and its fault is thrown after the records before it', async () => {
  const whole = await read(RECORDED);
  expect(whole).toEqual({ rows: parts.reduce((sum, { rows }) => sum + rows, 0), error: null });
  const changed = copy('changed', (file) => {
    writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from([0])]));
  });
  const { rows } = must(first, 'the recording has a part');
  expect(await read(changed)).toEqual({
    rows,
    error: expect.stringMatching(/sha256 is/) as string,
  });
  const missing = copy('missing', (file) => {
    rmSync(file);
  });
  expect(await read(missing)).toEqual({
    rows,
    error: expect.stringMatching(/levels\.parquet: no such file/) as string,
  });
});

test('a reader that ends early leaves no fault of the next part behind', async () => {
  const lost: unknown[] = [];
  const onLost = (error: unknown): void => {
    lost.push(error);
  };
  process.on('unhandledRejection', onLost);
  const missing = copy('early', (file) => {
    rmSync(file);
  });
  for await (const batch of readStream(missing, parts, new Set())) {
    expect(batch.length).toBeGreaterThan(0);
    break;
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onLost);
  expect(lost).toEqual([]);
});
