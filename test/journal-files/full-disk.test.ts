/** Full disks: a start opens the folder, and a backup names the disk that is full. */
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DataFolder } from '../../src/journal-files/data-folder.ts';
import { backupFolder } from '../../src/journal-files/backup-folder.ts';
import { NoncesOnDisk } from '../../src/journal-files/used-nonces.ts';
import { fileError } from '../../src/platform/file-error.ts';
import { Served } from '../http/served.ts';

/** Whether whole files find no space. */
const disk = vi.hoisted(() => ({ isFull: false }));
vi.mock('../../src/platform/whole-file.ts', async (original) => {
  const real = await original<typeof import('../../src/platform/whole-file.ts')>();
  return {
    writeWholeFile: (path: string, content: Uint8Array) =>
      disk.isFull
        ? Promise.reject(fileError(path, Object.assign(new Error(), { code: 'ENOSPC' })))
        : real.writeWholeFile(path, content),
  };
});

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return {
    ...real,
    copyFile: (from: string, to: string) =>
      disk.isFull
        ? Promise.reject(Object.assign(new Error(), { code: 'ENOSPC' }))
        : real.copyFile(from, to),
  };
});

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'orrery-'));
  disk.isFull = false;
});
afterEach(() => rm(path, { recursive: true, force: true }));

describe('a data folder', () => {
  test('is opened without the name of its holder', async () => {
    await symlink('/dev/full', join(path, 'lock'));
    const folder = await DataFolder.open(path);
    await expect(DataFolder.open(path)).rejects.toThrow('in use by');
    await folder.unlock();
  });

  test('loses all incomplete files of a crash', async () => {
    const names = ['logins.partial-17-3', 'snapshot-0000000000000005.bin.partial-17-0'];
    for (const name of [...names, 'next-segment.partial', 'old.partial-17']) {
      await writeFile(join(path, name), 'x');
    }
    const folder = await DataFolder.open(path);
    expect(await readdir(path)).toEqual(['lock']);
    await folder.unlock();
  });
});

describe('nonces of logins', () => {
  test('stay used where the file cannot be rewritten', async () => {
    const [used, later] = [crypto.randomUUID(), crypto.randomUUID()];
    const first = await NoncesOnDisk.open(path, 0);
    await first.use(used, 1000, 0);
    await first.close();
    disk.isFull = true;
    const second = await NoncesOnDisk.open(path, 0);
    expect(await second.use(used, 1000, 0)).toBe(false);
    expect(await second.use(later, 1000, 0)).toBe(true);
    await second.close();
    const third = await NoncesOnDisk.open(path, 0);
    expect(await third.use(later, 1000, 0)).toBe(false);
    await third.close();
  });

  test('leave the file while the server runs', async () => {
    const store = await NoncesOnDisk.open(path, 0);
    const uses = 9000;
    for (let minute = 0; minute < 7; minute++) {
      const logins = Array.from({ length: uses }, () => crypto.randomUUID());
      await Promise.all(logins.map((nonce) => store.use(nonce, minute, minute)));
    }
    await store.close();
    const lines = (await readFile(join(path, 'logins'), 'utf8')).match(/[0-9a-f-]{36} \d+/g);
    expect(lines!.length).toBeLessThan(7 * uses);
  });
});

test('a backup on a full disk names its own file', async () => {
  const from = join(path, 'var');
  const served = await Served.start({ path: from });
  await served.stop();
  disk.isFull = true;
  const to = join(path, 'backup');
  await expect(backupFolder(from, to)).rejects.toThrow(`${to}/journal-`);
});
