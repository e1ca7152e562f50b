/**
 * Layer 4 of docs/DETERMINISM.md: a browser replays every scenario's journal to the same hashes as
 * Node.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replay } from '../../src/journal/replay/replay.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';
import { openBrowser, type OpenBrowser } from './chromium.ts';

const SCENARIOS = new URL('../../scenarios/', import.meta.url);
let browser: OpenBrowser;
let script = '';

beforeAll(async () => {
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL('./replay-entry.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
  });
  script = bundle.outputFiles[0]!.text;
  browser = await openBrowser();
});

afterAll(async () => {
  await browser.close();
});

test('Chromium computes the same final hashes as Node for every scenario', async () => {
  const page = await browser.context.newPage();
  await page.goto('about:blank');
  await page.addScriptTag({ content: script });
  const files = readdirSync(SCENARIOS).filter((name) => name.endsWith('.yaml'));
  expect(files.length).toBeGreaterThanOrEqual(12);
  for (const file of files) {
    const text = readFileSync(new URL(file, SCENARIOS), 'utf8');
    const parsed = parseScenario(text, file, keccak);
    if (!parsed.ok) throw new Error(`${file} does not parse`);
    const { journal } = runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
    const here = replay(journal, { verify: true });
    const there = await page.evaluate(
      (bytes) => globalThis.replayJournal(bytes),
      Array.from(journal),
    );
    expect(there, file).toEqual({
      commands: here.commands,
      chainHash: here.engine.chainHash(),
      stateHash: here.engine.stateHash(),
      mismatch: null,
    });
  }
});
