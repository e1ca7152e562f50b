/** `orrery run`: exit codes, output, written files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { replay } from '../../src/journal/replay/replay.ts';

const GOOD = 'orrery: 1\ntitle: Good\nsteps:\n  - oracle: { BTC-USD-PERP: 60000 }\n';
const BAD = `${GOOD}    expect: { balances: { vault: 1 } }\n`;
const WRONG = `${GOOD}  - { orcale: {} }\n`;

let folder = '';
let out = '';
let errors = '';

// Commands write directly to the file descriptors of standard output and error.
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  writeSync: (descriptor: number, bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString();
    if (descriptor === 1) out += text;
    else errors += text;
    return bytes.length;
  },
}));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-run-'));
  out = '';
  errors = '';
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('orrery run', () => {
  it('returns 0 if all pass, and prints it', async () => {
    const path = put('good.yaml', GOOD);
    expect(await main(['run', path])).toBe(0);
    expect(out).toMatch(/^pass {2}.*good\.yaml: Good\n {6}2 commands, state hash [0-9a-f]{64}\n$/);
  });

  it('returns 1 if an expectation fails, and prints which', async () => {
    put('good.yaml', GOOD);
    const path = put('bad.yaml', BAD);
    expect(await main(['run', folder])).toBe(1);
    expect(out).toContain(`FAIL  ${path}: Good`);
    expect(out).toContain(`${path}:4:5 steps[0] at +0s: oracle`);
    expect(out).toMatch(/balances\.vault\n +expected {2}1\n +actual {4}0\n/);
    expect(out).toContain('2 scenarios: 1 passed, 1 failed');
  });

  it('returns 2 for bad input before any run, with every place', async () => {
    put('a.yaml', GOOD);
    const wrong = put('b.yaml', WRONG);
    const journal = join(folder, 'out.orrery');
    expect(await main(['run', wrong, '--journal', journal])).toBe(2);
    expect(errors).toContain(
      `${wrong}:5:7: steps[1]: unknown key "orcale"; did you mean "oracle"?`,
    );
    expect(await main(['run', folder])).toBe(2);
    expect(out).toBe('');
    expect(readdirSync(folder).sort()).toEqual(['a.yaml', 'b.yaml']);
  });

  it.each([
    ['a missing file', 'none.yaml', 'no such file'],
    ['a pattern without a match', '*.yaml', 'no scenario file here'],
    ['a folder without scenarios', '.', 'no scenario file here'],
  ])('answers 2 to %s', async (_, name, message) => {
    expect(await main(['run', join(folder, name)])).toBe(2);
    expect(errors).toContain(message);
  });

  it('returns 2 for bytes that are not text', async () => {
    expect(await main(['run', put('x.yaml', Uint8Array.of(0xff, 0xfe, 0x00))])).toBe(2);
    expect(errors).toContain('x.yaml:1:1: is not UTF-8 text');
  });

  it('names the place of a broken byte, and the faults of the other files', async () => {
    const wrong = put('a.yaml', WRONG);
    const bytes = Buffer.from(GOOD.replace('orrery: 1', '# ü\norrery: 1 # é\u{fffd}!'));
    bytes[bytes.indexOf('!')] = 0xe9;
    const broken = put('b.yaml', bytes);
    expect(await main(['run', folder])).toBe(2);
    const line = bytes
      .toString('latin1')
      .split('\n')
      .findIndex((text) => text.includes('orrery'));
    expect(errors).toContain(`${broken}:${String(line + 1)}:15: is not UTF-8 text`);
    expect(errors).toContain(`${wrong}:5:7: steps[1]: unknown key "orcale"`);
  });

  it('answers a file of another kind in one line', async () => {
    const path = put('strategy.ts', 'import x from "y";\nexport default { a: { b: 1 }, c };\n');
    expect(await main(['run', path])).toBe(2);
    expect(errors.trim().split('\n')).toEqual([
      expect.stringContaining(`${path}: is not a scenario: it must be a YAML file`),
    ]);
    errors = '';
    expect(await main(['run', put('scenario.txt', WRONG)])).toBe(2);
    expect(errors).toContain('scenario.txt:5:7: steps[1]: unknown key "orcale"');
  });

  it('returns 2 for an unknown flag, and without a file', async () => {
    expect(await main(['run', put('good.yaml', GOOD), '--prov'])).toBe(2);
    expect(await main(['run'])).toBe(2);
  });

  it('accepts patterns', async () => {
    put('one.yaml', GOOD);
    put('two.yaml', GOOD);
    put('three.txt', BAD);
    expect(await main(['run', join(folder, '*.yaml')])).toBe(0);
    expect(out).toContain('2 scenarios: 2 passed, 0 failed');
  });

  it('prints one JSON object with --json', async () => {
    expect(await main(['run', put('bad.yaml', BAD), '--json', '--prove'])).toBe(1);
    const printed = JSON.parse(out) as { passed: boolean; scenarios: { failures: unknown[] }[] };
    expect(printed.passed).toBe(false);
    expect(printed.scenarios[0]?.failures).toEqual([
      {
        path: 'steps[0]',
        place: { line: 4, column: 5 },
        title: 'oracle',
        at: '+0s',
        differences: [{ path: 'balances.vault', expected: '1', actual: '0' }],
      },
    ]);
  });

  it('writes a journal that replays to the same hashes', async () => {
    const journal = join(folder, 'good.orrery');
    expect(await main(['run', put('good.yaml', GOOD), '--journal', journal])).toBe(0);
    const replayed = replay(readFileSync(journal), { verify: true });
    expect(replayed.mismatch).toBeNull();
    expect(out).toContain(replayed.engine.stateHash());
  });

  it('writes the state hash only into scenarios that otherwise pass', async () => {
    const good = put('good.yaml', `${GOOD}expect:\n  stateHash: ${'0'.repeat(64)}\n`);
    const bad = put('bad.yaml', BAD);
    expect(await main(['run', good])).toBe(1);
    expect(await main(['run', good, bad, '--update-hash'])).toBe(1);
    expect(readFileSync(bad, 'utf8')).toBe(BAD);
    expect(readFileSync(good, 'utf8')).toMatch(/^ {2}stateHash: [1-9a-f][0-9a-f]{63}$/m);
    expect(await main(['run', good])).toBe(0);
  });
});
