/** Creates folders with their parents; a failure is reported at once and names the folder. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/platform/make-folder.ts';
import { useFolder } from './folder.ts';

const at = useFolder();

test('creates parent folders, and keeps an existing folder', async () => {
  const path = join(at(), 'a', 'b', 'c');
  await makeFolder(path);
  await makeFolder(path);
  await Promise.all([makeFolder(join(path, 'd', 'e')), makeFolder(join(path, 'd', 'f'))]);
  expect(statSync(join(path, 'd', 'f')).isDirectory()).toBe(true);
});

test('a file in the way is named', async () => {
  const file = join(at(), 'file');
  writeFileSync(file, '');
  await expect(makeFolder(file)).rejects.toThrow(`${file}: exists and is not a folder`);
  const below = join(file, 'x', 'y');
  await expect(makeFolder(below)).rejects.toThrow(
    `${below}: a component of the path is not a folder`,
  );
  const long = join(at(), 'x'.repeat(300));
  await expect(makeFolder(long)).rejects.toThrow(`${long}: file name too long`);
});

// On a file system without folders, Node's recursive mkdir never returns.
test.runIf(existsSync('/proc/self'))('reports a file system without folders', async () => {
  await expect(makeFolder('/proc/x/y')).rejects.toThrow('/proc/x/y: cannot create a folder here');
});
