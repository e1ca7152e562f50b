/** deploy/orrery.service: systemd reads it without a complaint, and it stays hardened. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentName, SETTING_NAMES, SETTINGS } from '../../src/cli/serve-settings.ts';

const UNIT = readFileSync(new URL('../../deploy/orrery.service', import.meta.url), 'utf8');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function analyze(verb: readonly string[], unit: string): { status: number | null; text: string } {
  const path = join(folder, 'orrery.service');
  // Programs and users of a host that has the exchange.
  writeFileSync(path, unit.replace('/usr/bin/node', process.execPath).replace(/^User=.*$/m, ''));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...verb, path], {
    encoding: 'utf8',
  });
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('orrery.service'));
  return { status, text: lines.join('\n') };
}

test('systemd-analyze verify accepts the unit, and finds a misspelt line', () => {
  expect(analyze(['verify', '--man=no'], UNIT)).toEqual({ status: 0, text: '' });
  const wrong = UNIT.replace('NoNewPrivileges', 'NoNewPriviledges');
  expect(analyze(['verify', '--man=no'], wrong).text).toContain('NoNewPriviledges');
});

test('its exposure is at most 2.0, and more without the hardening', () => {
  const security = ['security', '--offline=true', '--threshold=20'];
  expect(analyze(security, UNIT).status).toBe(0);
  const [, service = ''] = UNIT.split('NoNewPrivileges=true');
  expect(analyze(security, UNIT.replace(service, '\n')).status).not.toBe(0);
});

test('its flags and variables are settings, and its limits fit them', () => {
  const flags = [...UNIT.matchAll(/ --([\w-]+)/g)].map(([, flag]) => flag ?? '');
  expect(flags.length).toBeGreaterThan(2);
  for (const flag of flags) expect(['config', ...SETTING_NAMES]).toContain(flag);
  const variables = [...UNIT.matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name ?? '');
  expect(variables).not.toEqual([]);
  for (const name of variables) expect(SETTING_NAMES.map(environmentName)).toContain(name);
  const files = Number(/^LimitNOFILE=(\d+)$/m.exec(UNIT)?.[1]);
  expect(files).toBeGreaterThan(Number(SETTINGS['max-connections'].fallback) + 128);
});
