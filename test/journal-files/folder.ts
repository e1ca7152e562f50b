/** A durable exchange in a temporary folder, without a server, and commands for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { address, quanta, timeUs } from '../../src/num/units.ts';
import { DataFolder } from '../../src/journal-files/data-folder.ts';
import { DurableExchange, type DurableOptions } from '../../src/journal-files/durable-exchange.ts';
import { defaultOpening } from '../http/served.ts';

export const CONFIG = DEFAULT_EXCHANGE_CONFIG;
const ALICE = address(`0x${'a1'.repeat(20)}`);

/** A folder for the duration of one test. */
export function useFolder(): () => string {
  let path = '';
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'orrery-'));
  });
  afterEach(() => rm(path, { recursive: true, force: true }));
  return () => path;
}

export async function openIn(
  path: string,
  options: Partial<DurableOptions> = {},
): Promise<DurableExchange> {
  const folder = await DataFolder.open(path);
  return DurableExchange.open(folder, {
    config: CONFIG,
    fallback: CONFIG,
    opening: defaultOpening(CONFIG),
    durability: 'strict',
    snapshotEvery: 0,
    onProblem: () => undefined,
    ...options,
  }).catch(async (error: unknown) => {
    await folder.unlock();
    throw error;
  });
}

/** The n-th of many distinct deposits. */
export function deposit(n: number): Extract<Command, { kind: 'deposit' }> {
  return {
    kind: 'deposit',
    timeUs: timeUs(CONFIG.genesisTimeUs + n),
    account: ALICE,
    subaccountIndex: 0,
    amount: quanta(1_000_000n + BigInt(n)),
  };
}

/** Deposits in groups of these sizes, each durable before the next. */
export async function depositGroups(
  exchange: DurableExchange,
  sizes: readonly number[],
): Promise<void> {
  for (const size of sizes) {
    for (let i = 0; i < size; i++) exchange.submit(deposit(exchange.engine.seq + 1));
    await exchange.durable();
  }
}

/** Ends like a crash: writes nothing more, and the kernel frees the lock. */
export async function abandon(exchange: DurableExchange): Promise<void> {
  const { idleTimer, segments, folder } = exchange as unknown as {
    idleTimer: NodeJS.Timeout;
    segments: { close: () => Promise<void> };
    folder: DataFolder;
  };
  clearTimeout(idleTimer);
  await segments.close();
  folder.abandon();
}
