/**
 * Matching facts of another engine: random orders and cancels go through the exchange and through
 * nodejs-order-book. Both sides of the book and each order's fills must be equal after every one of
 * them.
 */
import fc from 'fast-check';
import { OrderBook, Side } from 'nodejs-order-book';
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  orderId,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { PLAIN_LIMIT } from '../setup/plain-limit.ts';

const MOST = 60;
const T = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;

/** One account per order, so that no self-trade occurs. */
function openExchange(): Exchange {
  const exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  const spec = parseMarketSpec(
    { symbol: 'T', tickSize: '1', lotSize: '1', makerFee: '0', takerFee: '0', priceBand: '0.9' },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  exchange.apply({ kind: 'listMarket', timeUs: T, spec: spec.value });
  for (let i = 0; i < MOST; i++) {
    exchange.apply({
      kind: 'deposit',
      timeUs: T,
      account: address(`0x${(i + 16).toString(16).repeat(20)}`),
      subaccountIndex: 0,
      amount: quanta(10n ** 15n),
    });
  }
  exchange.apply({
    kind: 'setIndex',
    timeUs: T,
    market: marketId(0),
    priceTicks: priceTicks(100),
    text: '100',
  });
  return exchange;
}

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      size: fc.integer({ min: 1, max: 9 }),
      buys: fc.boolean(),
      price: fc.integer({ min: 95, max: 105 }),
      ioc: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ cancel: fc.integer({ min: 1, max: MOST }) }) },
);

test('trades and books equal those of nodejs-order-book', () => {
  let fills = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: MOST }), (steps) => {
      const exchange = openExchange();
      const peer = new OrderBook();
      let id = 0;
      for (const o of steps) {
        if ('cancel' in o) {
          exchange.apply({ kind: 'cancelOrder', timeUs: T, orderId: orderId(o.cancel) });
          peer.cancel(String(o.cancel));
        } else {
          id += 1;
          exchange.apply({
            ...PLAIN_LIMIT,
            kind: 'placeOrder',
            timeUs: timeUs(T),
            subaccount: subaccountId(5 + id),
            lots: lots(o.buys ? o.size : -o.size),
            priceTicks: priceTicks(o.price),
            ioc: o.ioc,
            nonce: 1n,
            delegate: null,
          });
          const answer = peer.limit({
            id: String(id),
            side: o.buys ? Side.BUY : Side.SELL,
            size: o.size,
            price: o.price,
            ...(o.ioc ? { timeInForce: 'IOC' as never } : {}),
          });
          // The peer's matches of this order: its response lists the makers.
          const matched =
            answer.done
              .filter((done) => done.id !== String(id))
              .reduce((sum, { size }) => sum + size, 0) +
            (answer.partial !== null && answer.partial.id !== String(id)
              ? answer.partialQuantityProcessed
              : 0);
          const settled = Math.abs(exchange.order(orderId(id))?.settledLots ?? NaN);
          expect(settled).toBe(matched);
          fills += matched;
        }
        const [asks, bids] = peer.depth();
        const shown = (side: 'bid' | 'ask'): number[][] =>
          exchange.depth(marketId(0), side, 100).map((level) => [level.priceTicks, level.lots]);
        expect(shown('bid')).toEqual([...bids].sort((a, b) => b[0] - a[0]));
        expect(shown('ask')).toEqual([...asks].sort((a, b) => a[0] - b[0]));
      }
    }),
    { numRuns: 200, endOnFailure: true },
  );
  expect(fills).toBeGreaterThan(1000);
});
