/** `orrery journal` on complete, damaged, torn and compacted journals. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { JournalWriter } from '../../src/journal/format/frames.ts';
import { DataFolder } from '../../src/journal-files/data-folder.ts';
import { recover } from '../../src/journal-files/recover.ts';
import { listSegments } from '../../src/journal-files/segments.ts';
import { depositGroups, openIn, useFolder } from '../journal-files/folder.ts';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** Created once, copied for each test. */
const template = mkdtempSync(join(tmpdir(), 'orrery-'));
const scratch = useFolder();
const data = (): string => join(scratch(), 'var');
const inScratch = (name: string): string => join(scratch(), name);
let hash: string;
let last: number;

/** A folder of several segments with two snapshots, as written by a server. */
beforeAll(async () => {
  const exchange = await openIn(template, { segmentBytes: { first: 4096, max: 4096 } });
  await depositGroups(
    exchange,
    Array.from({ length: 60 }, () => 4),
  );
  await exchange.snapshot();
  await depositGroups(
    exchange,
    Array.from({ length: 30 }, () => 4),
  );
  hash = exchange.engine.stateHash();
  last = exchange.engine.seq;
  await exchange.close();
});
afterAll(() => {
  rmSync(template, { recursive: true, force: true });
});
beforeEach(() => {
  cpSync(template, data(), { recursive: true });
});

