import type { Suite } from './suite.ts';

export const LIQUIBOOK: Suite = {
  engine: 'liquibook',
  source: 'enewhuis/liquibook, test/unit/ut_order_book.cpp',
  mark: '10000',
  sequences: {
    TestAddCompleteBid: `
      bid0 buy 100 @1250
      ask0 sell 100 @1251
      ask1 sell 100 @1252   = 1250:100 | 1251:100 1252:100
      bid1 buy 100 @1251    → ask0:100@1251 = 1250:100 | 1252:100`,
    TestAddCompleteAsk: `
      bid0 buy 100 @1250
      ask0 sell 100 @1251   = 1250:100 | 1251:100
      ask1 sell 100 @1250   → bid0:100@1250 = | 1251:100`,
    TestAddMultiMatchBid: `
      bid0 buy 100 @1250
      ask0 sell 300 @1251
      ask1 sell 100 @1252
      ask2 sell 200 @1251   = 1250:100 | 1251:500 1252:100
      bid1 buy 500 @1251    → ask0:300@1251 ask2:200@1251 = 1250:100 | 1252:100`,
    TestAddMultiMatchAsk: `
      bid0 buy 100 @9250
      bid1 buy 500 @9250
      bid2 buy 100 @9248
      ask0 sell 300 @9251
      ask1 sell 100 @9252
      ask2 sell 200 @9251   = 9250:600 9248:100 | 9251:500 9252:100
      ask3 sell 600 @9250   → bid0:100@9250 bid1:500@9250 = 9248:100 | 9251:500 9252:100`,
    TestAddPartialMatchBid: `
      bid0 buy 100 @7250
      ask0 sell 300 @7253
      ask1 sell 100 @7252
      ask2 sell 200 @7251   = 7250:100 | 7251:200 7252:100 7253:300
      bid1 buy 350 @7251    → ask2:200@7251 = 7251:150 7250:100 | 7252:100 7253:300`,
    TestAddPartialMatchAsk: `
      bid0 buy 100 @1250
      ask0 sell 300 @1253
      bid1 buy 350 @1251
      bid2 buy 200 @1250    = 1251:350 1250:300 | 1253:300
      ask1 sell 400 @1251   → bid1:350@1251 = 1250:300 | 1251:50 1253:300`,
    TestAddMultiPartialMatchBid: `
      bid0 buy 100 @1250
      ask0 sell 300 @1251
      ask1 sell 100 @1252
      ask2 sell 200 @1251
      bid1 buy 750 @1251    → ask0:300@1251 ask2:200@1251 = 1251:250 1250:100 | 1252:100`,
    TestAddMultiPartialMatchAsk: `
      bid0 buy 100 @1250
      ask0 sell 300 @1253
      bid1 buy 370 @1251
      bid2 buy 200 @1251    = 1251:570 1250:100 | 1253:300
      ask1 sell 700 @1251   → bid1:370@1251 bid2:200@1251 = 1250:100 | 1251:130 1253:300`,
    TestRepeatMatchBid: `
      bid0 buy 100 @1250
      bid1 buy 900 @1251    = 1251:900 1250:100 |
      ask0 sell 100 @1251   → bid1:100@1251 = 1251:800 1250:100 |
      ask1 sell 300 @1251   → bid1:300@1251 = 1251:500 1250:100 |
      ask2 sell 200 @1251   → bid1:200@1251 = 1251:300 1250:100 |
      ask3 sell 400 @1251   → bid1:300@1251 = 1250:100 | 1251:100`,
    TestRepeatMatchAsk: `
      ask0 sell 100 @1252
      ask1 sell 900 @1251   = | 1251:900 1252:100
      bid0 buy 100 @1251    → ask1:100@1251 = | 1251:800 1252:100
      bid1 buy 300 @1251    → ask1:300@1251 = | 1251:500 1252:100
      bid2 buy 200 @1251    → ask1:200@1251 = | 1251:300 1252:100
      bid3 buy 400 @1251    → ask1:300@1251 = 1251:100 | 1252:100`,
    TestAddMarketOrderBid: `
      bid0 buy 100 @1250
      ask0 sell 100 @1251
      ask1 sell 100 @1252
      bid1 buy 100 market   → ask0:100@1251 = 1250:100 | 1252:100`,
    TestAddMarketOrderAskMultipleMatch: `
      bid0 buy 400 @12500
      ask0 sell 100 @12520
      bid1 buy 200 @12510   = 12510:200 12500:400 | 12520:100
      ask1 sell 600 market  → bid1:200@12510 bid0:400@12500 = | 12520:100`,
    TestAddMarketOrderBidMultipleMatch: `
      bid0 buy 100 @12500
      ask0 sell 200 @12510
      ask1 sell 300 @12520
      bid1 buy 500 market   → ask0:200@12510 ask1:300@12520 = 12500:100 |`,
    TestCancelBid: `
      bid0 buy 100 @1250
      ask0 sell 100 @1251
      ask1 sell 100 @1251
      ask2 sell 100 @1252   = 1250:100 | 1251:200 1252:100
      cancel bid0
      cancel ask1
      cancel ask1 gone      = | 1251:100 1252:100`,
    TestCancelAskAndMatch: `
      bid0 buy 100 @1250
      bid1 buy 100 @1250
      ask0 sell 100 @1251
      ask1 sell 100 @1252   = 1250:200 | 1251:100 1252:100
      cancel ask0           = 1250:200 | 1252:100
      bid2 buy 100 @1252    → ask1:100@1252 = 1250:200 |
      cancel bid0           = 1250:100 |`,
    TestCancelBidFail: `
      bid0 buy 100 @1250
      ask0 sell 100 @1251
      ask1 sell 100 @1250   → bid0:100@1250 = | 1251:100
      cancel bid0 gone      = | 1251:100`,
    TestCancelBidRestore: `
      ask0 sell 500 @1250
      ask1 sell 400 @1251
      ask2 sell 100 @1252
      ask3 sell 200 @1252
      ask4 sell 300 @1254
      ask5 sell 200 @1255
      ask6 sell 500 @1255
      ask7 sell 100 @1256
      bid0 buy 100 @1249
      bid1 buy 200 @1249
      bid2 buy 200 @1249
      bid3 buy 400 @1248
      bid4 buy 600 @1246
      bid5 buy 500 @1246
      bid6 buy 200 @1245
      bid7 buy 100 @1245
      bid8 buy 200 @1245
      bid9 buy 700 @1244
      bid10 buy 300 @1244
      bid11 buy 300 @1242
      bid12 buy 400 @1241   = 1249:500 1248:400 1246:1100 1245:500 1244:1000 … | 1250:500 1251:400 1252:300 1254:300 1255:700 …
      cancel bid3           = 1249:500 1246:1100 1245:500 1244:1000 1242:300 … | 1250:500 1251:400 1252:300 1254:300 1255:700 …
      cancel bid7
      cancel bid4           = 1249:500 1246:500 1245:400 1244:1000 1242:300 … | 1250:500 …
      cancel bid1
      cancel bid0
      cancel bid2           = 1246:500 1245:400 1244:1000 1242:300 1241:400 | 1250:500 …`,
  },
};

