/** Planted bugs of records, rights and hashes that only a comparison of every field finds. */
import { expect, test } from 'vitest';
import { buildWith, findFailure } from './reproductions/prove-bug.ts';

/** Runs of a search: a number of them does not depend on the speed of the machine. */
const RUNS = 64;

test.each([
  {
    name: 'the time of a balance',
    check: 'feeds',
    file: 'gateway/feeds/feed-records.ts#FeedRecords.balance',
    find: 'millis(subaccount.updatedAtUs)',
    replace: 'millis(view.nowUs)',
  },
  {
    name: 'a delegate of a subaccount that does not exist',
    check: 'gateway',
    file: 'gateway/account-updates.ts#updateDelegates',
    find: 'mustSubaccount(context, account, subaccountIndex);',
    replace: '',
  },
  {
    name: 'a cost beyond 2^53 in a hash',
    check: 'hash',
    file: 'engine/chain-hash/hash-event.ts#hashPositionChanged',
    find: 'hash.bigint(quantaOf(cost))',
    replace: 'hash.bigint(0n)',
  },
  {
    name: 'the allowance of insurance',
    check: 'gateway',
    file: 'gateway/market-data.ts#getConfig',
    find: 'funds.insuranceAllowanceQuanta',
    replace: 'funds.insuranceQuanta',
  },
  {
    name: 'the fee of an originator in a preview',
    check: 'gateway',
    file: 'gateway/preview.ts#previewOrders',
    find: 'feeQuanta: event.feeQuanta + event.originatorFeeQuanta',
    replace: 'feeQuanta: event.feeQuanta',
  },
  {
    name: 'the orders that a previewed delisting ends',
    check: 'gateway',
    file: 'gateway/preview.ts#effectsOf',
    find: 'ordersEnded += 1',
    replace: 'ordersEnded = 1',
    from: 28,
  },
])('$name is found by the check $check', { timeout: 900_000 }, async ({ from = 0, ...bug }) => {
  const built = await buildWith(`record-${bug.name.replaceAll(/\W+/g, '-')}`, [bug]);
  const { failed } = findFailure(built, from, Infinity, from + RUNS);
  expect(failed?.violation.check).toBe(bug.check);
});
