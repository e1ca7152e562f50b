/** `orrery operator` against a served exchange, and the random sampling seed of `orrery serve`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recover } from '../../src/journal-files/recover.ts';
import { CLI, startServe, type ServeProcess } from './serve-process.ts';

const TOKEN = 'operator-token';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const start = (): Promise<ServeProcess> =>
  startServe(['--data-dir', join(folder, 'var'), '--operator-token', TOKEN]);

function operator(url: string, ...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [CLI, 'operator', ...args, '--url', url],
    { encoding: 'utf8', timeout: 20_000, env: { ...process.env, ORRERY_OPERATOR_TOKEN: TOKEN } },
  );
  return { status, text: stdout + stderr };
}

test('commands are executed, rejected with the message of the exchange, and listed', async () => {
  const served = await start();
  try {
    const run = (...args: string[]) => operator(served.url, ...args);
    expect(run('status', 'BTC-USD-PERP', '--set', 'status=reduceOnly')).toEqual({
      status: 0,
      text: 'operator status: done\n',
    });
    expect(run('terms', 'ETH-USD-PERP', '--set', 'funding.cap=0.01').status).toBe(0);
    expect(run('credit-insurance', '--set', 'amount=100').status).toBe(0);
    const refused = run('status', 'BTC-USD-PERP', '--set', 'status=shut');
    expect(refused.status).toBe(1);
    expect(refused.text).toContain('status: must be one of open');
    const account = `account=0x${'7'.repeat(40)}`;
    const wire = ['deposit', '--set', account, '--set', 'reference=wire-17'];
    for (let i = 0; i < 2; i++) expect(run(...wire, '--set', 'amount=5').status).toBe(0);
    const other = run(...wire, '--set', 'amount=6');
    expect(other.text).toContain('reference: is that of a deposit of 5, account 0x777');
    expect(run('status').text).toContain('operator status requires a symbol');
    expect(run('audit', 'BTC-USD-PERP').text).toContain('operator audit does not take a symbol');
    expect(run('deposit', '--set', 'amount').text).toContain('must be name=value');
    const twice = run('deposit', '--set', 'amount=1', '--set', 'amount=2');
    expect(twice.text).toContain('--set amount=2: amount is given twice');
    expect(run('terms', 'ETH-USD-PERP').text).toContain('operator terms requires --set name=value');
    expect(run('audit', '--token', 'wrong').text).toContain('Please add the operator token');
    const lines = run('audit').text.trim().split('\n').slice(0, 4);
    expect(lines[0]).toMatch(/deposit {2}account 0x7+, .*amount 5, reference wire-17$/);
    expect(lines[1]).toMatch(/deposit {2}account 0x.*amount 100$/);
    expect(lines[2]).toMatch(/setMarketTerms {2}symbol ETH-USD-PERP$/);
    expect(lines[3]).toMatch(/setMarketStatus {2}symbol BTC-USD-PERP, status reduceOnly$/);
    const entries = JSON.parse(run('audit', '--json', '--limit', '1').text) as unknown[];
    expect(entries).toMatchObject([{ command: 'deposit', amount: '5', reference: 'wire-17' }]);
  } finally {
    await served.stop();
  }
}, 60_000);

test('a wall clock draws a sampling seed and keeps it over a restart', async () => {
  const seed = (): string => recover(join(folder, 'var')).engine.config.samplingSeed;
  await (await start()).stop();
  const drawn = seed();
  expect(drawn).toMatch(/^[0-9a-f]{16}$/);
  expect(drawn).not.toMatch(/^0+$/);
  await (await start()).stop();
  expect(seed()).toBe(drawn);
}, 60_000);
