import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { realFolder } from '../../src/platform/make-folder.ts';

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-make-folder-')));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('a symbolic link stands for its folder, also for one that does not exist yet', () => {
  const path = (name: string): string => join(scratch, name);
  mkdirSync(path('folder/inner'), { recursive: true });
  symlinkSync('folder/inner', path('link'));
  symlinkSync('../new', path('folder/inner/later'));
  symlinkSync('link/later', path('two'));
  symlinkSync('cycle', path('cycle'));
  expect(realFolder(path('link'))).toBe(path('folder/inner'));
  expect(realFolder(path('link/later'))).toBe(path('folder/new'));
  expect(realFolder(path('two'))).toBe(path('folder/new'));
  expect(realFolder(path('none'))).toBe(path('none'));
  expect(realFolder(path('cycle'))).toBe(path('cycle'));
});
