/**
 * Differences of a later page, of its headers and of a feed have scenarios, which fail in a build
 * with the bug and pass without it.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { passesHere, reportTarget } from '../../src/cli/fuzz/target-failure.ts';
import type { Command } from '../../src/engine/commands.ts';
import { hostFiles } from '../../src/fuzz/report/host-files.ts';
import { userAddress } from '../../src/fuzz/run-setup.ts';
import type { HostDivergence } from '../../src/fuzz/twin/divergence.ts';
import { recordOf, repeat } from '../../src/fuzz/twin/replay.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../../src/gateway/market-config.ts';
import { quanta } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { buildWith, scenarioFault, type Built } from './reproductions/prove-bug.ts';

const config = DEFAULT_EXCHANGE_CONFIG;
const markets = DEFAULT_MARKETS.slice(0, 1).map((market) => {
  const spec = parseMarketSpec(market, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
});
const account = userAddress(0);
const at = { timeUs: config.genesisTimeUs, account, subaccountIndex: 0 };
const commands: readonly Command[] = [
  ...markets.map((spec): Command => ({ kind: 'listMarket', timeUs: at.timeUs, spec })),
  ...[1n, 2n, 3n].map((amount): Command => ({
    kind: 'deposit',
    ...at,
    amount: quanta(amount * 1_000_000n),
  })),
];

/** The second page of deposits, of one each. */
async function differenceOfPage(built: Built): Promise<HostDivergence> {
  const probe = {
    kind: 'call',
    endpoint: 'getTransfers',
    request: { account, subaccountIndex: 0, limit: 1 },
    account,
    page: 1,
  } as const;
  const host = new built.InProcessHost(config, markets, keccak);
  const record = recordOf(config, commands, { probe, timeMs: at.timeUs / 1000 });
  const { divergence } = await repeat(record, { host, config, markets, users: [account], keccak });
  if (divergence === null) throw new Error('the host replies as its twin does');
  return divergence;
}

function scenarioOf(divergence: HostDivergence): string {
  const failure = { config, commands, divergence, seed: 'page', shrunk: 'By hand.' };
  return String(hostFiles(failure, keccak, passesHere)['scenario.yaml']);
}

const FEED: HostDivergence = {
  violation: { invariant: 'host feeds', rule: 'R-11.4', says: 'a host sends', detail: 'by hand' },
  difference: { path: 'message', expected: 'another', actual: 'one', rule: 'R-11.4' },
  probe: { kind: 'feeds' },
  commands: commands.length,
  timeMs: at.timeUs / 1000,
};

test.each([
  ['entry', 'found.slice(Math.min(alike, countAlike(found, upTo)))', 'found', 'body[0].amount'],
  ['header', 'paging.limit + alike + 1', 'paging.limit + Math.max(alike, 1)', 'more'],
])('a wrong %s of a later page fails its scenario', async (what, find, replace, path) => {
  const file = 'gateway/paging.ts#pageOfMoments';
  const built = await buildWith(`later-${what}`, [{ file, find, replace }]);
  const divergence = await differenceOfPage(built);
  expect(divergence.probe).toMatchObject({ page: 1 });
  const scenario = scenarioOf(divergence);
  expect(scenarioFault(built, scenario), 'with the bug').toContain(path);
  expect(passesHere(scenario), 'without it').toBe(true);
});

test('a wrong update of a feed fails its scenario', async () => {
  const bug = {
    file: 'gateway/feeds/feed-records.ts#FeedRecords.balance',
    find: 'money(subaccount.balanceQuanta)',
    replace: 'money(subaccount.balanceQuanta + 1n)',
  };
  const built = await buildWith('wrong-balance-update', [bug]);
  const scenario = scenarioOf(FEED);
  expect(scenarioFault(built, scenario), 'with the bug').toContain('checks.feeds');
  expect(passesHere(scenario), 'without it').toBe(true);
});

test('a scenario that passes in the build under test is not kept', async () => {
  const out = mkdtempSync(join(tmpdir(), 'orrery-host-scenarios-'));
  const report = (hostCommand: string): Promise<string> =>
    reportTarget({
      ...{ out, seed: 'page', simToken: 'dev', config, markets, commands, hostCommand },
      ...{ divergence: FEED, shrinkSeconds: 0, quiet: true },
    });
  try {
    // Commands that end as a build in which the scenario fails, and as one in which it passes.
    const folder = await report('false');
    expect(existsSync(join(folder, 'scenario.yaml'))).toBe(true);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('scenario.yaml');
    await report('true');
    expect(existsSync(join(folder, 'scenario.yaml'))).toBe(false);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).not.toContain('scenario.yaml');
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});