export const LIQUIBOOK_IOC: Suite = {
  engine: 'liquibook',
  source: 'enewhuis/liquibook, test/unit/ut_immediate_or_cancel.cpp',
  mark: '1250',
  sequences: {
    TestIocBidNoMatch: `
      ask1 sell 100 @1251
      ask2 sell 100 @1252
      bid1 buy 100 @1249
      bid2 buy 100 @1248
      bid0 buy 100 @1250 ioc  = 1249:100 1248:100 | 1251:100 1252:100`,
    TestIocBidPartialMatch: `
      ask0 sell 100 @1250
      ask1 sell 100 @1251
      bid1 buy 100 @1249
      bid0 buy 300 @1250 ioc  → ask0:100@1250 = 1249:100 | 1251:100`,
    TestIocBidFullMatch: `
      ask0 sell 400 @1250
      ask1 sell 100 @1251
      bid1 buy 100 @1249
      bid0 buy 300 @1250 ioc  → ask0:300@1250 = 1249:100 | 1250:100 1251:100`,
    TestIocBidMultiMatch: `
      ask0 sell 400 @1250
      ask1 sell 100 @1251
      ask2 sell 100 @1252
      bid1 buy 100 @1249
      bid2 buy 100 @1248
      bid0 buy 500 @1251 ioc  → ask0:400@1250 ask1:100@1251 = 1249:100 1248:100 | 1252:100`,
  },
};

/**
 * Its market orders rest when unmatched, which these do not; so its second test, in which a fired
 * stop rests as a market order, is excluded. Its first market price, and its all-or-none orders,
 * are plain orders here.
 */
export const LIQUIBOOK_STOPS: Suite = {
  engine: 'liquibook',
  source: 'enewhuis/liquibook, test/unit/ut_stop_orders.cpp',
  mark: '55',
  sequences: {
    TestStopOrdersOffMarketNoTrade: `
      0 buy 100 @55
      1 sell 100 market          → 0:100@55 = |
      2 buy 100 market stop 56
      3 sell 100 market stop 54  = |`,
    TestStopMarketOrdersTradeWhenStopPriceReached: `
      a buy 1 @55
      b sell 1 @55               → a:1@55
      0 buy 100 @53
      1 sell 100 @57
      2 buy 100 market stop 56
      3 sell 100 market stop 54  = 53:100 | 57:100
      4 buy 1000 @56
      5 sell 1000 @56            → 4:1000@56 1:100@57 = 53:100 |
      6 buy 1000 @54
      7 sell 1000 @54            → 6:1000@54 0:100@53 = |`,
  },
};
