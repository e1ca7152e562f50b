/**
 * Operator verbs in scenarios (§13): decoded as over HTTP; rejections are differences of the step.
 */
import { expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const HEAD = `orrery: 1
accounts: { alice: { deposit: 100000 }, bob: { deposit: 100000 } }
steps:
  - oracle: { BTC-USD-PERP: 60000 }
`;

/** Differences of every failed step, as `step: path: expected / actual`. */
function failures(steps: string): string[] {
  const parsed = parseScenario(HEAD + steps, 'x.yaml', keccak);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const result = runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
  return result.steps.flatMap((step) =>
    step.differences.map((d) => `${step.path}: ${d.path}: ${d.expected} / ${d.actual}`),
  );
}

test('a market is listed, restricted, reopened and delisted', () => {
  expect(
    failures(`
  - listMarket: { symbol: X-USD-PERP, tickSize: 0.1, lotSize: 0.01 }
    expect: { events: [{ kind: marketListed }] }
  - { as: alice, do: submitOrder, with: { symbol: BTC-USD-PERP, price: 60000, quantity: 1 } }
  - { as: bob, do: submitOrder, with: { symbol: BTC-USD-PERP, price: 60000, quantity: -1 } }
  - setMarketStatus: { symbol: BTC-USD-PERP, status: reduceOnly }
    expect: { events: [{ kind: marketStatusChanged }] }
  - as: alice
    do: submitOrder
    with: { symbol: BTC-USD-PERP, price: 60000, quantity: 1 }
    expect: { body: [{ status: rejected, reason: halted }] }
  - setMarketStatus: { symbol: BTC-USD-PERP, status: halted }
    expect: { events: [{ kind: marketFrozen }] }
  - setMarketStatus: { symbol: BTC-USD-PERP, status: open }
  - delistMarket: { symbol: BTC-USD-PERP, price: 60100 }
    expect:
      events: [{ kind: marketDelisted }]
      positions: { alice: { BTC-USD-PERP: null }, bob: { BTC-USD-PERP: null } }
`),
  ).toEqual([]);
});

test('a predefined market is listed by its symbol, and priced by a command', () => {
  expect(
    failures(`
  - listMarket: { symbol: ETH-USD-PERP, lotSize: 0.02 }
    expect: { events: [{ kind: marketListed }] }
  - command: { kind: setIndex, market: 1, priceTicks: 300000, text: '3000' }
  - as: alice
    do: submitOrder
    with: { symbol: ETH-USD-PERP, price: 2990, quantity: 0.02 }
    expect: { body: [{ status: new }] }
`),
  ).toEqual([]);
});

test('terms that raise maintenance take effect after the notice period', () => {
  expect(
    failures(`
  - setMarketTerms: { symbol: BTC-USD-PERP, initialMargin: 0.05, maintenanceMargin: 0.025 }
    expect: { events: [{ kind: marketTermsChanged }] }
  - do: getMarkets
    expect: { body: [{ marginTiers: [{ maintenanceMargin: 0.01 }], nextTerms: { marginTiers: [{ maintenanceMargin: 0.025 }] } }] }
  - { wait: 24h, do: getMarkets, expect: { body: [{ marginTiers: [{ maintenanceMargin: 0.025 }], nextTerms: null }] } }
`),
  ).toEqual([]);
});

test('an event that announces terms describes them as other events describe amounts', () => {
  expect(
    failures(`
  - setMarketTerms: { symbol: BTC-USD-PERP, initialMargin: 0.05, maintenanceMargin: 0.025 }
    expect:
      events:
        - kind: marketTermsChanged
          nextSpec: { symbol: BTC-USD-PERP, tiers: [{ floor: 0, maintenanceMargin: 25000 }] }
`),
  ).toEqual([]);
});

test('a deposit to the vault account is a command that is refused', () => {
  expect(
    failures(`
  - { deposit: { account: vault, amount: 1 }, expect: { outcome: transfer_not_allowed } }
  - { deposit: { account: insurance, amount: 1 } }
`),
  ).toEqual([]);
});

test.each([
  [
    '{ setMarketStatus: { symbol: BTC-USD-PERP, status: halted }, expect: { outcome: market_delisted } }',
    /market_delisted \/ ok/,
  ],
  ['{ setMarketTerms: { symbol: BTC-USD-PERP, takerFee: 2 } }', /takerFee/],
  ['{ setMarketTerms: { symbol: BTC-USD-PERP, lotSize: 1 } }', /lotSize: identifies the market/],
  ['{ delistMarket: { symbol: BTC-USD-PERP, price: 90000 } }', /price_outside_band/],
  ['{ listMarket: { symbol: BTC-USD-PERP, tickSize: 1, lotSize: 1 } }', /symbol_already_listed/],
])('%s differs, with the reason', (step, words) => {
  expect(failures(`  - ${step}\n`).join('\n')).toMatch(words);
});
