/** The synthetic book of recorded trades (D-67): its quotes fill no order that rests. */
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { Exchange } from '../../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  orderId,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../../src/num/units.ts';
import { divergenceText } from '../../../src/oracle/divergence.ts';
import { Lockstep } from '../../../src/oracle/lockstep.ts';
import { TradeQuotes } from '../../../src/tape/synthetic-tape.ts';
import { DEFAULT_TAPE_MODEL } from '../../../src/tape/tape-model.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import { PLAIN_LIMIT } from '../../setup/plain-limit.ts';

const MARKET = marketId(0);
const NOW = timeUs(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs);
let exchange: Exchange;
let lockstep: Lockstep;
let quotes: TradeQuotes;
let nonce = 0n;

function apply(command: Parameters<Exchange['apply']>[0]): void {
  const { outcome, divergence } = lockstep.apply(command);
  if (divergence !== null) throw new Error(divergenceText(divergence));
  expect(outcome).toBe('ok');
  expect(exchange.checkInvariants()).toEqual([]);
}

function open(depthLots: number | null): void {
  exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  lockstep = new Lockstep(exchange);
  quotes = new TradeQuotes(MARKET, {
    ...DEFAULT_TAPE_MODEL,
    depthLots: depthLots === null ? null : lots(depthLots),
  });
  const spec = parseMarketSpec(
    { symbol: 'T', tickSize: '1', lotSize: '1', recordedLiquidity: true, priceBand: '0.5' },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  apply({ kind: 'listMarket', timeUs: NOW, spec: spec.value });
  const account = address(`0x${'a'.repeat(40)}`);
  const amount = quanta(10_000_000_000n);
  apply({ kind: 'deposit', timeUs: NOW, account, subaccountIndex: 0, amount });
  apply({
    kind: 'setIndex',
    timeUs: NOW,
    market: MARKET,
    priceTicks: priceTicks(100),
    text: '100',
  });
}

function trade(price: number, size: number): void {
  const record = { kind: 'trade', timeUs: NOW, localUs: NOW, line: 1, tradeId: 0 } as const;
  const commands = quotes.commands({ ...record, priceTicks: priceTicks(price), lots: lots(size) });
  for (const command of commands) apply(command);
}

function place(size: number, price: number): number {
  nonce += 1n;
  apply({
    ...PLAIN_LIMIT,
    kind: 'placeOrder',
    timeUs: NOW,
    subaccount: subaccountId(6),
    lots: lots(size),
    priceTicks: priceTicks(price),
    ioc: false,
    postOnly: true,
    nonce,
    delegate: null,
  });
  return exchange.lastOrderId;
}

const settled = (id: number): number => exchange.order(orderId(id))?.settledLots ?? 0;

function book(): string {
  const side = (name: 'bid' | 'ask'): string =>
    exchange
      .depth(MARKET, name, 9)
      .map((level) => `${level.lots}@${level.priceTicks}`)
      .join(' ');
  return `${side('bid')} | ${side('ask')}`;
}

beforeEach(() => {
  open(null);
});

test('D-67 a trade beyond an order fills at most its own size', () => {
  trade(100, 4);
  const id = place(-20, 102);
  trade(104, 4);
  expect([settled(id), book()]).toEqual([-4, '4@101 | 16@102 4@104']);
  trade(103, 5);
  expect([settled(id), book()]).toEqual([-9, '5@101 | 11@102 5@103']);
  trade(99, -3);
  expect([settled(id), book()]).toEqual([-9, '3@99 | 3@100 11@102']);
});

test('D-67 a deep synthetic book fills no order that rests', () => {
  open(1000);
  trade(100, 4);
  const id = place(20, 98);
  trade(95, -1);
  expect([settled(id), book()]).toEqual([1, '19@98 1000@95 | 1000@99']);
});

test('fills of a trade are at most its size, whatever rests', () => {
  const step = fc.oneof(
    fc.record({ price: fc.integer({ min: 95, max: 105 }), size: fc.constantFrom(-5, -1, 2, 7) }),
    fc.record({ place: fc.integer({ min: 95, max: 105 }), size: fc.constantFrom(-9, -2, 3, 8) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), fc.constantFrom(null, 1, 50), (steps, depth) => {
      open(depth);
      trade(100, 1);
      const ids: number[] = [];
      const filled = (): number => ids.reduce((sum, id) => sum + Math.abs(settled(id)), 0);
      for (const item of steps) {
        const before = filled();
        if ('place' in item) ids.push(place(item.size, item.place));
        else trade(item.price, item.size);
        expect(filled() - before).toBeLessThanOrEqual('place' in item ? 0 : Math.abs(item.size));
      }
    }),
    { numRuns: 100 },
  );
});
