import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { recordedFailure } from '../../src/cli/time-machine/recorded-failure.ts';
import { World } from './journals.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-failure-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('checks the journal of a failure again, and leaves other folders alone', async () => {
  const world = new World();
  world.user(100);
  world.price(1000);
  const journal = world.bytes();
  expect(await recordedFailure(folder, journal)).toBeNull();
  for (const name of ['README.md', 'regression.test.ts']) writeFileSync(join(folder, name), '');
  expect(await recordedFailure(folder, journal)).toBeNull();
  writeFileSync(join(folder, 'requests.sh'), '');
  expect(await recordedFailure(folder, journal)).toEqual({
    seq: world.seq,
    text: expect.stringContaining('All checks pass with this version') as string,
  });
});
