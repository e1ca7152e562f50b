/** Live runs whose computer has another time than the exchange, or whose clock is set meanwhile. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import type { LiveRecord } from '../../src/live/live-record.ts';
import { SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

const WALLET = new Wallet(`0x${'6'.repeat(64)}`);
const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'orrery-live-clock-'));
const key = join(folder, 'key');
const path = join(folder, 'idle.ts');
writeFileSync(key, `${WALLET.privateKey}\n`);
writeFileSync(
  path,
  `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'idle', parameters: {}, create: () => ({
  onBook() {},
}) });`,
);
let served: Served;
/** Time of the exchange less that of this computer. */
let aheadMs = 0;

beforeEach(async () => {
  // The time of an exchange does not go back.
  aheadMs = -90_000;
  served = await Served.start({
    clock: 'wall',
    wallMs: () => Math.round(performance.timeOrigin + performance.now() + aheadMs),
  });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await served.sim('deposit', { account: WALLET.address, amount: '10000' });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await served.remove();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const live = (out: string, length: string): Promise<number> =>
  main([
    ...['live', path, '--url', served.url, '--key-file', key, '--no-check', '--json'],
    ...['--for', length, '--out', join(folder, out)],
  ]);
const logOf = (out: string): string[] => {
  const record = JSON.parse(readFileSync(join(folder, out, 'live.json'), 'utf8')) as LiveRecord;
  return record.log.map(({ text }) => text);
};

const NOTE = 'and so are now() and an expiresAt from it';
test.each([
  [HOUR_MS, [`WARNING: the clock of this computer is 1h behind that of the exchange, ${NOTE}`]],
  [
    -90_000,
    [`WARNING: the clock of this computer is 1m30s ahead of that of the exchange, ${NOTE}`],
  ],
  [0, []],
  // A test or a replay has its own time.
  [30 * 24 * HOUR_MS, []],
])('an exchange that is %i ms ahead is named', async (ms, log) => {
  aheadMs = ms;
  const out = `ahead-${String(ms)}`;
  expect(await live(out, '300ms')).toBe(0);
  expect(logOf(out)).toEqual(log);
});

test('the duration of a run is that on a clock which is not set', async () => {
  const realNow = Date.now.bind(Date);
  let backMs = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() - backMs);
  const running = live('set-back', '1s');
  await expect.poll(() => existsSync(join(folder, 'set-back')), { timeout: 5000 }).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 500));
  backMs = 10_000;
  const late = new Promise((resolve) => {
    setTimeout(resolve, 4000, 'still running');
  });
  expect(await Promise.race([running, late])).toBe(0);
  await running;
}, 20_000);
