/** One tape and its resting orders in the exchange and by hftbacktest's rules, fill by fill. */
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
import {
  PROBABILITIES,
  peerFills,
  type PeerFill,
  type RestingOrder,
  type TapeLine,
} from './hftbacktest.ts';

const MARKET = marketId(0);
/** Length of a step: longer than a decrease waits for its trade. */
const STEP_US = 2_000_000;

/** `3 bid 99 12` is a level, `6 sell 99 5` a trade; times are steps. */
const TAPE: readonly TapeLine[] = `
0 bid 99 10
0 ask 101 10
2 sell 99 6
2 bid 99 4
3 bid 99 12
4 bid 99 6
5 sell 99 5
5 bid 99 0
6 bid 98 9
7 ask 101 0
7 bid 101 3
8 bid 101 3
8.2 bid 98 4
8.3 sell 98 6
8.4 bid 98 3
9 bid 101 5
10 buy 102 2
11 bid 101 0
12 buy 104 2
13 bid 104 6
14 ask 96 2`
  .trim()
  .split('\n')
  .map((line) => {
    const [at, what, price, size] = line.split(' ');
    const rest = { at: Number(at), price: Number(price), size: Number(size) };
    return what === 'bid' || what === 'ask'
      ? { ...rest, level: what }
      : { ...rest, trade: what === 'buy' ? 'buy' : 'sell' };
  });

const ORDERS: readonly RestingOrder[] = [
  { name: 'A', at: 1, side: 'buy', price: 99, size: 4 },
  { name: 'B', at: 1, side: 'sell', price: 101, size: 10 },
  { name: 'C', at: 1, side: 'sell', price: 103, size: 5 },
  { name: 'D', at: 1, side: 'buy', price: 97, size: 5 },
  { name: 'E', at: 6.5, side: 'buy', price: 98, size: 2 },
];

function exchangeFills(queueModel: string, impactModel = 'permanent'): PeerFill[] {
  const start = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
  const exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  const spec = parseMarketSpec(
    { symbol: 'T', tickSize: '1', lotSize: '1', queueModel, impactModel, priceBand: '0.5' },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  const apply = (command: Parameters<Exchange['apply']>[0]): void => {
    expect(exchange.apply(command)).toBe('ok');
  };
  apply({ kind: 'listMarket', timeUs: start, spec: spec.value });
  const account = address(`0x${'a'.repeat(40)}`);
  const amount = quanta(10_000_000_000n);
  apply({ kind: 'deposit', timeUs: start, account, subaccountIndex: 0, amount });
  const price = priceTicks(100);
  apply({ kind: 'setIndex', timeUs: start, market: MARKET, priceTicks: price, text: '100' });
  apply({ kind: 'tapeSnapshot', timeUs: start, market: MARKET, levels: [] });
  const fills: PeerFill[] = [];
  const placed: { order: RestingOrder; id: number; filled: number }[] = [];
  const waiting = [...ORDERS];
  for (const line of TAPE) {
    while ((waiting[0]?.at ?? Infinity) < line.at) {
      const order = waiting.shift()!;
      apply({
        ...PLAIN_LIMIT,
        kind: 'placeOrder',
        timeUs: timeUs(start + order.at * STEP_US),
        subaccount: subaccountId(6),
        lots: lots(order.side === 'buy' ? order.size : -order.size),
        priceTicks: priceTicks(order.price),
        nonce: BigInt(placed.length + 1),
        delegate: null,
      });
      placed.push({ order, id: exchange.lastOrderId, filled: 0 });
    }
    const at = timeUs(start + line.at * STEP_US);
    const here = { timeUs: at, market: MARKET };
    const ticks = priceTicks(line.price);
    if ('level' in line) {
      const level = { side: line.level, priceTicks: ticks, lots: lots(line.size) };
      apply({ ...here, kind: 'tapeDepth', levels: [level] });
    } else {
      const signed = lots(line.trade === 'buy' ? line.size : -line.size);
      apply({ ...here, kind: 'tapeTrade', priceTicks: ticks, lots: signed });
    }
    for (const one of placed) {
      const filled = Math.abs(exchange.order(orderId(one.id))!.settledLots);
      const { name, at: since } = one.order;
      const size = filled - one.filled;
      if (size > 0) fills.push({ order: name, at: line.at, size, waited: line.at - since });
      one.filled = filled;
    }
  }
  return fills;
}

const text = (fills: readonly PeerFill[]): string[] =>
  fills.map(
    ({ order, at, size, waited }) => `${order} ${size} at ${at} after ${+waited.toFixed(1)}`,
  );

/** Lots of A that fill at 5, by queue model: here, and by PartialFillExchange. */
const FIRST_OF_A: Readonly<Record<string, readonly [here: number, peer: number]>> = {
  // 4 lots are ahead and 8 behind; 6 are cancelled; a trade takes 5.
  riskAverse: [1, 1],
  probPower1: [2, 3], // 6 × 4/12 = 2, of a share rounded down: 1 lot and a carried fraction here
  probPower2: [2, 2], // 6 × 16/80 = 1.2: 1 lot here; 2.2 lots round to 2 there
  probPower3: [1, 2], // 6 × 64/576 = 0.67: 0 lots here; 1.67 lots round to 2 there
  probLog: [3, 4], // of shares 2.16: 2 lots here; of lots 2.54 there: 3.54 lots round to 4
};

test.each(Object.entries(FIRST_OF_A))('%s: every fill on the tape', (model, [here, there]) => {
  const rest = (first: number): string[] => (first < 4 ? [`A ${4 - first} at 8.3 after 7.3`] : []);
  expect(text(exchangeFills(model))).toEqual([
    `A ${here} at 5 after 4`,
    'B 3 at 7 after 6',
    ...rest(here),
    'B 2 at 9 after 8',
    'B 2 at 10 after 9',
    'B 2 at 12 after 11',
    'B 1 at 13 after 12',
    'C 5 at 13 after 12',
    'E 2 at 14 after 7.5',
  ]);
  expect(text(peerFills(TAPE, ORDERS, PROBABILITIES[model] ?? null, true))).toEqual([
    `A ${there} at 5 after 4`,
    'B 10 at 7 after 6',
    ...rest(there),
    'E 2 at 8.3 after 1.8',
    'C 5 at 12 after 11',
    'D 5 at 14 after 13',
  ]);
  expect(text(peerFills(TAPE, ORDERS, PROBABILITIES[model] ?? null, false))).toEqual([
    'A 4 at 5 after 4',
    'B 10 at 7 after 6',
    'E 2 at 8.3 after 1.8',
    'C 5 at 12 after 11',
    'D 5 at 14 after 13',
  ]);
});

test.each(['none', 'halving', 'squareRoot'])(
  'impact %s gives the same fills of resting orders',
  (impact) => {
    expect(exchangeFills('probPower2', impact)).toEqual(exchangeFills('probPower2'));
  },
);
