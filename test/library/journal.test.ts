/** `orrery/journal` as its users call it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressOfName, DEFAULT_EXCHANGE_CONFIG, quanta } from 'orrery';
import {
  exportJournal,
  FileError,
  JournalError,
  openJournal,
  RecordedExchange,
  replayJournal,
  verifyJournal,
} from 'orrery/journal';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'orrery-journal-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** More frames than one step of progress. */
const COMMANDS = 9000;
const recorded = new RecordedExchange(DEFAULT_EXCHANGE_CONFIG, { checkpointEvery: 1000 });
for (let i = 0; i < COMMANDS; i++) {
  recorded.submit({
    kind: 'deposit',
    timeUs: DEFAULT_EXCHANGE_CONFIG.genesisTimeUs,
    account: addressOfName(`account ${String(i % 7)}`),
    subaccountIndex: 0,
    amount: quanta(BigInt(i + 1)),
  });
}
const bytes = recorded.finish();
const file = join(folder, 'run.orrery');
writeFileSync(file, bytes);

test('a journal replays from its file and from its bytes', () => {
  const seen: number[] = [];
  const whole = replayJournal(file, { onProgress: (fraction) => seen.push(fraction) });
  expect(whole.mismatch).toBeNull();
  expect(whole.checkpoints).toBe(10);
  expect(whole.engine.stateHash()).toBe(recorded.engine.stateHash());
  expect(replayJournal(bytes).engine.chainHash()).toBe(recorded.engine.chainHash());
  expect(replayJournal(file, { untilSeq: 5 }).commands).toBe(5);
  expect(seen.at(-1)).toBe(1);
  expect(seen.length).toBeGreaterThan(1);
});

test('a replay ends with the reason of an aborted signal', () => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const options = {
    signal: controller.signal,
    onProgress: () => {
      controller.abort(reason);
    },
  };
  expect(() => replayJournal(file, options)).toThrow(reason);
  expect(() => verifyJournal(file, options)).toThrow(reason);
  expect(() => replayJournal(file, { untilSeq: -1 })).toThrow('untilSeq -1: must be a whole');
});

test('verification finds a byte that changed', () => {
  expect(verifyJournal(file)).toMatchObject({ isWhole: true, lastSeq: COMMANDS, damage: null });
  const damaged = Buffer.from(bytes);
  const middle = damaged.length >> 1;
  damaged[middle] = (damaged[middle] ?? 0) ^ 1;
  const path = join(folder, 'damaged.orrery');
  writeFileSync(path, damaged);
  expect(verifyJournal(path).isWhole).toBe(false);
  expect(() => replayJournal(path)).toThrow(JournalError);
});

test('the refusal of a torn journal names its file, and what reads the commands before', () => {
  const path = join(folder, 'torn.orrery');
  writeFileSync(path, bytes.subarray(0, bytes.length - 5));
  let error: unknown;
  try {
    replayJournal(path);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(JournalError);
  const place = `after command ${String(COMMANDS)}: torn tail, `;
  expect(error).toHaveProperty('message', expect.stringContaining(`${path}: journal at byte `));
  expect(error).toHaveProperty('message', expect.stringContaining(place));
  expect(error).toHaveProperty('hint', expect.stringContaining('orrery replay --recover'));
  expect(replayJournal(path, { recover: true }).commands).toBe(COMMANDS);
});

test('a plain export is the journal, and lines hold one frame each', async () => {
  const copy = join(folder, 'copy.orrery');
  const all = await exportJournal(file, copy);
  expect(all).toEqual({ frames: COMMANDS + 11, commands: COMMANDS, tornBytes: 0 });
  expect(readFileSync(copy).equals(bytes)).toBe(true);
  const lines = join(folder, 'run.jsonl');
  const range = { format: 'jsonl', from: 100, to: 102 } as const;
  expect((await exportJournal(file, lines, range)).commands).toBe(3);
  const seqs = readFileSync(lines, 'utf8').trim().split('\n');
  expect(seqs.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([100, 101, 102]);
});

test('a stopped export leaves no file', async () => {
  const reason = new Error('enough');
  const out = join(folder, 'stopped.orrery');
  const signal = AbortSignal.abort(reason);
  await expect(exportJournal(file, out, { signal })).rejects.toBe(reason);
  expect(existsSync(out)).toBe(false);
});

test.each([
  [{ from: 0 }, 'from 0: must be a whole number from 1'],
  [{ from: 3 }, 'from 3: a plain journal begins with command 1; use jsonl'],
  [{ format: 'jsonl', from: 3, to: 2 }, 'to 2: must be a whole number from 3'],
] as const)('an export refuses %j', async (options, message) => {
  await expect(exportJournal(file, join(folder, 'x'), options)).rejects.toThrow(message);
});

test('a path without a journal is named', () => {
  expect(() => openJournal(join(folder, 'none'))).toThrow('none: no such file or folder');
  expect(() => openJournal(join(folder, 'none'))).toThrow(FileError);
});
