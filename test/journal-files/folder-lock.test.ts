/** The lock of a data folder: of the kernel, across processes and their namespaces. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DataFolder } from '../../src/journal-files/data-folder.ts';
import { FolderLock } from '../../src/journal-files/folder-lock.ts';
import { useFolder } from './folder.ts';

const folder = useFolder();
/** Of util-linux, like `flock`. */
const UNSHARE = 'unshare';
const COMPILED = new URL('../../dist/journal-files/data-folder.js', import.meta.url).href;

test('is held once, also within one process', () => {
  const first = FolderLock.take(folder());
  expect(first).not.toBeNull();
  expect(FolderLock.take(folder())).toBeNull();
  first?.release();
  const second = FolderLock.take(folder());
  expect(second).not.toBeNull();
  second?.release();
});

test('is not freed by a file that is deleted or replaced', async () => {
  const first = await DataFolder.open(folder());
  writeFileSync(join(folder(), 'lock'), '');
  await expect(DataFolder.open(folder())).rejects.toThrow('in use by another process');
  await first.unlock();
  await (await DataFolder.open(folder())).unlock();
});

test.each([
  ['a missing program', 'no-such-flock', /the program "no-such-flock" is missing; install/],
  ['a program that fails', 'exit 65', /exit code 65$/],
  ['a program that fails with a reason', 'echo bad descriptor >&2; exit 1', /: bad descriptor$/],
  ['a program that is killed', 'kill -9 $$', /ended by SIGKILL$/],
  ['a file system that grants every lock', 'exit 0', /is on a file system without locks/],
])('refuses %s', (_name, script, words) => {
  const program = script.startsWith('no-such') ? script : join(folder(), 'flock');
  if (program !== script) {
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
  }
  expect(() => FolderLock.take(folder(), { program })).toThrow(words);
  const held = FolderLock.take(folder());
  expect(held).not.toBeNull();
  held?.release();
});

test.each([
  ['NFS', 0x6969],
  ['CIFS', 0xff534d42],
  ['SMB', 0xfe534d42],
  ['9P', 0x01021997],
  ['FUSE', 0x65735546],
])('refuses a folder on %s', (name, type) => {
  expect(() => FolderLock.take(folder(), { typeOf: () => type })).toThrow(
    `${folder()}: is on a file system (${name}) whose locks may not reach other hosts; use a local disk`,
  );
});

/** Program and arguments of a process that is number 1 of its own namespace, where allowed. */
function isolated(): readonly string[] {
  const options = ['--map-root-user', '--pid', '--fork', '--kill-child'];
  return spawnSync(UNSHARE, [...options, 'true']).status === 0 ? [UNSHARE, ...options] : [];
}

/** A process that opens the folder; resolves with its line: its id and `open`, or the error. */
function holder(path: string, wrapper: readonly string[]): Promise<[ChildProcess, string]> {
  const script = `
    import { DataFolder } from ${JSON.stringify(COMPILED)};
    try {
      await DataFolder.open(${JSON.stringify(path)});
      console.log(process.pid + ' open');
      setInterval(() => undefined, 1000);
    } catch (error) {
      console.log(error.message);
    }`;
  const [file, ...args] = [...wrapper, process.execPath, '--input-type=module', '--eval', script];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve) => {
    child.stdout.once('data', (chunk: Buffer) => {
      resolve([child, chunk.toString().trim()]);
    });
  });
}

test('holds across namespaces of processes, and ends with kill -9 of its holder', async () => {
  const wrapper = isolated();
  const [first, opened] = await holder(folder(), wrapper);
  expect(opened).toBe(wrapper.length === 0 ? `${String(first.pid)} open` : '1 open');
  const [second, refused] = await holder(folder(), wrapper);
  expect(refused).toMatch(/in use by process \d+ on \S+; only one exchange can write to a folder$/);
  const ended = new Promise((resolve) => first.once('exit', resolve));
  first.kill('SIGKILL');
  await ended;
  await expect
    .poll(async () => {
      const [third, again] = await holder(folder(), wrapper);
      third.kill('SIGKILL');
      return again;
    })
    .toMatch(/ open$/);
  second.kill('SIGKILL');
});
