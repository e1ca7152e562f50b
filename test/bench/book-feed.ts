/**
 * Cost of a delta of the book feed after one order, by the number of levels, beside a delta from
 * the whole book. Prints medians in microseconds as JSON.
 *
 *     npm run bench:one -- test/bench/book-feed.ts
 */
import { performance } from 'node:perf_hooks';
import { Exchange } from '../../src/engine/exchange.ts';
import { BookFeed } from '../../src/gateway/feeds/book-feed.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { accountAddress, CONFIG } from './engine-flow.ts';

const LEVELS = [100, 1000, 10_000];
const MID = 100_000;
const ROUNDS = 200;
const MARKET = marketId(0);
const USER = subaccountId(6);

function measure(levels: number): Record<'levels' | 'deltaUs' | 'wholeUs', number> {
  const exchange = new Exchange(CONFIG);
  let now: number = CONFIG.genesisTimeUs;
  let nonce = 0n;
  const at = (): ReturnType<typeof timeUs> => timeUs(now++);
  const input = { symbol: 'BENCH', tickSize: '0.1', lotSize: '0.001', maxOpenOrders: 100_000 };
  const spec = parseMarketSpec({ ...input, priceBand: '0.9' }, keccak);
  if (!spec.ok) throw new Error(spec.error);
  exchange.apply({ kind: 'listMarket', timeUs: at(), spec: spec.value });
  const price = { market: MARKET, priceTicks: priceTicks(MID), text: '10000' };
  exchange.apply({ kind: 'setIndex', timeUs: at(), ...price });
  const [account, amount] = [accountAddress(0), quanta(1_000_000_000_000_000n)];
  exchange.apply({ kind: 'deposit', timeUs: at(), account, subaccountIndex: 0, amount });
  const rest = (size: number, ticks: number): void => {
    nonce += 1n;
    const outcome = exchange.apply({
      ...{ kind: 'placeOrder', timeUs: at(), subaccount: USER, delegate: null },
      ...{ market: MARKET, orderType: 'limit', lots: lots(size), priceTicks: priceTicks(ticks) },
      ...{ ioc: false, postOnly: false, reduceOnly: false, nonce },
      ...{ expiresAtMs: 9_007_199_254_741n, clientId: null },
      ...{ originator: null, originatorFeePpm: ppm(0) },
    });
    if (outcome !== 'ok') throw new Error('an order was refused');
  };
  for (let i = 1; i <= levels; i++) {
    rest(1, MID - i);
    rest(-1, MID + i);
  }
  const median = (feed: BookFeed, before: () => void): number => {
    feed.snapshot(exchange);
    const us: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      rest(1, MID - 1 - (i % levels));
      before();
      const started = performance.now();
      feed.delta(exchange);
      us.push((performance.now() - started) * 1000);
    }
    return us.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
  };
  const whole = new BookFeed(MARKET);
  return {
    levels,
    deltaUs: median(new BookFeed(MARKET), () => undefined),
    wholeUs: median(whole, () => {
      whole['mark'] = null;
    }),
  };
}

measure(50);
console.log(JSON.stringify(LEVELS.map(measure)));
