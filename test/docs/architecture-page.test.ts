/** docs/ARCHITECTURE.md shows the modules of .ci/rooms.cjs. `ORRERY_UPDATE=1` writes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatPage } from './format-page.ts';

interface Room {
  readonly name: string;
  readonly holds: string;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
  readonly pure: boolean;
}

const { ROOMS } = createRequire(import.meta.url)('../../.ci/rooms.cjs') as {
  readonly ROOMS: readonly Room[];
};
const PAGE = join(import.meta.dirname, '../../docs/ARCHITECTURE.md');

/** Imports that no longer path implies. The list is a graph without cycles, lowest first. */
function directImports(room: Room, rooms: readonly Room[]): string[] {
  const byName = new Map(rooms.map((other) => [other.name, other]));
  const below = (name: string): string[] =>
    (byName.get(name)?.imports ?? []).flatMap((next) => [next, ...below(next)]);
  const implied = new Set(room.imports.flatMap(below));
  return room.imports.filter((name) => !implied.has(name));
}

function diagram(rooms: readonly Room[]): string {
  const lines = rooms
    .filter(({ name }) => name !== 'cli')
    .flatMap((room) => [
      room.pure ? `    ${room.name}` : `    ${room.name}:::platform`,
      ...directImports(room, rooms).map((name) => `    ${room.name} --> ${name}`),
    ]);
  return [
    ...['```mermaid', 'flowchart BT', ...lines],
    ...['    classDef platform stroke-dasharray: 4', '```'],
  ].join('\n');
}

const names = (list: readonly string[]): string => list.map((name) => `\`${name}\``).join(', ');

function table(rooms: readonly Room[]): string {
  const rows = [...rooms].reverse().map(({ name, holds, imports, packages, pure }) => {
    const all = imports.length === rooms.length - 1 ? 'every module' : names(imports);
    const used = names(packages.map((pattern) => pattern.replace('[^/]+', '*')));
    return `| \`${name}\` | ${holds} | ${pure ? 'yes' : 'no'} | ${all} | ${used} |`;
  });
  return [
    '| module | content | deterministic | may import | npm packages |',
    ...['| --- | --- | --- | --- | --- |', ...rows],
  ].join('\n');
}

function withPart(page: string, name: string, text: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [start, end] = [page.indexOf(open), page.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`docs/ARCHITECTURE.md: no ${open} … ${close}`);
  return `${page.slice(0, start + open.length)}\n\n${text}\n\n${page.slice(end)}`;
}

test('diagram and table of the architecture page are those of the dependency rules', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const written = await formatPage(
    withPart(withPart(page, 'diagram', diagram(ROOMS)), 'rooms', table(ROOMS)),
  );
  if (process.env['ORRERY_UPDATE'] === '1') writeFileSync(PAGE, written);
  expect(readFileSync(PAGE, 'utf8')).toBe(written);
});

test('the diagram omits arrows that a longer path implies, and no others', () => {
  const room = (name: string, imports: string[]): Room => ({
    ...{ name, imports, holds: '', packages: [], pure: true },
  });
  const rooms = [room('a', []), room('b', ['a']), room('c', ['a', 'b']), room('d', ['a'])];
  expect(rooms.map((each) => directImports(each, rooms))).toEqual([[], ['a'], ['b'], ['a']]);
});

test('no row of the page stands twice', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [, places = ''] = page.split('## Where a rule lives');
  const subjects = places.split('\n').flatMap((line) => /^\| (\S[^|]*?) +\|/.exec(line)?.[1] ?? []);
  expect(subjects.length).toBeGreaterThan(50);
  expect(subjects.filter((subject, i) => subjects.indexOf(subject) !== i)).toEqual([]);
});
