/**
 * Matching facts: order sequences from the test suites of other engines go through the contract and
 * give the same trades and books. `sequences` has the expected books and
 * owners. After every request the invariants hold and the oracle agrees.
 */
import { describe, expect, test } from 'vitest';
import { RiskWorld } from '../engine/risk-world.ts';
import { DYDX } from './sequences/dydx.ts';
import { EXCHANGE_CORE, EXCHANGE_CORE_FEATURE } from './sequences/exchange-core.ts';
import { LIQUIBOOK, LIQUIBOOK_IOC, LIQUIBOOK_STOPS } from './sequences/liquibook.ts';
import {
  NODEJS_ORDER_BOOK,
  STP_BOTH,
  STP_MAKER,
  STP_TAKER,
} from './sequences/nodejs-order-book.ts';
import { ABIDES, CPP_TRADER, GO_ORDERBOOK, JXM35, ORDERBOOK } from './sequences/small-books.ts';
import { rowsOf, type Row, type Suite } from './sequences/suite.ts';

const SUITES: readonly Suite[] = [
  LIQUIBOOK,
  LIQUIBOOK_IOC,
  LIQUIBOOK_STOPS,
  CPP_TRADER,
  EXCHANGE_CORE,
  EXCHANGE_CORE_FEATURE,
  JXM35,
  ABIDES,
  GO_ORDERBOOK,
  ORDERBOOK,
  NODEJS_ORDER_BOOK,
  STP_MAKER,
  STP_TAKER,
  STP_BOTH,
  DYDX,
];

/** Substitute for market orders: any price within the band. */
const ANY_PRICE = { buy: '1000000', sell: '1' };

interface OrderBody {
  readonly orderId: string;
  readonly quantity: string;
  readonly remaining: string;
  readonly status: string;
}

interface BookBody {
  readonly bids: readonly { readonly price: string; readonly quantity: string }[];
  readonly asks: readonly { readonly price: string; readonly quantity: string }[];
}

class Replay {
  private readonly world: RiskWorld;
  private readonly funded = new Set<string>();
  /** Owner and contract id of each order of the sequence. */
  private readonly orders = new Map<string, { readonly by: string; readonly orderId: string }>();
  /** Names by the engine's ids, as in events. */
  private readonly names = new Map<number, string>();

  constructor({ mark, selfTradeExpire = 0 }: Suite) {
    this.world = new RiskWorld([{ lotSize: '0.1' }], { selfTradeExpire, triggerSource: 'last' });
    this.world.price(mark);
  }

  row(row: Row): void {
    const from = this.world.events.length;
    if (row.kind === 'cancel') this.cancel(row.id, row.gone);
    else this.place(row);
    const { trades, ends } = this.happened(from);
    if (row.trades !== null) expect(trades, row.text).toEqual(row.trades);
    expect(ends, row.text).toEqual(row.ends);
    if (row.book !== null) {
      const { bids, asks } = this.book();
      expectLevels(bids, row.book.bids, row.text);
      expectLevels(asks, row.book.asks, row.text);
    }
    if (row.totals !== null) expect(this.totals(), row.text).toEqual(row.totals);
  }

  private place({
    id,
    side,
    size,
    price,
    ioc,
    postOnly,
    stop,
    by,
  }: Row & { readonly kind: 'place' }): void {
    if (!this.funded.has(by)) {
      this.world.fund({ [by]: '1000000000' });
      this.funded.add(by);
    }
    const record = this.world.order(
      by,
      side === 'buy' ? size : `-${size}`,
      price ?? ANY_PRICE[side],
      {
        flags: { ioc, postOnly, reduceOnly: false },
        ...(stop === null ? {} : { orderType: 'stopLoss', triggerPrice: stop }),
      },
    );
    if (typeof record === 'string') throw new Error(`${id}: ${record}`);
    this.orders.set(id, { by, orderId: record.orderId });
    this.names.set(this.world.engine.lastOrderId, id);
  }

  private cancel(id: string, gone: boolean): void {
    const { by, orderId } = this.orders.get(id) ?? { by: '', orderId: '' };
    const account = this.world.addressOf(by);
    const { status } = this.world.call('cancelOrder', { orderId, account }, by);
    expect(status, `cancel ${id}`).toBe(gone ? 404 : 200);
  }

  /**
   * Trades by the resting orders' side, and orders ended by self-trade prevention, since an event.
   */
  private happened(from: number): { readonly trades: string[]; readonly ends: string[] } {
    const trades: string[] = [];
    const ends: string[] = [];
    const nameOf = (id: number): string => this.names.get(id) ?? String(id);
    for (const event of this.world.events.slice(from)) {
      if (event.kind === 'orderFilled' && event.role === 'maker') {
        const size = Math.abs(event.lots) / 10;
        trades.push(`${nameOf(event.orderId)}:${String(size)}@${String(event.priceTicks)}`);
      } else if (event.kind === 'orderEnded' && event.reason === 'selfTrade') {
        ends.push(nameOf(event.orderId));
      }
    }
    return { trades, ends };
  }

  private book(): { readonly bids: string[]; readonly asks: string[] } {
    const { bids, asks } = this.world.ask(
      'getBook',
      { symbol: 'M', depth: 1000 },
      'viewer',
    ) as BookBody;
    const shown = (levels: BookBody['bids']): string[] =>
      levels.map(({ price, quantity }) => `${price}:${String(Math.abs(Number(quantity)))}`);
    return { bids: shown(bids), asks: shown(asks) };
  }

  /** `orders/volume` of the bids and of the asks, from the orders' own records. */
  private totals(): string[] {
    const sums = { bid: { count: 0, volume: 0 }, ask: { count: 0, volume: 0 } };
    for (const { by, orderId } of this.orders.values()) {
      const query = { orderId, account: this.world.addressOf(by) };
      const order = this.world.ask('getOrder', query, by) as OrderBody;
      if (!['new', 'partiallyFilled'].includes(order.status)) continue;
      const side = sums[order.quantity.startsWith('-') ? 'ask' : 'bid'];
      side.count += 1;
      side.volume += Math.abs(Number(order.remaining));
    }
    return [sums.bid, sums.ask].map(({ count, volume }) => `${String(count)}/${String(volume)}`);
  }
}

function expectLevels(shown: readonly string[], expected: readonly string[], text: string): void {
  const open = expected.at(-1) === '…';
  const levels = open ? expected.slice(0, -1) : expected;
  expect(open ? shown.slice(0, levels.length) : shown, text).toEqual(levels);
}

describe.each(SUITES)('$engine ($source)', (suite) => {
  test.each(Object.entries(suite.sequences))('%s', (_name, sequence) => {
    const replay = new Replay(suite);
    for (const row of rowsOf(`${suite.before ?? ''}\n${sequence}`)) replay.row(row);
  });
});

test('covers nine engines, and a wrong row fails', () => {
  expect(new Set(SUITES.map(({ engine }) => engine)).size).toBe(9);
  const wrong = rowsOf('a sell 5 @10\nb buy 5 @10 → a:4@10');
  const replay = new Replay(DYDX);
  expect(() => {
    for (const row of wrong) replay.row(row);
  }).toThrow();
});
