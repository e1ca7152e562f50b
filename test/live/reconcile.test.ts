/** After a gap, the funding of corrected positions is that of the exchange. */
import { expect, test } from 'vitest';
import type { MatcherClient } from '../../src/gateway/matcher-client.ts';
import { FundingPayments } from '../../src/live/funding-payments.ts';
import type { LiveGap } from '../../src/live/live-record.ts';
import type { LiveUpdates } from '../../src/live/live-updates.ts';
import { Reconcile } from '../../src/live/reconcile.ts';

const RESUMED = { lostMs: 1000, resumedMs: 2000, unknownFills: 'no history' };

/** Compares positions once: those of the exchange, and the markets whose count differs from them. */
async function compared(
  held: readonly { readonly symbol: string; readonly funding: string }[],
  differing: readonly string[],
  funding: FundingPayments,
): Promise<LiveGap[]> {
  const gaps: LiveGap[] = [];
  const answers: Record<string, unknown> = { getPositions: held, getBalance: [{ balance: '9' }] };
  const reconcile = new Reconcile({
    client: {
      call: (endpoint: string) => Promise.resolve(answers[endpoint]),
    } as unknown as MatcherClient,
    account: '0x1',
    subaccountIndex: 0,
    updates: {
      differences: () => new Map(differing.map((symbol) => [symbol, 5])),
      correct: () => ({ counted: '0.03', exchange: '0.05' }),
    } as unknown as LiveUpdates,
    funding,
    stop: new AbortController().signal,
    onGap: (gap) => {
      gaps.push(gap);
    },
  });
  reconcile.resumed(RESUMED);
  await reconcile.end();
  return gaps;
}

test('the next payment is counted from the funding of the corrected position (D-46)', async () => {
  const funding = new FundingPayments();
  for (const symbol of ['BTC', 'ETH', 'SOL']) funding.begin(symbol, '-0.3');
  // Missed fills closed a part of BTC, which realised -0.2 of its funding, and all of ETH.
  const held = [
    { symbol: 'BTC', funding: '-0.1' },
    { symbol: 'SOL', funding: '-0.3' },
  ];
  const gaps = await compared(held, ['BTC', 'ETH'], funding);
  expect(gaps).toMatchObject([{ positions: [{ symbol: 'BTC' }, { symbol: 'ETH' }] }]);
  expect(funding.settled('BTC', '-0.15')).toBe('-0.05');
  expect(funding.settled('ETH', '-0.04')).toBe('-0.04');
  expect(funding.settled('SOL', '-0.37')).toBe('-0.07');
});

test('without a difference a settlement during the gap is a payment', async () => {
  const funding = new FundingPayments();
  funding.begin('BTC', '-0.3');
  await compared([{ symbol: 'BTC', funding: '-0.5' }], [], funding);
  // The settlement has an update of its own, with its payment.
  expect(funding.settled('BTC', '-0.5')).toBe('-0.2');
});
