/** `orrery doctor`: every fault that it names, and that it changes nothing. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { checkClocks } from '../../src/cli/doctor/database-checks.ts';
import {
  checkClock,
  checkDisk,
  checkJournal,
  checkLock,
  adviceToWrite,
  checkRights,
} from '../../src/cli/doctor/folder-checks.ts';
import {
  checkMemory,
  checkNode,
  checkOpenFiles,
  checkPort,
  checkSecret,
} from '../../src/cli/doctor/host-checks.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { main } from '../../src/cli/main.ts';
import { readSettings } from '../../src/cli/serve-settings.ts';
import { serveMetrics } from '../../src/http/metrics-server.ts';
import { FolderJournal } from '../../src/journal-files/folder-journal.ts';
import { FolderLock } from '../../src/journal-files/folder-lock.ts';
import { listSegments } from '../../src/journal-files/segments.ts';
import { fileError } from '../../src/platform/file-error.ts';
import { ALICE, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

/** A folder of a stopped exchange: a journal and a snapshot. */
let stopped: string;
let lastMs: number;
beforeAll(async () => {
  stopped = join(mkdtempSync(join(tmpdir(), 'orrery-')), 'var');
  const served = await Served.start({ path: stopped });
  await served.sim('deposit', { account: ALICE, amount: '1000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await served.call('submitOrder', order(), { account: ALICE, signer: ALICE });
  lastMs = served.host.view.nowUs / 1000;
  await served.stop();
  chmodSync(stopped, 0o700);
});
afterAll(() => {
  rmSync(join(stopped, '..'), { recursive: true, force: true });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const copy = (): string => {
  const path = join(folder, 'var');
  cpSync(stopped, path, { recursive: true });
  return path;
};
const verdicts = (findings: readonly Finding[]): Record<string, string> =>
  Object.fromEntries(findings.map(({ check, verdict }) => [check, verdict]));
const settings = (flags: Record<string, unknown> = {}) =>
  readSettings({ flags, environment: {}, file: null });
const text = (name: string): string => {
  const file = readdirSync(folder, { recursive: true }).find((one) => String(one).endsWith(name));
  return join(folder, String(file));
};

test('a folder of a stopped exchange is in order, also replayed', () => {
  const path = copy();
  const before = readdirSync(path);
  expect(verdicts(checkRights(path))).toEqual({
    folder: 'ok',
    fsync: expect.any(String) as string,
  });
  const { findings, snapshotBytes } = checkJournal(path, true, lastMs);
  expect(verdicts(findings)).toEqual({
    snapshots: 'ok',
    journal: 'ok',
    replay: 'ok',
    clock: 'ok',
  });
  expect(snapshotBytes).toBeGreaterThan(100);
  expect(readdirSync(path)).toEqual(before);
});

test('a folder that does not exist will be created', async () => {
  const path = join(folder, 'a', 'b');
  expect(checkRights(path)[0]).toMatchObject({ verdict: 'ok', found: `${path} will be created` });
  expect(await checkLock(path)).toMatchObject({ verdict: 'ok' });
  expect(checkDisk(path)).toMatchObject({ check: 'disk' });
  expect(checkJournal(path, false).findings).toMatchObject([{ verdict: 'ok' }]);
  expect(readdirSync(folder)).toEqual([]);
});

/** Faults of a folder: what is done to a copy, the check, its verdict and a part of its text. */
const FAULTS: readonly (readonly [string, (path: string) => void, string, string, RegExp])[] = [
  [
    'a byte of the journal is flipped',
    () => {
      const file = text('0001.orrery');
      const bytes = readFileSync(file);
      // A frame after which others follow: the middle of the first kilobyte with content.
      bytes[400] = (bytes[400] ?? 0) ^ 0xff;
      writeFileSync(file, bytes);
      rmSync(text('.bin'));
    },
    'journal',
    'fail',
    /restore a backup/,
  ],
  [
    'a byte before the snapshot is flipped, which a start reads for the history of accounts',
    () => {
      const file = text('0001.orrery');
      const bytes = readFileSync(file);
      // In a command; the header ends before.
      bytes[1200] = (bytes[1200] ?? 0) ^ 0xff;
      writeFileSync(file, bytes);
    },
    'journal',
    'fail',
    /restore a backup/,
  ],
  [
    'a release with other rules wrote it',
    (path) => {
      rmSync(path, { recursive: true });
      mkdirSync(path);
      const released = new URL('../journal/fixtures/release-0.1.orrery', import.meta.url);
      cpSync(released, join(path, 'journal.orrery'));
    },
    'journal',
    'fail',
    /serve the folder with that release/,
  ],
  [
    'the journal is gone',
    () => {
      rmSync(text('.orrery'));
    },
    'journal',
    'fail',
    /restore the journal/,
  ],
  [
    'the first write was torn',
    () => {
      truncateSync(text('0001.orrery'), 300);
      rmSync(text('.bin'));
    },
    'journal',
    'warn',
    /begins a new exchange/,
  ],
  [
    'the snapshot is damaged',
    () => {
      truncateSync(text('.bin'), 100);
    },
    'snapshots',
    'warn',
    /older one, or the whole journal/,
  ],
  [
    'the snapshot of a compacted journal is damaged',
    (path) => {
      renameSync(text('0001.orrery'), join(path, 'journal-0000000000000002.orrery'));
      truncateSync(text('.bin'), 100);
    },
    'snapshots',
    'fail',
    /start is refused/,
  ],
  [
    'a compacted journal has no snapshot',
    (path) => {
      renameSync(text('0001.orrery'), join(path, 'journal-0000000000000002.orrery'));
      rmSync(text('.bin'));
    },
    'snapshots',
    'fail',
    /start is refused/,
  ],
];

test.each(FAULTS)('%s', (_name, harm, check, verdict, advice) => {
  const path = copy();
  harm(path);
  const found = checkJournal(path, false, lastMs).findings.find((one) => one.check === check);
  expect(found).toMatchObject({ verdict });
  expect(found?.advice).toMatch(advice);
});

test('a start passes over a damaged snapshot, so the replay does not fail with it', () => {
  const path = copy();
  truncateSync(text('.bin'), 100);
  const { findings } = checkJournal(path, true, lastMs);
  expect(verdicts(findings)).toMatchObject({ snapshots: 'warn', replay: 'ok' });
});

test('rights, a file in place of a folder', () => {
  const path = copy();
  chmodSync(path, 0o755);
  expect(checkRights(path)[0]).toMatchObject({ verdict: 'warn', advice: `chmod 700 ${path}` });
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(checkRights(file)[0]).toMatchObject({ verdict: 'fail' });
  // No backup would mend it.
  expect(checkJournal(file, false).findings).toEqual([]);
  expect(checkJournal(join(file, 'var'), false).findings).toEqual([]);
  expect(checkRights('/proc/self/task')[0]).toMatchObject({ verdict: 'fail' });
});

test('no backup and no other disk mend a file of another user', async () => {
  const path = copy();
  const denied = Object.assign(new Error('EACCES'), { code: 'EACCES' });
  const spy = vi.spyOn(FolderLock, 'take').mockImplementation(() => {
    throw fileError(path, denied);
  });
  expect(await checkLock(path)).toMatchObject({ advice: adviceToWrite('EACCES', path) });
  spy.mockRestore();
  const file = vi.spyOn(FolderJournal.prototype, 'next').mockImplementation(() => {
    throw fileError(text('.orrery'), denied);
  });
  expect(checkJournal(path, false, lastMs).findings.at(-1)).toMatchObject({
    found: `${text('.orrery')}: permission denied`,
    advice: adviceToWrite('EACCES', path),
  });
  file.mockRestore();
});

test('files that a start writes to and that belong to someone else are named', () => {
  const path = copy();
  chmodSync(path, 0o700);
  writeFileSync(join(path, 'logins'), '');
  const segment = listSegments(path).at(-1)!.path;
  for (const file of [segment, join(path, 'logins')]) {
    const access = (asked: unknown): void => {
      if (asked !== file) return;
      throw Object.assign(new Error(`EACCES: denied, access '${file}'`), { code: 'EACCES' });
    };
    const [found] = checkRights(path, access);
    expect(found).toMatchObject({ verdict: 'fail', check: 'folder' });
    expect(found?.found).toContain(file);
    expect(found?.advice).toMatch(new RegExp(`chown -R .*; chmod 600 ${file}$`));
  }
});

test('a folder in use, and one that cannot be locked', async () => {
  const served = await Served.start();
  expect(await checkLock(served.path)).toMatchObject({
    verdict: 'ok',
    found: expect.stringContaining(`in use by process ${String(process.pid)}`) as string,
  });
  expect(verdicts(checkJournal(served.path, false).findings)).toMatchObject({ journal: 'ok' });
  await served.remove();
  expect(await checkLock(folder, { program: 'no-such-flock' })).toMatchObject({
    verdict: 'fail',
    advice: expect.stringContaining('util-linux') as string,
  });
  expect(await checkLock(folder, { typeOf: () => 0x6969 })).toMatchObject({
    verdict: 'fail',
    advice: expect.stringContaining('local disk') as string,
  });
});

test('disk, clock, memory, open files and version at their bounds', () => {
  const disk = (bavail: number, ffree: number): string =>
    checkDisk(folder, (() => ({ bavail, bsize: 4096, files: 1e6, ffree })) as never).verdict;
  expect([disk(2 ** 20, 1e5), disk(2 ** 17, 1e5), disk(100, 1e5), disk(2 ** 20, 5)]).toEqual([
    ...['ok', 'warn', 'fail', 'fail'],
  ]);
  expect([checkClock(5000, 4000).verdict, checkClock(5001, 4000).verdict]).toEqual(['ok', 'fail']);
  const memory = (total: number, free: number): string =>
    checkMemory(2 ** 20, { totalBytes: total * 2 ** 20, freeBytes: free * 2 ** 20 }).verdict;
  expect([memory(520, 300), memory(520, 200), memory(519, 519)]).toEqual(['ok', 'warn', 'fail']);
  const files = (line: string): Finding => checkOpenFiles(10_000, line);
  expect(
    files('Max open files            1024                 10128                files').verdict,
  ).toBe('ok');
  expect(
    files('Max open files            1024                 10127                files'),
  ).toMatchObject({
    verdict: 'fail',
    advice: expect.stringContaining('--max-connections 9999') as string,
  });
  expect(
    checkOpenFiles(10_000, 'Max open files            1024      unlimited      files').verdict,
  ).toBe('ok');
  expect(
    [checkNode('20.18.9'), checkNode('20.19.0'), checkNode('22.0.0')].map((one) => one.verdict),
  ).toEqual(['fail', 'ok', 'ok']);
});

test('the secret: none, short, readable by others, private', async () => {
  const file = join(folder, 'secret');
  expect(await checkSecret(settings())).toMatchObject({ verdict: 'warn' });
  writeFileSync(file, 'short');
  expect(await checkSecret(settings({ 'secret-file': file }))).toMatchObject({ verdict: 'fail' });
  writeFileSync(file, 'x'.repeat(32));
  chmodSync(file, 0o644);
  expect(await checkSecret(settings({ 'secret-file': file }))).toMatchObject({
    verdict: 'warn',
    advice: `chmod 600 ${file}`,
  });
  chmodSync(file, 0o600);
  expect(await checkSecret(settings({ 'secret-file': file }))).toMatchObject({ verdict: 'ok' });
});

test('ports: free, of another program, of an exchange, of an unknown address', async () => {
  const other: Server = createServer((socket) => {
    socket.resume().on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\n\r\nhello');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const at = (one: number) => checkPort('port', '--port', { host: '127.0.0.1', port: one });
  expect(await at(port)).toMatchObject({
    verdict: 'fail',
    advice: expect.stringContaining('--port') as string,
  });
  await new Promise((resolve) => other.close(resolve));
  expect(await at(port)).toMatchObject({ verdict: 'ok' });
  const served = await Served.start();
  expect(await at(Number(new URL(served.url).port))).toMatchObject({ verdict: 'ok' });
  await served.remove();
  const metrics = { contentType: 'text/plain', text: () => Promise.resolve('') };
  const own = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 });
  expect(await at(Number(new URL(own.url).port))).toMatchObject({ verdict: 'ok' });
  await own.close();
  const strange = { host: '192.0.2.1', port: 8080 };
  expect(await checkPort('port', '--port', strange)).toMatchObject({ verdict: 'fail' });
});

test('the command ends with exit code 0 for a good folder and 1 for a bad one', async () => {
  const path = copy();
  const flags = ['doctor', '--port', '0', '--json', '--max-connections', '100', '--data-dir'];
  expect(await main([...flags, path])).toBe(0);
  mkdirSync(join(folder, 'bad'));
  writeFileSync(join(folder, 'bad', `snapshot-${'1'.padStart(16, '0')}.bin`), 'x');
  expect(await main([...flags, join(folder, 'bad')])).toBe(1);
  expect(await main([...flags, path, '--config', join(folder, 'none.yaml')])).toBe(1);
});

test('the folder of a new exchange has no fault', async () => {
  const path = join(folder, 'new', 'var');
  await (await Served.start({ path })).stop();
  expect(checkRights(path)).toMatchObject([{ verdict: 'ok' }, { verdict: 'ok' }]);
});

test('a virtual clock is not compared with that of the system', async () => {
  const path = join(folder, 'virtual');
  const served = await Served.start({ path });
  await served.sim('clock', { toMs: Date.now() + 3_600_000 });
  await served.stop();
  const flags = ['doctor', '--port', '0', '--json', '--max-connections', '100'];
  expect(await main([...flags, '--data-dir', path])).toBe(1);
  expect(await main([...flags, '--data-dir', path, '--clock', 'virtual'])).toBe(0);
});

test('the clock of a server is compared with that of its database', () => {
  const shown = (aheadMs: number): string => {
    const { verdict, found } = checkClocks(aheadMs);
    return `${verdict}: ${found}`;
  };
  expect([shown(1000), shown(-1000)]).toEqual(Array(2).fill('ok: agrees with the database'));
  expect(shown(300_000)).toBe('warn: 300.0 s ahead of the database');
  expect(shown(-1001)).toBe('warn: 1.0 s behind the database');
});

test.each([
  ['ENOSPC', 'free space'],
  ['EDQUOT', 'quota'],
  ['EROFS', 'mount it for writing'],
  ['EACCES', 'chown -R'],
  [undefined, 'chown -R'],
])('the advice for a folder that cannot be written fits the error %s', (code, advice) => {
  expect(adviceToWrite(code, '/data')).toContain(advice);
});
