/**
 * Cost of marks and funding with many positions: a mark update that liquidates no account, against
 * a full scan, and a settlement over all positions. Prints medians in microseconds by number of
 * accounts as JSON.
 */
import { performance } from 'node:perf_hooks';
import { Exchange } from '../../src/engine/exchange.ts';
import { RiskUnit, isBelowMaintenance } from '../../src/engine/margin/risk-unit.ts';
import type { State } from '../../src/engine/state.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  lots,
  marketId,
  ppb,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { accountAddress, CONFIG } from './engine-flow.ts';

const MARKS = 2001;
const SETTLEMENTS = 15;
const SIZES = [1000, 10_000, 100_000];
const ONE = marketId(0);
const PRICE = 100_000;
const FIRST_USER = 6;

interface Figures {
  readonly accounts: number;
  readonly markUs: number;
  readonly scanUs: number;
  readonly fundingMs: number;
}

/** One short against `accounts` longs with leverage from 2 to 21. */
function crowd(accounts: number): { exchange: Exchange; at: () => ReturnType<typeof timeUs> } {
  const exchange = new Exchange(CONFIG);
  let now: number = CONFIG.genesisTimeUs;
  const at = (): ReturnType<typeof timeUs> => timeUs(now++);
  const spec = parseMarketSpec(
    {
      symbol: 'BENCH',
      tickSize: '0.1',
      lotSize: '0.001',
      initialMargin: '0.04',
      maintenanceMargin: '0.02',
      markSource: 'external',
      maxQuantity: '1000',
      maxPrice: '1000000',
      maxOpenInterest: '1000000',
      funding: { source: 'external' },
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  exchange.apply({ kind: 'listMarket', timeUs: at(), spec: spec.value });
  const index = (): void => {
    exchange.apply({
      kind: 'setIndex',
      timeUs: at(),
      market: ONE,
      priceTicks: priceTicks(PRICE),
      text: '10000',
    });
  };
  index();
  exchange.apply({ kind: 'setMark', timeUs: at(), market: ONE, priceTicks: priceTicks(PRICE) });
  const trade = (user: number, size: number, ioc: boolean): void => {
    exchange.apply({
      kind: 'placeOrder',
      timeUs: at(),
      subaccount: subaccountId(FIRST_USER + user),
      market: ONE,
      orderType: 'limit',
      lots: lots(size),
      priceTicks: priceTicks(PRICE),
      ioc,
      postOnly: false,
      reduceOnly: false,
      nonce: 1n,
      expiresAtMs: 9_007_199_254_741n,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: ppm(0),
    });
  };
  for (let i = 0; i <= accounts; i++) {
    // A lot of 10 USD each; the short has the sum of the longs' money.
    const amount =
      i === 0 ? 10_000_000n * BigInt(accounts) : 10_000_000n / BigInt(2 + (i % 20)) + 5000n;
    exchange.apply({
      kind: 'deposit',
      timeUs: at(),
      account: accountAddress(i),
      subaccountIndex: 0,
      amount: quanta(amount),
    });
  }
  trade(0, -accounts, false);
  for (let i = 1; i <= accounts; i++) trade(i, 1, true);
  index();
  return { exchange, at };
}

function measure(accounts: number): Figures {
  const { exchange, at } = crowd(accounts);
  const { state } = exchange as unknown as { state: State };
  // A walk that stays above every liquidation price.
  let mark = PRICE;
  let seed = 7;
  let steps = 0;
  const sink = (event: { readonly kind: string }): void => {
    if (event.kind === 'liquidationStep') steps += 1;
  };
  const walk = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    mark = Math.min(PRICE + 400, Math.max(PRICE - 400, mark + (seed % 41) - 20));
    const started = performance.now();
    exchange.apply(
      { kind: 'setMark', timeUs: at(), market: ONE, priceTicks: priceTicks(mark) },
      sink,
    );
    return (performance.now() - started) * 1000;
  };
  const first = walk();
  const marks = Array.from({ length: MARKS }, walk);
  const scan = (): number => {
    const started = performance.now();
    let below = 0;
    for (const subaccount of state.accounts.subaccounts) {
      if (isBelowMaintenance(new RiskUnit(subaccount, null).figures(state))) below += 1;
    }
    if (below > 0) throw new Error('an account is liquidatable');
    return (performance.now() - started) * 1000;
  };
  const scans = Array.from({ length: 7 }, scan);
  const settle = (_: unknown, i: number): number => {
    const started = performance.now();
    const ratePpb = ppb(i % 2 === 0 ? 12_500 : -12_500);
    exchange.apply({ kind: 'settleFunding', timeUs: at(), market: ONE, ratePpb }, sink);
    return performance.now() - started;
  };
  const settlements = Array.from({ length: SETTLEMENTS }, settle);
  if (steps > 0 || !(first > 0)) throw new Error('an account was liquidated');
  return {
    accounts,
    markUs: median(marks),
    scanUs: median(scans),
    fundingMs: median(settlements),
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

console.log(JSON.stringify(SIZES.map(measure)));
