/**
 * Exchange parameters of a configuration file: EIP-712 domain, system accounts, rate limit (R-9.2,
 *
 */
import { expect, test } from 'vitest';
import { DEFAULT_EXCHANGE_CONFIG, parseExchangeConfig } from '../../src/gateway/exchange-config.ts';

const ADDRESS = `0x${'A1'.repeat(20)}`;

test('identity, accounts and rate limit', () => {
  const parsed = parseExchangeConfig({
    name: 'Mine',
    chainId: '1',
    verifyingContract: ADDRESS,
    clsAccount: `0x${'b2'.repeat(20)}`,
    cashFeedId: `0x${'0'.repeat(63)}1`,
    rateLimit: 'true',
  });
  expect(parsed).toMatchObject({
    ok: true,
    value: {
      name: 'Mine',
      chainId: 1,
      verifyingContract: ADDRESS.toLowerCase(),
      clsAccount: `0x${'b2'.repeat(20)}`,
      cashFeedId: `0x${'0'.repeat(63)}1`,
      rateLimit: true,
    },
  });
  const bare = parseExchangeConfig({});
  expect(bare).toMatchObject({ ok: true, value: DEFAULT_EXCHANGE_CONFIG });
  expect(parseExchangeConfig({ rateLimit: true })).toMatchObject({ value: { rateLimit: true } });
});

test.each([
  [{ rateLimit: 'on' }, 'config.rateLimit: must be one of true, false'],
  [{ verifyingContract: '0x1' }, /^config\.verifyingContract: must be an address/],
  [{ indexStaleMs: 1e300 }, 'config.indexStaleMs: must be an integer from 1 to 10000000000'],
  [{ indexStaleMs: '1e300' }, 'config.indexStaleMs: must be an integer from 1 to 10000000000'],
  [{ indexStaleMs: 1.5 }, 'config.indexStaleMs: must be an integer from 1 to 10000000000'],
  [{ cashFeedId: '7' }, /^config\.cashFeedId: must be a feed id/],
  [
    { clsAccount: DEFAULT_EXCHANGE_CONFIG.insuranceAccount },
    'config.clsAccount: is another account of the exchange',
  ],
] as const)('%j is rejected', (config, words) => {
  const parsed = parseExchangeConfig(config);
  expect(parsed.ok ? '' : parsed.error).toMatch(words);
});
