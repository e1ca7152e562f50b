/** deploy/nginx.conf in front of a server: TLS, WebSockets, addresses of clients, limits. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ALICE, order, SYMBOL } from '../gateway/fixture.ts';
import { SIM_TOKEN, Served } from '../http/served.ts';

const CONF = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
const LIMIT = 20;

let folder: string;
let served: Served;
let nginx: ChildProcess;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  served = await Served.start({
    clock: 'wall',
    requestsPerSecond: LIMIT,
    trustProxy: ['127.0.0.1'],
  });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  port = await freePort();
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  const subject = ['-subj', '/CN=exchange.example', '-days', '2'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, 'nginx.conf'), testConf(CONF, { key, cert }));
  const checked = spawnSync('nginx', ['-t', ...args()], { env: { PATH }, encoding: 'utf8' });
  expect(checked.stderr).toContain('test is successful');
  expect(checked.stderr).not.toMatch(/\[(warn|error|emerg)\]/);
  nginx = spawn('nginx', args(), { env: { PATH }, stdio: 'ignore' });
  for (let i = 0; (await status('/readyz').catch(() => 0)) !== 200; i++) {
    if (i === 100) throw new Error('nginx does not answer');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
afterAll(async () => {
  const ended = new Promise((resolve) => nginx.once('exit', resolve));
  nginx.kill('SIGTERM');
  await ended;
  await served.remove();
  rmSync(folder, { recursive: true, force: true });
});

const args = (): string[] => ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];

/** The file of `deploy` with the port, the server and the certificate of this test alone. */
function testConf(conf: string, { key, cert }: { key: string; cert: string }): string {
  const changes: readonly (readonly [string, string])[] = [
    ['listen 443 ssl http2', `listen 127.0.0.1:${String(port)} ssl http2`],
    ['server 127.0.0.1:8080', `server ${new URL(served.url).host}`],
    ['/etc/ssl/exchange.example.pem', cert],
    ['/etc/ssl/exchange.example.key', key],
  ];
  let text = conf;
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n');
  return `daemon off; worker_processes 1; pid ${join(folder, 'pid')};
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 512; }
http { access_log off; ${temporary}
${text}
}`;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: found } = server.address() as { port: number };
      server.close(() => {
        resolve(found);
      });
    });
  });
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** An address of the loopback network, as one client of many. */
  readonly from?: string;
}

function send(path: string, sent: Sent = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        ...{ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false },
        method: sent.method ?? 'GET',
        headers: sent.headers ?? {},
        localAddress: sent.from ?? '127.0.0.1',
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => {
          resolve({ status: answer.statusCode ?? 0, text });
        });
      },
    );
    call.on('error', reject);
    call.end(sent.body);
  });
}
const status = async (path: string, sent?: Sent): Promise<number> =>
  (await send(path, sent)).status;

test('reads and orders pass, with TLS of today', async () => {
  expect(JSON.parse((await send(`/price/${SYMBOL}`)).text)).toMatchObject({ index: '60000' });
  const token = await served.token({ account: ALICE, signer: ALICE });
  const { status: placed, text } = await send('/account/order', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(order()),
  });
  expect([placed, text.includes('"status":"new"')]).toEqual([200, true]);
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const tls = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(tls);
    });
    tls.on('error', reject);
  });
  expect(socket.getProtocol()).toBe('TLSv1.3');
  socket.destroy();
  const old = connect({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    maxVersion: 'TLSv1.1',
  });
  await expect(
    new Promise((resolve, reject) => {
      old.on('secureConnect', resolve);
      old.on('error', reject);
    }),
  ).rejects.toThrow();
});

test.each([
  ...['/metrics', '/sim/hash', '/operator/audit', '//sim/hash', '/%73im/hash', '/x/../sim/hash'],
  '/metrics?x=1',
])('%s is not forwarded', async (path) => {
  const headers = { authorization: `Bearer ${SIM_TOKEN}` };
  const { status: found, text } = await send(path, { headers, from: '127.0.0.8' });
  expect(found).toBe(404);
  expect(text).not.toContain('{');
});

test('feeds pass, both ways', async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${String(port)}/ws`, { rejectUnauthorized: false });
  const messages: string[] = [];
  socket.on('message', (data: Buffer) => messages.push(data.toString()));
  await new Promise((resolve) => socket.on('open', resolve));
  const params = { source: 'book', symbols: [SYMBOL] };
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }));
  await expect.poll(() => messages.length).toBeGreaterThanOrEqual(2);
  await served.call('submitOrder', order(), { account: ALICE, signer: ALICE });
  await expect.poll(() => messages.length).toBeGreaterThanOrEqual(3);
  socket.terminate();
});

test('limits count by the address of the client, which a client cannot choose', async () => {
  const flood = async (from: string, spoof: boolean): Promise<number> => {
    const answers = await Promise.all(
      Array.from({ length: LIMIT + 10 }, (_, i) =>
        status('/time', {
          from,
          headers: spoof ? { 'x-forwarded-for': `10.0.0.${String(i)}` } : {},
        }),
      ),
    );
    return answers.filter((one) => one === 429).length;
  };
  expect(await flood('127.0.0.2', false)).toBeGreaterThanOrEqual(10);
  expect(await status('/time', { from: '127.0.0.3' })).toBe(200);
  expect(await flood('127.0.0.4', true)).toBeGreaterThanOrEqual(10);
});

test('a body above the limit, and a 65th connection of one address, are refused', async () => {
  const body = 'x'.repeat(600_000);
  expect(await status('/account/orders', { method: 'POST', body, from: '127.0.0.5' })).toBe(413);
  const open = (): Promise<WebSocket | number> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`wss://127.0.0.1:${String(port)}/ws`, {
        rejectUnauthorized: false,
        localAddress: '127.0.0.6',
      });
      socket.on('open', () => {
        resolve(socket);
      });
      socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
        resolve(statusCode);
      });
      socket.on('error', () => undefined);
    });
  const found: (WebSocket | number)[] = [];
  // The server admits 20 upgrades a second of one address.
  for (let i = 0; i < 66; i++) {
    if (i > 0 && i % (LIMIT - 2) === 0) await new Promise((resolve) => setTimeout(resolve, 1100));
    found.push(await open());
  }
  expect(found.filter((one) => one === 503)).toHaveLength(2);
  for (const one of found) if (typeof one !== 'number') one.terminate();
});
