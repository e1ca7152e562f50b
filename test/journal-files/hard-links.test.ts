/** A folder of hard links is a second exchange: the first one's journal stays as it is. */
import { link, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALICE } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

test('a server on hard links of a folder does not write to the files of that folder', async () => {
  const path = await mkdtemp(join(tmpdir(), 'orrery-links-'));
  const deposit = { account: ALICE, amount: '1' };
  const first = await Served.start();
  await first.sim('deposit', deposit);
  for (const name of await readdir(first.path))
    await link(join(first.path, name), join(path, name));
  const second = await Served.start({ path });
  for (let i = 0; i < 3; i++) {
    for (const served of [first, second, second]) {
      expect((await served.sim('deposit', deposit)).status).toBe(200);
    }
  }
  const hashes = [first, second].map(({ host }) => host.exchange.engine.stateHash());
  await first.stop();
  await second.stop();
  const again = [await Served.start({ path: first.path }), await Served.start({ path })];
  expect(again.map(({ recovery }) => recovery.stateHash)).toEqual(hashes);
  for (const served of again) await served.remove();
  await rm(path, { recursive: true, force: true });
});
