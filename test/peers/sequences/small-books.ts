import type { Suite } from './suite.ts';

export const CPP_TRADER: Suite = {
  engine: 'CppTrader',
  source: 'chronoxor/CppTrader, tests/test_matching_engine.cpp',
  mark: '40',
  sequences: {
    // Its last order sells at 0; here the lowest price is one tick.
    'Automatic matching': `
      1 buy 10 @10
      2 buy 20 @10
      3 buy 30 @10
      4 buy 10 @20
      5 buy 20 @20
      6 buy 30 @20
      7 buy 10 @30
      8 buy 20 @30
      9 buy 30 @30        Σ 9/180 0/0
      10 sell 30 @40
      11 sell 20 @40
      12 sell 10 @40
      13 sell 30 @50
      14 sell 20 @50
      15 sell 10 @50
      16 sell 30 @60
      17 sell 20 @60
      18 sell 10 @60      Σ 9/180 9/180
      19 sell 5 @30       → …
      20 sell 25 @30      → …
      21 sell 15 @30      → …
      22 sell 20 @30      → … Σ 6/120 10/185
      23 buy 105 @60      → … Σ 6/120 5/80
      cancel 15
      15b sell 20 @20     → … Σ 5/100 4/70
      cancel 2
      24 buy 100 @70      → … Σ 5/110 0/0
      cancel 1
      25 sell 100 @1      → … Σ 0/0 0/0`,
  },
};

export const JXM35: Suite = {
  engine: 'LimitOrderBook-MatchingEngine',
  source: 'jxm35/LimitOrderBook-MatchingEngine, OrderBookTests/tests/MatchingEngineTests.cpp',
  mark: '50',
  sequences: {
    CanMatchCrossedSpreadEqualQuantity: `
      bid buy 20 @51
      ask sell 20 @49  → … = |`,
    CanMatchCrossedSpreadMoreAsks: `
      bid buy 20 @51
      ask sell 15 @49  → … = 51:5 |`,
    CanMatchCrossedSpreadMoreBids: `
      bid buy 15 @51
      ask sell 20 @49  → … = | 49:5`,
    DoesntMatchInsufficientBids: `
      bid buy 15 @49
      ask sell 20 @51  = 49:15 | 51:20`,
  },
};

export const ABIDES: Suite = {
  engine: 'ABIDES',
  source:
    'jpmorganchase/abides-jpmc-public, abides-markets tests/orderbook/{test_market_orders,test_limit_orders}.py',
  mark: '150',
  sequences: {
    test_handle_market_order_bid_1: `
      a sell 30 @100
      m buy 10 market   → a:10@100 = | 100:20`,
    test_handle_market_order_bid_2: `
      a sell 30 @100
      m buy 30 market   → a:30@100 = |`,
    test_handle_market_order_bid_3: `
      a sell 30 @100
      b sell 40 @100
      m buy 70 market   → a:30@100 b:40@100 = |`,
    test_handle_market_order_bid_4: `
      a sell 30 @100
      b sell 40 @200
      m buy 70 market   → a:30@100 b:40@200 = |`,
    test_handle_market_order_ask_1: `
      a buy 30 @100
      m sell 10 market  → a:10@100 = 100:20 |`,
    test_handle_market_order_ask_2: `
      a buy 30 @100
      m sell 30 market  → a:30@100 = |`,
    test_handle_market_order_ask_3: `
      a buy 30 @100
      b buy 40 @100
      m sell 70 market  → a:30@100 b:40@100 = |`,
    test_handle_market_order_ask_4: `
      b buy 40 @200
      a buy 30 @100
      m sell 70 market  → b:40@200 a:30@100 = |`,
    test_handle_matching_limit_orders_bid: `
      a sell 30 @100
      b buy 30 @110     → a:30@100 = |`,
    test_handle_matching_limit_orders_ask: `
      a buy 30 @100
      b sell 30 @90     → a:30@100 = |`,
  },
};

export const GO_ORDERBOOK: Suite = {
  engine: 'go-orderbook',
  source: 'danielgatis/go-orderbook, order_book_limit_test.go and .snapshots',
  mark: '600',
  sequences: {
    'TestProcessLimitOrderBids happy path 3': `
      1 sell 5 @500
      2 sell 2 @400
      3 sell 1 @300
      4 buy 1.5 @300   → 3:1@300 = 300:0.5 | 400:2 500:5`,
    'TestProcessLimitOrderBids happy path 5': `
      1 sell 5 @500
      2 sell 2 @400
      3 sell 1 @300
      4 buy 9 @1000    → 3:1@300 2:2@400 1:5@500 = 1000:1 |`,
    'TestProcessLimitOrderAsks happy path 3': `
      1 buy 5 @500
      2 buy 1 @400
      3 buy 0.5 @300
      4 sell 5.2 @500  → 1:5@500 = 400:1 300:0.5 | 500:0.2`,
  },
};

export const ORDERBOOK: Suite = {
  engine: 'orderbook',
  source: 'i25959341/orderbook, orderbook_test.go',
  mark: '100',
  sequences: {
    TestOrderBook: `
      100 sell 5 @101
      101 sell 5 @103
      102 sell 5 @101
      103 sell 5 @101
      b100 buy 5 @99
      b101 buy 5 @98
      b102 buy 5 @99
      b103 buy 5 @97   = 99:10 98:5 97:5 | 101:15 103:5
      109 buy 2 @102   → 100:2@101 = 99:10 … | 101:13 103:5
      110 buy 50 @102  → 100:3@101 102:5@101 103:5@101 = 102:37 99:10 … | 103:5`,
  },
};
