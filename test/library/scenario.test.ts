/** `orrery/scenario` as its users call it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FileError, parseScenario, proveScenario, readScenario } from 'orrery/scenario';
import { runScenario, ScenarioError } from 'orrery/scenario';
import { expect, test } from 'vitest';

const path = (name: string): string =>
  fileURLToPath(new URL(`../../scenarios/${name}`, import.meta.url));

test('a scenario file runs, passes and is proved', async () => {
  const result = runScenario(await readScenario(path('fees.yaml')));
  expect(result.passed).toBe(true);
  expect(result.invariantsHeld).toBe(true);
  expect(proveScenario(result, 1)).toEqual([]);
});

test('arguments of a proof are named', async () => {
  const result = runScenario(await readScenario(path('fees.yaml')));
  const refused: readonly (readonly [unknown, unknown, string])[] = [
    [null, 1, 'plain: must be a result of runScenario'],
    ['orrery: 1', 1, 'plain: must be a result of runScenario'],
    [{ ...result, journal: 'x' }, 1, 'plain: must be a result of runScenario'],
    [result, '1', 'seeds: must be whole numbers from 0, not 1'],
    [result, -1, 'seeds: must be whole numbers from 0, not -1'],
  ];
  for (const [plain, seed, text] of refused) {
    const call = (): unknown => proveScenario(plain as never, seed as never);
    expect(call).toThrow(ScenarioError);
    expect(call).toThrow(text);
  }
});

const TEXT = `
orrery: 1
accounts:
  alice: { deposit: 100 }
steps:
  - wait: 1s
expect:
  balances: { alice: 99 }
`;

test('a failed expectation is in the result', () => {
  const { passed, steps } = runScenario(TEXT);
  expect(passed).toBe(false);
  const [difference] = steps.flatMap(({ differences }) => differences);
  expect(difference).toMatchObject({ expected: '99', actual: '100' });
});

test('a text that is not valid throws with the place of every problem', () => {
  const bad = TEXT.replace('wait: 1s', 'wiat: 1s').replace('deposit: 100', 'deposit: x');
  let error: unknown;
  try {
    parseScenario(bad, 'bad.yaml');
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ScenarioError);
  const { message, problems } = error as ScenarioError;
  expect(problems.length).toBeGreaterThan(0);
  expect(message.split('\n')).toHaveLength(problems.length);
  expect(message).toMatch(/^bad\.yaml:\d+:\d+: /);
});

test('a file that is not there is named', async () => {
  const read = readScenario('none.yaml');
  await expect(read).rejects.toThrow('none.yaml: no such file or folder');
  await expect(read).rejects.toBeInstanceOf(FileError);
});

test('a file that is not UTF-8 is refused, and not read with other letters', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-scenario-'));
  try {
    const file = join(folder, 'latin.yaml');
    writeFileSync(file, Buffer.from(TEXT.replace('orrery: 1', 'orrery: 1\ntitle: é'), 'latin1'));
    await expect(readScenario(file)).rejects.toThrow(ScenarioError);
    await expect(readScenario(file)).rejects.toThrow(`${file}:3:8: is not UTF-8 text`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
