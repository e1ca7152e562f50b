/**
 * `orrery run --events` of a scenario with liquidations: payers, and the assets behind all claims.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';

let folder = '';
let out = '';

// Commands write directly to the file descriptor of standard output.
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  writeSync: (_descriptor: number, bytes: Uint8Array) => {
    out += Buffer.from(bytes).toString();
    return bytes.length;
  },
}));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-solvency-'));
  out = '';
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/**
 * A long of 1 BTC with 4,000 loses 10,000: it lacks 6,000 and its fee of 21. Insurance may pay 250
 * of 1,000; the short loses the rest of its gain in this step.
 */
const CRASH = `orrery: 1
title: Crash
markets: [{ symbol: BTC-USD-PERP, markSource: index, makerFee: 0, takerFee: 0 }]
accounts: { long: { deposit: 4000 }, short: { deposit: 20000 } }
steps:
  - oracle: { BTC-USD-PERP: 60000 }
  - deposit: { account: insurance, amount: 1000 }
  - { as: short, do: submitOrder, with: { price: 60000, quantity: -1 } }
  - { as: long, do: submitOrder, with: { price: 60000, quantity: 1 } }
  - oracle: { BTC-USD-PERP: 50000 }
    expect: { balances: { long: 0, short: 24250, insurance: 750, shortfall: 0 } }
`;

function put(text: string): string {
  const path = join(folder, 'crash.yaml');
  writeFileSync(path, text);
  return path;
}

/** Cells of the line that starts with these words. */
function line(words: string): string[] {
  const found = out.split('\n').find((text) => text.includes(words)) ?? '';
  return found
    .split('│')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
}

describe('orrery run --events', () => {
  it('ends with the payers of liquidations, by market and step', async () => {
    expect(await main(['run', put(CRASH), '--events'])).toBe(0);
    expect(line('insurance, paid')).toEqual(['BTC-USD-PERP', 'insurance, paid', '1', '250']);
    const adl = ['BTC-USD-PERP', 'auto-deleveraging, charged', '1', '1', '50000', '5750'];
    expect(line('auto-deleveraging')).toEqual(adl);
    expect(out).not.toContain('vault take-over');
  });

  it('ends with insurance, vault, shortfall and conservation checks', async () => {
    expect(await main(['run', put(CRASH), '--events'])).toBe(0);
    expect(line('insurance: deposited')[1]).toBe('1000');
    expect(line('insurance: paid')[1]).toBe('250');
    expect(line('insurance: left')[1]).toBe('750');
    expect(line('shortfall: left')[1]).toBe('0');
    expect(line('vault: positions')[1]).toBe('none');
    expect(line('deposits − withdrawals')[1]).toBe('25000');
    expect(line('(R-1.6)')[1]).toBe('0');
    expect(line('(R-1.6a)')[1]).toBe('0');
    expect(line('R-1.6a after each of 8 commands')[1]).toBe('held');
  });

  it('prints neither without --events, nor without liquidations', async () => {
    expect(await main(['run', put(CRASH)])).toBe(0);
    expect(out).not.toContain('Solvency');
    const calm = CRASH.slice(0, CRASH.lastIndexOf('  - oracle'));
    expect(await main(['run', put(calm), '--events'])).toBe(0);
    expect(out).not.toContain('Solvency');
  });

  it('is part of the object that --json prints', async () => {
    expect(await main(['run', put(CRASH), '--json'])).toBe(0);
    const { scenarios } = JSON.parse(out) as { scenarios: { solvency: unknown }[] };
    expect(scenarios[0]?.solvency).toMatchObject({
      shortfall: { begun: '0', left: '0' },
      insurance: { deposits: '1000', income: '0', paid: '250', left: '750' },
      vault: { deposits: '0', cash: '0', positions: {}, value: '0' },
      depositsLessWithdrawals: '25000',
      conservationDifference: '0',
      equityDifference: '0',
      invariantsHeld: true,
      payers: [
        { market: 'BTC-USD-PERP', step: 'insurance', units: 1, quantity: null, amount: '250' },
        { market: 'BTC-USD-PERP', step: 'adl', units: 1, quantity: '1', amount: '5750' },
      ],
    });
  });
});
