/**
 * Cost of a fall that takes many accounts below zero in one command: `units` longs of one lot, each
 * with a short of its own as counterparty. Prints microseconds of processor time a unit as JSON.
 */
import { Exchange } from '../../src/engine/exchange.ts';
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

const SIZES = [1000, 4000, 16_000];
const PRICE = 100_000;
const FIRST_USER = 6;
const MARKET = marketId(0);

function measure(units: number): { readonly units: number; readonly unitUs: number } {
  const exchange = new Exchange(CONFIG);
  let now: number = CONFIG.genesisTimeUs;
  const at = (): ReturnType<typeof timeUs> => timeUs(now++);
  const spec = parseMarketSpec(
    {
      symbol: 'BENCH',
      tickSize: '0.1',
      lotSize: '0.001',
      markSource: 'index',
      initialMargin: '0.05',
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  exchange.apply({ kind: 'listMarket', timeUs: at(), spec: spec.value });
  const index = (ticks: number): void => {
    const text = String(ticks / 10);
    const price = { market: MARKET, priceTicks: priceTicks(ticks), text };
    exchange.apply({ kind: 'setIndex', timeUs: at(), ...price });
  };
  index(PRICE);
  for (let i = 0; i < 2 * units; i++) {
    const isShort = i % 2 === 0;
    exchange.apply({
      kind: 'deposit',
      timeUs: at(),
      account: accountAddress(i),
      subaccountIndex: 0,
      // A lot is worth 10 USD.
      amount: quanta(isShort ? 3_000_000n : 600_000n),
    });
    exchange.apply({
      kind: 'placeOrder',
      timeUs: at(),
      subaccount: subaccountId(FIRST_USER + i),
      market: MARKET,
      orderType: 'limit',
      lots: lots(isShort ? -1 : 1),
      priceTicks: priceTicks(PRICE),
      ...{ ioc: false, postOnly: false, reduceOnly: false, nonce: 1n },
      expiresAtMs: 9_007_199_254_741n,
      ...{ delegate: null, clientId: null, originator: null, originatorFeePpm: ppm(0) },
    });
  }
  const before = process.cpuUsage();
  index(PRICE * 0.9);
  const { user, system } = process.cpuUsage(before);
  if ([...exchange.holdersOf(MARKET)].length > 0) throw new Error('not all units were cleared');
  return { units, unitUs: (user + system) / units };
}

measure(500);
console.log(JSON.stringify(SIZES.map(measure)));
