import type { Suite } from './suite.ts';

/**
 * Subaccounts 0 and 1 of its Alice are separate accounts here: self-trade is by account.
 * Its highest price is 1,000 here.
 */
export const DYDX: Suite = {
  engine: 'dYdX v4 memclob',
  source: 'dydxprotocol/v4-chain, protocol/x/clob/memclob/memclob_place_order_test.go',
  mark: '500',
  selfTradeExpire: 1,
  sequences: {
    'a buy overlaps, and its remainder is placed': `
      a sell 5 @10 by alice0
      b buy 20 @35 by bob         → a:5@10 = 35:15 |`,
    'a sell overlaps, and its remainder is placed': `
      a buy 5 @10 by alice0
      b sell 20 @10 by bob        → a:5@10 = | 10:15`,
    'a buy at the highest price': `
      a sell 25 @1000 by alice0
      b buy 35 @1000 by alice1    → a:25@1000 = 1000:10 |`,
    'a sell consumes two buys of one subaccount': `
      a buy 20 @35 by bob
      b buy 5 @40 by bob
      c sell 10 @15 by alice1     → b:5@40 a:5@35 = 35:15 |`,
    'fully matched, and the book is empty': `
      a sell 10 @15 by alice0
      b buy 10 @45 by alice1      → a:10@15 = |`,
    'continues after a self-trade, whose maker is cancelled': `
      a sell 10 @15 by bob
      b sell 10 @15 by alice1
      c buy 35 @1000 by alice1    → a:10@15 ! b = 1000:25 |`,
    'fully matches two sells and rests': `
      a sell 50 @40 by alice1
      b sell 5 @10 by alice0
      c sell 5 @10 by alice0
      d buy 20 @35 by bob         → b:5@10 c:5@10 = 35:10 | 40:50`,
    'matches two sells before part of a third': `
      a sell 15 @22 by alice1
      b sell 5 @10 by alice0
      c sell 5 @10 by alice0
      d buy 67 @5 by alice1
      e buy 25 @5 by alice0
      f sell 50 @40 by alice1
      g buy 20 @35 by bob         → b:5@10 c:5@10 a:10@22 = 5:92 | 22:5 40:50`,
    'a partly filled maker keeps its queue position': `
      a sell 20 @10 by bob
      b buy 5 @10 by alice0       → a:5@10
      c sell 10 @10 by alice1
      d buy 15 @25 by alice1      → a:15@10 = | 10:10`,
    'several matches before': `
      a buy 10 @45 by alice1
      b sell 10 @15 by bob        → a:10@45
      c buy 5 @40 by bob
      d sell 15 @22 by alice1     → c:5@40
      e buy 20 @35 by bob         → d:10@22 = 35:10 |`,
    'post-only on an empty book': `
      a buy 20 @35 post by bob    = 35:20 |`,
    'post-only that would match completely': `
      a buy 20 @35 by bob
      b buy 5 @40 by bob
      c sell 10 @15 post by alice1 = 40:5 35:20 |`,
    'post-only that would match partly': `
      a buy 5 @40 by bob
      b sell 10 @15 post by alice1 = 40:5 |`,
    'immediate or cancel on an empty book': `
      a sell 10 @15 ioc by alice1 = |`,
    'immediate or cancel, complete': `
      a buy 20 @35 by bob
      b buy 5 @40 by bob
      c sell 10 @15 ioc by alice1 → b:5@40 a:5@35 = 35:15 |`,
    'immediate or cancel, partial': `
      a buy 25 @5 by alice0
      b buy 5 @40 by bob
      c sell 10 @15 ioc by alice1 → b:5@40 = 5:25 |`,
  },
};
