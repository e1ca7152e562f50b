/**
 * The script of `orrery completion` in a real bash: in a project, where the command is only in
 * `node_modules/.bin`, and where it is on the path.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { completionScript } from '../../src/cli/completion.ts';
import { CLI } from './serve-process.ts';

const project = mkdtempSync(join(tmpdir(), 'orrery-completion-'));
const commands = join(project, 'node_modules/.bin');
mkdirSync(commands, { recursive: true });
mkdirSync(join(project, 'a folder'));
writeFileSync(join(commands, 'orrery'), `#!/bin/sh\nexec node '${CLI}' "$@"\n`, { mode: 0o755 });
afterAll(() => {
  rmSync(project, { recursive: true });
});

/** What Tab offers after these words. */
function offered(words: readonly string[], folder: string, path: string): string[] {
  const program = `eval "$SCRIPT"
    COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 ))
    _orrery_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', program, '-', ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: path, SCRIPT: completionScript() },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

const PATH = process.env['PATH'] ?? '';

test.each([
  [['npx', 'orr'], ['orrery']],
  [['npx', 'orrery', 'back'], ['backtest']],
  [['npx', 'orrery', 'backtest', '--da'], ['--data']],
  [['orrery', 'walk'], ['walkforward']],
  [['npx', 'other', '--da'], []],
])('in a folder of a project, %j offers %j', (words, expected) => {
  expect(offered(words, join(project, 'a folder'), PATH)).toEqual(expected);
});

test('a command on the path is used elsewhere, and without one nothing is printed', () => {
  const installed = `${commands}${delimiter}${PATH}`;
  expect(offered(['orrery', 'walk'], tmpdir(), installed)).toEqual(['walkforward']);
  expect(offered(['orrery', 'walk'], tmpdir(), PATH)).toEqual([]);
});
