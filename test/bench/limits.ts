/**
 * The order flow of the `venue` benchmark of FLOX: limits of either side within 50 ticks of a fixed
 * price, of 1 to 5 lots, from 64 accounts, drawn by xorshift64. It is the same work as there: a self
 * trade cancels the incoming order, and 2,000,000 orders make 1,275,764 trades of 2,318,308 lots.
 */
import type { PlaceOrder } from '../../src/engine/commands.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
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

export const ORDERS = 2_000_000;
export const TRADES = 1_275_764;
export const TRADED_LOTS = 2_318_308;
const ACCOUNTS = 64;
const MID = 10_000;
const SPREAD = 50n;
const FAR_MS = 9_007_199_254_741n;
const WORD = (1n << 64n) - 1n;

/** Signed size, price and account of each order. */
function drawFlow() {
  const size = new Int8Array(ORDERS);
  const price = new Int32Array(ORDERS);
  const account = new Uint8Array(ORDERS);
  let state = 0x1234abcdn;
  for (let i = 0; i < ORDERS; i++) {
    state ^= (state << 13n) & WORD;
    state ^= state >> 7n;
    state ^= (state << 17n) & WORD;
    const side = (state & 1n) === 1n ? 1 : -1;
    price[i] = MID + Number(((state >> 1n) % (2n * SPREAD + 1n)) - SPREAD);
    size[i] = side * (1 + Number((state >> 10n) % 5n));
    account[i] = Number((state >> 20n) % BigInt(ACCOUNTS));
  }
  return { size, price, account };
}

let drawn: ReturnType<typeof drawFlow> | null = null;

export function openLimits(): { readonly exchange: Exchange; readonly firstUser: number } {
  const exchange = new Exchange(CONFIG);
  const at = CONFIG.genesisTimeUs;
  const spec = parseMarketSpec(
    {
      symbol: 'BENCH',
      tickSize: '0.01',
      lotSize: '1',
      initialMargin: '0.05',
      priceBand: '0.1',
      maxOpenOrders: 1_000_000,
      maxQuantity: '1000000',
      maxPrice: '1000000',
      maxOpenInterest: '1000000000',
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  exchange.apply({ kind: 'listMarket', timeUs: at, spec: spec.value });
  for (let i = 0; i < ACCOUNTS; i++) {
    const account = accountAddress(i);
    const amount = quanta(1_000_000_000_000_000n);
    exchange.apply({ kind: 'deposit', timeUs: at, account, subaccountIndex: 0, amount });
  }
  const first = exchange.subaccountIdOf(accountAddress(0), 0);
  if (first === undefined) throw new Error('the first account has a subaccount');
  const index = { market: marketId(0), priceTicks: priceTicks(MID), text: '100' };
  exchange.apply({ kind: 'setIndex', timeUs: at, ...index });
  return { exchange, firstUser: first };
}

/** Commands created at a time, outside the timing. */
const BLOCK = 1000;

/** Seconds of processor time in which a new exchange applies all orders. */
export function playLimits(sink?: (event: EngineEvent) => void): number {
  const { exchange, firstUser } = openLimits();
  let us = 0;
  for (let from = 0; from < ORDERS; from += BLOCK) {
    const commands = limitsFrom(from, firstUser, BLOCK);
    const before = process.cpuUsage();
    for (const command of commands) exchange.apply(command, sink);
    const { user, system } = process.cpuUsage(before);
    us += user + system;
  }
  return us / 1e6;
}

/** `count` commands from this number on; at most `ORDERS` exist. */
export function limitsFrom(from: number, firstUser: number, count: number): PlaceOrder[] {
  const flow = (drawn ??= drawFlow());
  return Array.from({ length: count }, (_, k): PlaceOrder => {
    const i = from + k;
    return {
      kind: 'placeOrder',
      timeUs: timeUs(CONFIG.genesisTimeUs + i),
      subaccount: subaccountId(firstUser + (flow.account[i] ?? 0)),
      market: marketId(0),
      orderType: 'limit',
      lots: lots(flow.size[i] ?? 0),
      priceTicks: priceTicks(flow.price[i] ?? 0),
      ioc: false,
      postOnly: false,
      reduceOnly: false,
      nonce: BigInt(i),
      expiresAtMs: FAR_MS,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: ppm(0),
    };
  });
}
