/** `/metrics` on its own port, and lines for operators. */
import { expect, test } from 'vitest';
import { readSettings } from '../../src/cli/serve-settings.ts';
import { serveMetrics } from '../../src/http/metrics-server.ts';
import { LOG_EVENTS, operatorLog, type LogEvent } from '../../src/http/operator-log.ts';

const at = { host: '127.0.0.1', port: 0 };

test('serves metrics at its path alone; scrapes of a second share one pass', async () => {
  let passes = 0;
  const server = await serveMetrics(
    {
      contentType: 'text/plain; version=0.0.4',
      text: () => Promise.resolve(`passes ${String(++passes)}\n`),
    },
    at,
  );
  const { origin } = new URL(server.url);
  const texts = await Promise.all([1, 2, 3].map(async () => (await fetch(server.url)).text()));
  expect(new Set(texts)).toEqual(new Set(['passes 1\n']));
  const head = await fetch(`${server.url}?x=1`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4',
  ]);
  for (const path of ['/', '/metricsx', '/sim/hash', '/account/balance']) {
    expect((await fetch(`${origin}${path}`)).status, path).toBe(404);
  }
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(404);
  await server.close();
  await expect(fetch(server.url)).rejects.toThrow();
});

test('a failed scrape is answered 500 and the next one reads again', async () => {
  let fails = true;
  const text = (): Promise<string> =>
    fails ? Promise.reject(new Error('no figures')) : Promise.resolve('x 1\n');
  const server = await serveMetrics({ contentType: 'text/plain', text }, at);
  expect((await fetch(server.url)).status).toBe(500);
  fails = false;
  expect(await (await fetch(server.url)).text()).toBe('x 1\n');
  await server.close();
});

const place = (flags: Record<string, string>): unknown =>
  readSettings({ flags, environment: {}, file: null }).metrics;

test.each([
  [{}, { kind: 'port', host: '127.0.0.1', port: 9464, isChosen: false }],
  [{ port: '0' }, { kind: 'port', host: '127.0.0.1', port: 0, isChosen: true }],
  [{ 'metrics-port': '9000' }, { kind: 'port', host: '127.0.0.1', port: 9000, isChosen: true }],
  [
    { 'metrics-host': '0.0.0.0', 'metrics-port': '9464' },
    { kind: 'port', host: '0.0.0.0', port: 9464, isChosen: true },
  ],
  [{ 'metrics-port': 'api' }, { kind: 'api' }],
  [{ 'metrics-port': 'off' }, { kind: 'off' }],
])('settings %j', (flags, expected) => {
  expect(place(flags as Record<string, string>)).toEqual(expected);
});

test('a bad port is refused by its name', () => {
  for (const port of ['-1', '65536', 'on', '1e3']) {
    expect(() => place({ 'metrics-port': port })).toThrow(
      '--metrics-port must be api, off, or a port from 0 to 65535',
    );
  }
});

test('each line has a time, a level, an event and a sentence; as text, the sentence', () => {
  for (const event of Object.keys(LOG_EVENTS) as LogEvent[]) {
    const lines: string[] = [];
    operatorLog('json', (line) => lines.push(line))(event, 'a "sentence"', { symbol: 'X' });
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: LOG_EVENTS[event],
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      event,
      msg: 'a "sentence"',
      symbol: 'X',
    });
  }
  const text: string[] = [];
  const log = operatorLog('text', (line) => text.push(line));
  log('market_frozen', 'X is frozen', { symbol: 'X' });
  log('clock_behind', 'the clock is behind');
  log('listening', 'stdout has this');
  expect(text).toEqual(['orrery: X is frozen', 'orrery: WARNING: the clock is behind']);
});
