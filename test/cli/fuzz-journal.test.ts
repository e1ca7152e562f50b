/** `orrery fuzz --journal` of a journal that a crash has cut. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';

let lines: string[] = [];
let json: unknown = null;
vi.mock('../../src/cli/cli-support.ts', async (original) => ({
  ...(await original<typeof CliSupport>()),
  print: (line: string) => {
    lines.push(line);
  },
  printJson: (value: unknown) => {
    json = value;
  },
}));

const folder = mkdtempSync(join(tmpdir(), 'orrery-fuzz-journal-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('names the torn tail, whose commands no check has seen', async () => {
  const journal = join(folder, 'fees.orrery');
  expect(await main(['run', 'scenarios/fees.yaml', '--journal', journal])).toBe(0);
  const whole = readFileSync(journal);
  lines = [];
  expect(await main(['fuzz', '--journal', journal])).toBe(0);
  expect(lines).toEqual([expect.stringMatching(/^10 commands: all checks pass/)]);

  writeFileSync(journal, whole.subarray(0, whole.length >> 1));
  lines = [];
  expect(await main(['fuzz', '--journal', journal])).toBe(0);
  expect(lines).toEqual([
    expect.stringMatching(/^torn tail {3}at byte \d+: /),
    expect.stringMatching(/^\d commands?: all checks pass/),
  ]);
  expect(await main(['fuzz', '--journal', journal, '--json'])).toBe(0);
  expect(json).toMatchObject({ torn: { offset: expect.any(Number) as number }, violation: null });
});
