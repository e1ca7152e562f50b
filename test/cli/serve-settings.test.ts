/**
 * Settings of `orrery serve`: precedence of flags, environment, file and defaults; faults are
 * reported by the given name.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  environmentName,
  fileKey,
  readSettings,
  SETTING_NAMES,
  SETTINGS,
  type SettingSources,
} from '../../src/cli/serve-settings.ts';

const read = ({ flags = {}, environment = {}, file = null }: Partial<SettingSources> = {}) =>
  readSettings({ flags, environment, file });
const inFile = (server: unknown) => ({ file: { path: 'x.yaml', server } });

test('the defaults', () => {
  expect(read()).toEqual({
    host: '127.0.0.1',
    port: 8080,
    journal: null,
    dataDir: './var',
    clock: 'wall',
    durability: 'strict',
    snapshotEvery: 100_000,
    secretFile: null,
    previousSecretFile: null,
    simToken: null,
    operatorToken: null,
    trustSignatures: false,
    verifyThreads: null,
    maxConnections: 10_000,
    accountsPerHour: 600,
    corsOrigins: [],
    previews: true,
    securityHeaders: 'pages',
    trustProxy: [],
    logLevel: 'warn',
    logFormat: 'text',
    metrics: { kind: 'port', host: '127.0.0.1', port: 9464, isChosen: false },
  });
});

test('flags override the environment, which overrides the file', () => {
  const file = { path: 'x.yaml', server: { port: '1', dataDir: '/file', clock: 'virtual' } };
  const environment = { ORRERY_PORT: '2', ORRERY_DATA_DIR: '/environment' };
  const flags = { port: '3' };
  expect(read({ flags, environment, file })).toMatchObject({
    port: 3,
    dataDir: '/environment',
    clock: 'virtual',
  });
});

test('a server advertises no URL that others cannot use', () => {
  const advertised = (host: string, more: Readonly<Record<string, string>> = {}) =>
    read({ flags: { journal: 'postgres:///x', host, ...more } }).journal?.advertise;
  expect(advertised('10.0.0.7')).toBe('http://10.0.0.7:8080');
  expect(advertised('fd00::7')).toBe('http://[fd00::7]:8080');
  expect(advertised('0.0.0.0')).toBe('');
  expect(advertised('::')).toBe('');
  expect(advertised('::', { advertise: 'http://a.example' })).toBe('http://a.example');
});

test('every setting has the same three names', () => {
  expect(SETTING_NAMES.map((name) => [name, environmentName(name), fileKey(name)])).toContainEqual([
    'snapshot-every',
    'ORRERY_SNAPSHOT_EVERY',
    'snapshotEvery',
  ]);
});

test('lists are repeated flags, comma-separated texts, or lists in the file', () => {
  const wanted = ['https://a.example', 'https://b.example'];
  expect(read({ flags: { 'cors-origin': wanted } }).corsOrigins).toEqual(wanted);
  expect(read({ environment: { ORRERY_CORS_ORIGIN: wanted.join(', ') } }).corsOrigins).toEqual(
    wanted,
  );
  expect(read(inFile({ corsOrigin: wanted })).corsOrigins).toEqual(wanted);
  expect(read(inFile({ trustSignatures: 'true' })).trustSignatures).toBe(true);
});

describe('faults are reported by the given name', () => {
  test.each([
    [{ flags: { port: '70000' } }, '--port must be from 0 to 65535'],
    [{ flags: { port: '1e3' } }, '--port must be from 0 to 65535'],
    [{ flags: { port: ['1', '2'] } }, '--port must be given once'],
    [{ environment: { ORRERY_PORT: 'http' } }, 'ORRERY_PORT must be from 0 to 65535'],
    [inFile({ port: '-1' }), 'x.yaml: server.port must be from 0 to 65535'],
    [inFile({ port: [] }), 'x.yaml: server.port must be given once'],
    [inFile({ prot: '1' }), 'x.yaml: server.prot: unknown key'],
    [inFile([]), 'x.yaml: server: must be a map'],
    [{ flags: { 'snapshot-every': '-1' } }, '--snapshot-every must be an integer of at least 0'],
    [{ flags: { clock: 'sun' } }, '--clock must be one of wall, virtual'],
    [{ environment: { ORRERY_LOG_LEVEL: 'loud' } }, /^ORRERY_LOG_LEVEL must be one of trace, /],
    [{ environment: { ORRERY_TRUST_SIGNATURES: 'yes' } }, /must be true or false$/],
    [{ flags: { host: '' } }, '--host must not be empty'],
    [{ flags: { 'max-connections': '0' } }, '--max-connections must be from 1 to 1000000'],
  ] as const)('%j', (sources, words) => {
    expect(() => read(sources as Partial<SettingSources>)).toThrow(words);
  });
});

test('docs/OPERATIONS.md has every setting with its names and default', async () => {
  const page = await readFile(new URL('../../docs/OPERATIONS.md', import.meta.url), 'utf8');
  for (const name of SETTING_NAMES) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`--${name}\``)) ?? '';
    expect(row, name).toContain(environmentName(name));
    expect(row, name).toContain(`\`${fileKey(name)}\``);
    expect(row, name).toContain(SETTINGS[name].fallback);
  }
});
