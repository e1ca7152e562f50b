/** Runs from memory equal runs from files, and read no file. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TapeBatch } from '../../src/backtest/run-backtest.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import type { PlannedStrategy } from '../../src/run-plan/run-plan.ts';
import { TapeMemory } from '../../src/run-plan/tape-memory.ts';
import { DATASET, example, plannedOf, planOf, RECORDED_FROM_US } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-memory-'));
let maker: PlannedStrategy;
beforeAll(async () => {
  maker = await plannedOf(example('market-maker'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A copy of the recording, whose tables `lose` deletes. */
function copyOf(name: string): { readonly data: string; readonly lose: () => void } {
  const data = join(folder, name);
  cpSync(DATASET, data, { recursive: true });
  const lose = (): void => {
    for (const path of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      if (path.endsWith('.parquet')) rmSync(join(data, path));
    }
  };
  return { data, lose };
}

async function ran(data: string, tapes?: TapeMemory, toUs = 20_000_000): Promise<string> {
  const plan = planOf([maker], { data, toUs: RECORDED_FROM_US + toUs });
  const { output } = await executePlan(plan, tapes === undefined ? {} : { tapes });
  return JSON.stringify([output.chainHash, output.stateHash, output.strategies]);
}

test('a second run needs no files and equals the first', async () => {
  const { data, lose } = copyOf('kept');
  const tapes = new TapeMemory();
  const plain = await ran(data);
  expect(await ran(data, tapes)).toBe(plain);
  lose();
  expect(await ran(data, tapes)).toBe(plain);
  expect(await ran(data, tapes)).toBe(plain);
  await expect(ran(data)).rejects.toThrow('no such file');
});

test('another range of the same data is another recording', async () => {
  const { data, lose } = copyOf('range');
  const tapes = new TapeMemory();
  await ran(data, tapes);
  lose();
  await expect(ran(data, tapes, 15_000_000)).rejects.toThrow('no such file');
});

test('a recording beyond the limit is read each time', async () => {
  const { data, lose } = copyOf('large');
  const tapes = new TapeMemory(1000);
  const plain = await ran(data, tapes);
  expect(tapes.bytes).toBe(0);
  expect(await ran(data, tapes)).toBe(plain);
  lose();
  await expect(ran(data, tapes)).rejects.toThrow('no such file');
});

test('the recording that was used last stays, one that was not read to its end does not', async () => {
  const batch = { commands: [{ kind: 'advanceTime', timeUs: 1 }] } as unknown as TapeBatch;
  let reads = 0;
  // eslint-disable-next-line @typescript-eslint/require-await
  async function* source(): AsyncGenerator<TapeBatch> {
    reads += 1;
    yield batch;
    yield batch;
  }
  // Two recordings of two commands fit.
  const tapes = new TapeMemory(800);
  const read = async (key: string): Promise<number> => {
    const before = reads;
    let commands = 0;
    for await (const { commands: each } of tapes.batches(key, source())) commands += each.length;
    expect(commands).toBe(2);
    return reads - before;
  };
  const stopped = tapes.batches('a', source());
  await stopped.next();
  await stopped.return(undefined);
  expect(await read('a')).toBe(1);
  expect(await read('b')).toBe(1);
  expect(await read('a')).toBe(0);
  expect(await read('c')).toBe(1);
  expect(await read('a')).toBe(0);
  expect(await read('b')).toBe(1);
});
