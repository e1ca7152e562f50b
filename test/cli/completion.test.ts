/**
 * The script of `orrery completion` in a real bash, zsh and fish: in a project, where the command is only in
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

/** The line after these words and Tab in zsh, which has a terminal of its own. */
function insertedByZsh(line: string, folder: string): string {
  const program = `zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1= PS2= RPS1=; unsetopt beep prompt_cr prompt_sp; stty -echo 2> /dev/null"
    zpty -w shell 'eval "$SCRIPT"; bindkey "^I" expand-or-complete'
    zpty -w shell 'show() { print -r -- "<<$BUFFER>>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^X" show; print rea""dy'
    zpty -r -m shell text '*ready*' || exit 1
    zpty -n -w shell "$LINE"$'\\t\\C-x'
    zpty -r -m shell text '*<<*>>*' || exit 1
    print -r -- "$text"
    zpty -d shell`;
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', program], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH,
      HOME: project,
      TERM: 'dumb',
      ZDOTDIR: project,
      LINE: line,
      SCRIPT: completionScript('/bin/zsh'),
    },
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  return /<<(.*?)>>/s.exec(stdout.replaceAll('\r', ''))?.[1] ?? stdout;
}

const zsh = spawnSync('zsh', ['--version']).status === 0;
if (!zsh) console.warn('zsh is not installed: its completion is not tested (apt-get install zsh)');

test.runIf(zsh).each([
  ['npx orr', 'npx orrery '],
  ['npx orrery backt', 'npx orrery backtest '],
  ['orrery walk', 'orrery walkforward '],
])('in zsh, %j becomes %j', (line, expected) => {
  expect(insertedByZsh(line, join(project, 'a folder'))).toBe(expected);
});

/** What Tab offers at the end of a line in fish. */
function offeredByFish(line: string, folder: string, path: string): string[] {
  const program = 'eval "$SCRIPT"; complete -C "$LINE"';
  const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', program], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: path, HOME: project, LINE: line, SCRIPT: completionScript('/usr/bin/fish') },
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').flatMap((text) => text.split('\t')[0] || []);
}

const fish = spawnSync('fish', ['--version']).status === 0;
if (!fish)
  console.warn('fish is not installed: its completion is not tested (apt-get install fish)');

test.runIf(fish).each([
  ['npx orr', ['orrery']],
  ['npx orrery backt', ['backtest']],
  ['npx orrery backtest --da', ['--data']],
  ['orrery walk', ['walkforward']],
])('in fish, %j offers %j', (line, expected) => {
  expect(offeredByFish(line, join(project, 'a folder'), PATH)).toEqual(expected);
});

test.runIf(fish)('in fish, nothing is offered without the command', () => {
  expect(offeredByFish('orrery walk', tmpdir(), PATH)).toEqual([]);
});
