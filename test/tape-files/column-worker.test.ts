/** Row groups decoded in a thread are those of the caller's own thread, as are errors. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { columnsInThread } from '../../src/tape-files/column-worker-client.ts';
import { openDataset, startDecoding } from '../../src/tape-files/dataset-files.ts';
import * as threads from '../../src/platform/start-thread.ts';
import { columnsOfParts } from '../../src/tape-files/part-files.ts';
import type { PartManifest } from '../../src/tape/manifest.ts';
import type { RecordColumns } from '../../src/tape/record-columns.ts';

const RECORDED = join(import.meta.dirname, '../../data/btcusdt-20240808');
vi.mock('../../src/platform/start-thread.ts', { spy: true });

let parts: readonly PartManifest[];
let scratch: string;
beforeAll(async () => {
  ({ parts } = must((await openDataset(RECORDED)).manifest.streams[0], 'the recording has one'));
  scratch = await mkdtemp(join(tmpdir(), 'orrery-columns-'));
  await cp(RECORDED, scratch, { recursive: true });
});
afterAll(() => rm(scratch, { recursive: true }));

/** Length and SHA-256 of each column of each group. */
async function all(groups: AsyncIterable<RecordColumns>): Promise<string[][]> {
  const list: string[][] = [];
  for await (const group of groups) list.push(digest(group));
  return list;
}

function digest(columns: RecordColumns): string[] {
  return Object.entries(columns).map(([name, values]: [string, Float64Array]) => {
    const hash = createHash('sha256').update(values).digest('hex');
    return `${name} ${values.constructor.name} ${String(values.length)} ${hash}`;
  });
}

/** The error of reading all groups, with its class. */
async function failure(groups: AsyncIterable<RecordColumns>): Promise<string> {
  const error: unknown = await all(groups).catch((reason: unknown) => reason);
  return error instanceof Error ? `${error.name}: ${error.message}` : 'none';
}

test('two streams at once have the groups of the own thread, and verified files are noted', async () => {
  const here = new Set<string>();
  const expected = await all(columnsOfParts(RECORDED, parts, here));
  const [there, other] = [new Set<string>(), new Set<string>()];
  const [first, second] = await Promise.all([
    all(columnsInThread(RECORDED, parts, there)),
    all(columnsInThread(RECORDED, parts, other)),
  ]);
  expect(expected.length).toBeGreaterThan(1);
  expect(first).toEqual(expected);
  expect(second).toEqual(expected);
  expect([...there].sort()).toEqual([...here].sort());
  expect(here.size).toBe(2 * parts.length);
});

test('a reader that stops early ends its stream, and the next one starts again', async () => {
  const [expected] = await all(columnsOfParts(RECORDED, parts, new Set()));
  for (let i = 0; i < 2; i++) {
    for await (const group of columnsInThread(RECORDED, parts, new Set())) {
      expect(digest(group)).toEqual(expected);
      break;
    }
  }
});

test('a thread ends by itself: one that is ended inside zlib ends the process', async () => {
  let code: unknown = 'runs';
  for await (const group of columnsInThread(RECORDED, parts, new Set())) {
    expect(digest(group).length).toBeGreaterThan(0);
    const thread = vi.mocked(threads.startThread).mock.results.at(-1)?.value as Worker;
    thread.once('exit', (own: number) => (code = own));
    break;
  }
  // 1 is the code of a thread that another ended.
  await vi.waitFor(() => {
    expect(code).toBe(0);
  }, 10_000);
});

test('missing, changed and damaged files have the same errors', async () => {
  const check = async (folder: string, list = parts): Promise<string> => {
    const expected = await failure(columnsOfParts(folder, list, new Set()));
    expect(await failure(columnsInThread(folder, list, new Set()))).toBe(expected);
    return expected;
  };
  expect(await check(join(scratch, 'none'))).toContain('FileError: ');
  const last = must(parts.at(-1), 'there are parts');
  const { events } = last;
  await writeFile(join(scratch, events.name), 'damaged');
  expect(await check(scratch)).toMatch(/^TapeError: .*sha256 is/);
  // With the right hash, the content is what fails.
  const sha256 = '7b0c1e9e9d8eb0e6ee8bd4ae5fe1f6e7c7d2b3b4b5b6b7b8b9babbbcbdbebfc0';
  const verified = new Set([events.name]);
  const list = [{ ...last, events: { ...events, sha256 } }];
  const expected = await failure(columnsOfParts(scratch, list, verified));
  expect(expected).toContain('TapeError: ');
  expect(await failure(columnsInThread(scratch, list, verified))).toBe(expected);
});

test('the thread of a long dataset starts before it is read, once', async () => {
  const started = vi.mocked(threads.startThread);
  started.mockClear();
  await startDecoding(join(scratch, 'none'));
  await startDecoding(RECORDED);
  expect(started).toHaveBeenCalledTimes(0);
  const manifest = join(scratch, 'manifest.json');
  const text = (await readFile(manifest, 'utf8')).replaceAll(/"rows": (\d+)/g, '"rows": 9$1');
  await writeFile(manifest, text);
  await startDecoding(scratch);
  expect(started).toHaveBeenCalledTimes(1);
  await all(columnsInThread(RECORDED, parts, new Set()));
  expect(started).toHaveBeenCalledTimes(1);
  await all(columnsInThread(RECORDED, parts, new Set()));
  expect(started).toHaveBeenCalledTimes(2);
});
