import type { Suite } from './suite.ts';

const DEPTH_BY_TEN = `
  b50 buy 2 @50
  b60 buy 2 @60
  b70 buy 2 @70
  b80 buy 2 @80
  b90 buy 2 @90
  s100 sell 2 @100
  s110 sell 2 @110
  s120 sell 2 @120
  s130 sell 2 @130
  s140 sell 2 @140
    = 90:2 80:2 70:2 60:2 50:2 | 100:2 110:2 120:2 130:2 140:2`;

export const NODEJS_ORDER_BOOK: Suite = {
  engine: 'nodejs-order-book',
  source: 'fasenderos/nodejs-order-book, test/orderbook.test.ts',
  mark: '100',
  before: DEPTH_BY_TEN,
  sequences: {
    'test limit': `
      b100 buy 1 @100   → s100:1@100 = 90:2 … | 100:1 110:2 …
      b150 buy 10 @150  → s100:1@100 s110:2@110 s120:2@120 s130:2@130 s140:2@140 = 150:1 90:2 … |
      cancel b100 gone
      s40 sell 11 @40   → b150:1@150 b90:2@90 b80:2@80 b70:2@70 b60:2@60 b50:2@50 = |`,
    'test market': `
      m1 buy 3 market   → s100:2@100 s110:1@110 = 90:2 … | 110:1 120:2 …
      m2 sell 12 market → b90:2@90 b80:2@80 b70:2@70 b60:2@60 b50:2@50 = | 110:1 …`,
  },
};

const STP_SOURCE = 'fasenderos/nodejs-order-book, test/stp.test.ts';
export const STP_MAKER: Suite = {
  engine: 'nodejs-order-book',
  source: STP_SOURCE,
  mark: '100',
  selfTradeExpire: 1,
  sequences: {
    'A: the maker expires, the taker continues': `
      buy100 buy 5 @100 by alice
      buy90 buy 5 @90 by alice
      taker sell 3 @90 by alice    ! buy100 buy90 = | 90:3`,
    'E: a market order': `
      buy100 buy 5 @100 by alice
      taker sell 3 market by alice ! buy100 = |`,
    'G: different accounts': `
      buy100 buy 5 @100 by alice
      taker sell 3 @90 by bob      → buy100:3@100 = 100:2 |`,
    'I: mixed accounts at a price': `
      alice100 buy 5 @100 by alice
      bob100 buy 5 @100 by bob
      taker sell 8 @90 by alice    → bob100:5@100 ! alice100 = | 90:3`,
    'J: several prices': `
      buy90 buy 5 @90 by alice
      buy80 buy 5 @80 by alice
      taker sell 3 @80 by alice    ! buy90 buy80 = | 80:3`,
  },
};
export const STP_TAKER: Suite = {
  engine: 'nodejs-order-book',
  source: STP_SOURCE,
  mark: '100',
  selfTradeExpire: 0,
  sequences: {
    'B: the taker expires, the maker stays': `
      buy100 buy 5 @100 by alice
      taker sell 3 @90 by alice    ! taker = 100:5 |`,
    'F: a market order': `
      buy100 buy 5 @100 by alice
      taker sell 3 market by alice ! taker = 100:5 |`,
  },
};
export const STP_BOTH: Suite = {
  engine: 'nodejs-order-book',
  source: STP_SOURCE,
  mark: '100',
  selfTradeExpire: 2,
  sequences: {
    'C: both expire': `
      buy100 buy 5 @100 by alice
      taker sell 3 @90 by alice    ! buy100 taker = |`,
    'K: a market order': `
      buy100 buy 5 @100 by alice
      taker sell 3 market by alice ! buy100 taker = |`,
  },
};
