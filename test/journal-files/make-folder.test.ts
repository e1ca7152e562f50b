/** Folders for what is written: those above are made as well, and where none can be made the error comes at once and names the folder. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/platform/make-folder.ts';
import { useFolder } from './folder.ts';

const at = useFolder();

test('makes the folders above, and leaves one that is there', async () => {
  const path = join(at(), 'a', 'b', 'c');
  await makeFolder(path);
  await makeFolder(path);
  await Promise.all([makeFolder(join(path, 'd', 'e')), makeFolder(join(path, 'd', 'f'))]);
  expect(statSync(join(path, 'd', 'f')).isDirectory()).toBe(true);
});

test('a file in the way is named', async () => {
  const file = join(at(), 'file');
  writeFileSync(file, '');
  await expect(makeFolder(file)).rejects.toThrow(`${file}: is there and is no folder`);
  const below = join(file, 'x', 'y');
  await expect(makeFolder(below)).rejects.toThrow(`${below}: a part of the path is not a folder`);
  const long = join(at(), 'x'.repeat(300));
  await expect(makeFolder(long)).rejects.toThrow(`${long}: the name is too long`);
});

// A file system that takes no folders: the platform's own recursion goes round for ever there.
test.runIf(existsSync('/proc/self'))('where none can be made it says so', async () => {
  await expect(makeFolder('/proc/x/y')).rejects.toThrow('/proc/x/y: no folder can be made here');
});