function journal(...args: string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'journal', ...args], {
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

test('inspect cuts the text of a recorded book, and --json has all of it', () => {
  const levels = Array.from({ length: 400 }, (_, i) => ['bid', 500_000 - i, 7]);
  const snapshot = { kind: 'tapeSnapshot', timeUs: 1704067200000000, market: 0, levels };
  const [scenario, file] = [inScratch('book.yaml'), inScratch('book.orrery')];
  const market = 'markets: [{ symbol: BTC-USD-PERP, recordedLiquidity: true }]';
  writeFileSync(
    scenario,
    `orrery: 1\ntitle: a\n${market}\nsteps:\n  - command: ${JSON.stringify(snapshot)}\n`,
  );
  const orrery = (...args: string[]): string =>
    spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8' }).stdout;
  expect(orrery('run', scenario, '--journal', file)).toContain('pass');
  const lines = orrery('inspect', file).split('\n');
  const shown = lines.find((line) => line.includes('tapeSnapshot","timeUs'));
  expect(shown).toMatch(/\["bid",\d+,\d*.*… of \d{4} characters; --json prints all$/);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(2100);
  const { frames } = JSON.parse(orrery('inspect', file, '--json')) as { frames: object[] };
  expect(frames).toContainEqual(expect.objectContaining({ kind: 'tapeSnapshot', levels }));
});

test('verify checks all hashes, and finds faults', () => {
  const { status, out } = journal('verify', data());
  expect(status).toBe(0);
  expect(out).toContain(`commands      ${String(last)}, from 1 to ${String(last)}`);
  expect(out).toContain('checkpoints   1 agree');
  expect(out.match(/snapshot-\d+\.bin: agrees/g)).toHaveLength(2);
  expect(out).toContain(`state hash    ${hash}`);
  expect(out.trimEnd().endsWith('all match')).toBe(true);

  const [, second] = listSegments(data());
  const bytes = readFileSync(second!.path);
  bytes[1500]! ^= 1;
  writeFileSync(second!.path, bytes);
  const damaged = journal('verify', data(), '--json');
  expect(damaged.status).toBe(1);
  expect(JSON.parse(damaged.out)).toMatchObject({
    isWhole: false,
    damage: expect.stringContaining(`${second!.path}: journal at byte`) as string,
  });
  bytes[1500]! ^= 1;
  writeFileSync(second!.path, bytes);

  const [snapshot] = readdirSync(data()).filter((name) => name.startsWith('snapshot'));
  const state = readFileSync(join(data(), snapshot!));
  state[state.length - 1]! ^= 1;
  writeFileSync(join(data(), snapshot!), state);
  const again = journal('verify', data());
  expect(again.status).toBe(1);
  expect(again.out).toContain(`${snapshot!}: damaged`);
  expect(again.out).toContain('NOT all match');
});

test('verify finds a hash that differs', () => {
  const { path } = listSegments(data()).at(-1)!;
  const { position, end } = recover(data());
  const writer = new JournalWriter(position);
  writer.chain(position.seq, position.timeUs, 'f'.repeat(32));
  const { bytes } = writer.takeGroup()!;
  const segment = readFileSync(path);
  segment.set(bytes, end.offset);
  writeFileSync(path, segment);
  const { status, out } = journal('verify', data());
  expect(status).toBe(1);
  expect(out).toContain(`MISMATCH      chainHash after command ${String(last)}`);
  expect(out).toContain(`journal     ${'f'.repeat(32)}`);
});

test('export writes one journal file that verifies and replays independently', () => {
  const out = inScratch('all.orrery');
  const exported = journal('export', data(), '--out', out);
  expect(exported).toMatchObject({ status: 0, err: '' });
  expect(exported.out).toMatch(new RegExp(`all\\.orrery: ${String(last)} commands, \\d+ bytes`));
  expect(journal('verify', out).out).toContain(`state hash    ${hash}`);
  expect(journal('inspect', out, '--limit', '0').out).toContain('format 1, semantics 3');

  expect(journal('export', data(), '--out', out, '--to', '100').status).toBe(0);
  expect(journal('verify', out).out).toContain('commands      100, from 1 to 100');

  const lines = journal('export', data(), '--json', '--from', '100', '--to', '102').out;
  const frames = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { seq: number; kind: string });
  expect(frames.filter(({ kind }) => kind === 'deposit').map(({ seq }) => seq)).toEqual([
    100, 101, 102,
  ]);
});

test('compact deletes segments before the oldest snapshot, and the rest is usable', () => {
  const before = listSegments(data()).map(({ name }) => name);
  const planned = journal('compact', data(), '--dry-run', '--json');
  const plan = JSON.parse(planned.out) as { dropped: { name: string }[]; kept: string[] };
  expect(plan).toMatchObject({ done: false });
  expect(plan.dropped.length).toBeGreaterThan(2);
  expect([...plan.dropped.map(({ name }) => name), ...plan.kept]).toEqual(before);
  expect(listSegments(data()).map(({ name }) => name)).toEqual(before);

  const done = journal('compact', data());
  expect(done).toMatchObject({ status: 0, err: '' });
  expect(done.out).toContain(`dropped ${plan.dropped[0]!.name}`);
  expect(listSegments(data()).map(({ name }) => name)).toEqual(plan.kept);
  expect(recover(data()).engine.stateHash()).toBe(hash);
  const verified = journal('verify', data());
  expect(verified.status).toBe(0);
  expect(verified.out).toContain(`from 244 to ${String(last)}`);
  expect(verified.out).toContain(`state hash    ${hash}`);
  expect(journal('compact', data()).out).toContain('nothing to delete');

  const refused = journal('export', data(), '--out', inScratch('x.orrery'));
  expect(refused.status).toBe(2);
  expect(refused.err).toContain('was compacted and starts after command 243');
  expect(journal('export', data(), '--json', '--to', '250').out).toContain('"seq":250');
});

test('a compacted folder without its snapshots is rejected with a message', () => {
  journal('compact', data());
  for (const name of readdirSync(data())) {
    if (name.startsWith('snapshot')) rmSync(join(data(), name));
  }
  const first = listSegments(data())[0]!.afterSeq;
  const words = `the journal starts after command ${String(first)}, and no snapshot has the state at that command`;
  expect(() => recover(data())).toThrow(words);
  expect(journal('verify', data())).toMatchObject({
    status: 2,
    err: expect.stringContaining(words) as string,
  });
});

test.each([
  [['verify', 'nowhere'], 'nowhere: no such file or folder'],
  [['verify', 'postgres://db/x'], '(a database: orrery journal pull copies it to a folder)'],
  [['compact', 'postgres://db/x'], '(a database: orrery journal pull copies it to a folder)'],
  [['export', 'VAR'], 'give --out for a file'],
  [['export', 'VAR', '--json', '--from', '0'], '--from must be a whole number from 1, got 0'],
  [['export', 'VAR', '--json', '--from', '9', '--to', '8'], '--from 9 is after --to 8'],
  [['export', 'VAR', '--out', 'SCRATCH/x', '--from', '2'], '--from requires --json'],
  [['export', 'VAR', '--out', 'VAR/journal.orrery'], 'is in the folder of the journal itself'],
  [['export', 'VAR', '--out', 'SCRATCH/no/x'], 'no: no such file or folder'],
  [['compact', 'nowhere'], 'nowhere: no such file or folder'],
  [['compact', 'SCRATCH'], 'no journal is in this folder'],
  [['shrink', 'VAR'], 'unknown command'],
  [[], 'missing <action>: inspect, verify'],
])('journal %j exits with 2 and the reason', (args, words) => {
  const filled = args.map((arg) => arg.replace('VAR', data()).replace('SCRATCH', scratch()));
  const { status, err } = journal(...filled);
  expect(err).toContain(words);
  expect(status).toBe(2);
});

test('an export into a segment by a symbolic link is refused', () => {
  const out = join(scratch(), 'link');
  symlinkSync(listSegments(data())[0]!.path, out);
  const { status, err } = journal('export', data(), '--out', out);
  expect(err).toContain('is in the folder of the journal itself');
  expect(status).toBe(2);
});

test('a folder in use is not compacted', async () => {
  const folder = await DataFolder.open(data());
  const { status, err } = journal('compact', data());
  expect(err).toContain(`in use by process ${String(process.pid)} on `);
  expect(status).toBe(2);
  await folder.unlock();
});
