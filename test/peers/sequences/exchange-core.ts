import type { Suite } from './suite.ts';

/** The book of its suite before each test; all orders have one user. */
const EXCHANGE_CORE_BOOK = `
  0 sell 131 @81600 by uid2
  cancel 0
  1 sell 100 @81600 by uid1
  2 sell 50 @81599 by uid1
  3 sell 25 @81599 by uid1
  4 buy 40 @81593 by uid1
  5 buy 20 @81590 by uid1
  6 buy 1 @81590 by uid1
  7 buy 20 @81200 by uid1
  8 sell 28 @201000 by uid1
  9 sell 32 @201000 by uid1
  10 sell 10 @200954 by uid1
  11 buy 12 @10000 by uid1
  12 buy 1 @10000 by uid1
  13 buy 2 @9136 by uid1
    = 81593:40 81590:21 81200:20 10000:13 9136:2 | 81599:75 81600:100 200954:10 201000:60`;
const CORE_BIDS = '81593:40 81590:21 81200:20 10000:13 9136:2';
const CORE_FAR_ASKS = '200954:10 201000:60';
const CORE_ALL_ASKS = '2:50@81599 3:25@81599 1:100@81600 10:10@200954 8:28@201000 9:32@201000';

export const EXCHANGE_CORE: Suite = {
  engine: 'exchange-core',
  source:
    'exchange-core/exchange-core, src/test/java/exchange/core2/core/orderbook/OrderBookBaseTest.java',
  mark: '150000',
  before: EXCHANGE_CORE_BOOK,
  sequences: {
    shouldRemoveOrder: `
      cancel 5  = 81593:40 81590:1 … | 81599:75 …
      cancel 2  = 81593:40 81590:1 … | 81599:25 81600:100 …`,
    shouldRemoveOrderAndEmptyBucket: `
      cancel 2
      cancel 3  = ${CORE_BIDS} | 81600:100 ${CORE_FAR_ASKS}`,
    shouldMoveOrderNewBucket: `
      cancel 7
      7b buy 20 @81594 by uid1  = 81594:20 81593:40 81590:21 10000:13 9136:2 | 81599:75 …`,
    shouldMatchIocOrderPartialBBO: `
      123 sell 10 @1 ioc   → 4:10@81593 = 81593:30 81590:21 … | 81599:75 …`,
    shouldMatchIocOrderFullBBO: `
      123 sell 40 @1 ioc   → 4:40@81593 = 81590:21 81200:20 … | 81599:75 …`,
    shouldMatchIocOrderWithTwoLimitOrdersPartial: `
      123 sell 41 @1 ioc   → 4:40@81593 5:1@81590 = 81590:20 81200:20 … | 81599:75 …`,
    shouldMatchIocOrderFullLiquidity: `
      123 buy 175 @400000 ioc  → 2:50@81599 3:25@81599 1:100@81600 = ${CORE_BIDS} | ${CORE_FAR_ASKS}`,
    // 25 of it remain unmatched.
    shouldMatchIocOrderWithRejection: `
      123 buy 270 @400000 ioc  → ${CORE_ALL_ASKS} = ${CORE_BIDS} |`,
    shouldFullyMatchMarketableGtcOrder: `
      123 buy 1 @81599     → 2:1@81599 = ${CORE_BIDS} | 81599:74 81600:100 ${CORE_FAR_ASKS}`,
    shouldPartiallyMatchMarketableGtcOrderAndPlace: `
      123 buy 77 @81599    → 2:50@81599 3:25@81599 = 81599:2 ${CORE_BIDS} | 81600:100 ${CORE_FAR_ASKS}`,
    shouldFullyMatchMarketableGtcOrder2Prices: `
      123 buy 77 @81600    → 2:50@81599 3:25@81599 1:2@81600 = ${CORE_BIDS} | 81600:98 ${CORE_FAR_ASKS}`,
    shouldFullyMatchMarketableGtcOrderWithAllLiquidity: `
      123 buy 1000 @220000 → ${CORE_ALL_ASKS} = 220000:755 ${CORE_BIDS} |`,
    shouldMoveOrderFullyMatchAsMarketable: `
      83 buy 20 @81200     = 81593:40 81590:21 81200:40 … | 81599:75 …
      cancel 83
      83b buy 20 @81602    → 2:20@81599 = ${CORE_BIDS} | 81599:55 81600:100 ${CORE_FAR_ASKS}`,
    shouldMoveOrderFullyMatchAsMarketable2Prices: `
      83 buy 100 @81594
      cancel 83
      83b buy 100 @81600   → 2:50@81599 3:25@81599 1:25@81600 = ${CORE_BIDS} | 81600:75 ${CORE_FAR_ASKS}`,
    shouldMoveOrderMatchesAllLiquidity: `
      83 buy 246 @81594
      cancel 83
      83b buy 246 @201000  → ${CORE_ALL_ASKS} = 201000:1 ${CORE_BIDS} |`,
  },
};

export const EXCHANGE_CORE_FEATURE: Suite = {
  engine: 'exchange-core',
  source:
    'exchange-core/exchange-core, src/test/resources/exchange/core2/tests/features/basic.feature',
  mark: '1600',
  sequences: {
    'basic full cycle': `
      101 sell 7 @1600 by alice
      102 buy 4 @1550 by alice     = 1550:4 | 1600:7
      201 buy 2 @1700 ioc by bob   → 101:2@1600 = 1550:4 | 1600:5
      202 buy 4 @1583 by bob       = 1583:4 1550:4 | 1600:5
      cancel 101
      101b sell 5 @1580 by alice   → 202:4@1583 = 1550:4 | 1580:1`,
  },
};
