import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CampaignState } from '../../src/cli/fuzz/campaign-state.ts';
import type { CampaignPlan } from '../../src/fuzz/campaign.ts';
import { writeOutput, writeWholeFile } from '../../src/platform/whole-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-whole-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('writers of one file do not meet, and leave nothing beside it', async () => {
  const path = join(folder, 'file');
  const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(1000));
  await Promise.all(texts.map((text) => writeWholeFile(path, new TextEncoder().encode(text))));
  expect(texts).toContain(readFileSync(path, 'utf8'));
  expect(readdirSync(folder)).toEqual(['file']);
});

test('of overlapping saves of a campaign the last one is on disk', async () => {
  const campaign = new CampaignState({} as CampaignPlan);
  const saves = Array.from({ length: 10 }, (_, i) => {
    campaign.runs = i;
    return campaign.save(folder);
  });
  await Promise.all(saves);
  const saved = JSON.parse(readFileSync(join(folder, 'campaign.json'), 'utf8')) as { runs: number };
  expect(saved.runs).toBe(9);
});

test('a process that exits during a write leaves no temporary file', async () => {
  const place = mkdtempSync(join(folder, 'exit-'));
  const path = join(place, 'page');
  const before = process.listeners('exit');
  const lists: string[][] = [];
  const content = function* (): Generator<string> {
    yield 'a'.repeat(300_000);
    lists.push(readdirSync(place));
    for (const one of process.listeners('exit')) if (!before.includes(one)) one(130);
    lists.push(readdirSync(place));
  };
  await expect(writeWholeFile(path, content())).rejects.toThrow('page');
  expect(lists).toEqual([[expect.stringMatching(/^page\.partial-/)], []]);
  expect(process.listeners('exit')).toEqual(before);
});

test('pieces of text and bytes are written in their order', async () => {
  const path = join(folder, 'pieces');
  const long = 'é'.repeat(300_000);
  const pieces = ['a', 'b', new Uint8Array([99]), 'd', long, '', new Uint8Array(0), 'e'];
  await writeWholeFile(path, pieces);
  expect(readFileSync(path, 'utf8')).toBe(`abcd${long}e`);
});

test('a pipe that a user names is written to and stays', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const [read] = await Promise.all([readFile(path, 'utf8'), writeOutput(path, ['a', 'b'])]);
  expect(read).toBe('ab');
  expect(lstatSync(path).isFIFO()).toBe(true);
});

test('a pipe in place of an own file is replaced, without a wait for its reader', async () => {
  const path = join(folder, 'own');
  execFileSync('mkfifo', [path]);
  await writeWholeFile(path, ['a', 'b']);
  expect(readFileSync(path, 'utf8')).toBe('ab');
});

test.each(['of a file', 'without a file'])('a symbolic link %s stays', async (name) => {
  const target = join(folder, name, 'target');
  mkdirSync(join(folder, name));
  if (name === 'of a file') writeFileSync(target, 'before');
  const path = join(folder, name, 'link');
  symlinkSync('target', path);
  await writeWholeFile(path, ['after']);
  expect(readlinkSync(path)).toBe('target');
  expect(readFileSync(target, 'utf8')).toBe('after');
});
