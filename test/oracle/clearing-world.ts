/** Worlds of the oracle for tests of clearing: positions, marks and moves set directly. */
import type { MarketSpec } from '../../src/engine/config.ts';
import { listMarket } from '../../src/oracle/listing.ts';
import { atMark, upnlOf } from '../../src/oracle/margin.ts';
import { sum } from '../../src/oracle/numbers.ts';
import {
  INSURANCE,
  marketOf,
  newWorld,
  openSub,
  positionOf,
  settingOf,
  subOf,
  type Market,
  type Sub,
  type World,
} from '../../src/oracle/world.ts';
import { parseExchangeConfig } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { timeUs } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const START = timeUs(1_700_000_100_000_000);

function specOf(symbol: string, extra: object): MarketSpec {
  // 1 lot at 1 tick is 1 USD.
  const spec = parseMarketSpec(
    {
      symbol,
      tickSize: '1',
      lotSize: '1',
      initialMargin: '0.02',
      maintenanceMargin: '0.01',
      ...extra,
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
}

export function worldOf(markets: number, config: object = {}, extra: object = {}): World {
  const parsed = parseExchangeConfig(config, START);
  if (!parsed.ok) throw new Error(parsed.error);
  const world = newWorld(parsed.value);
  for (let i = 0; i < markets; i += 1) {
    const outcome = listMarket(world, {
      kind: 'listMarket',
      timeUs: START,
      spec: specOf(`M${i}`, extra),
    });
    if (outcome !== 'ok') throw new Error(outcome);
  }
  world.danger = true;
  return world;
}

/** Mark and index; `before` is the mark before this step, null if this step did not move it. */
export function price(
  world: World,
  id: number,
  before: number | null,
  mark: number,
  index = mark,
): Market {
  const market = marketOf(world, id);
  market.mark = BigInt(mark);
  market.index = BigInt(index);
  market.markBefore = before === null ? null : BigInt(before);
  return market;
}

const USD = 1_000_000n;
export const usd = (n: number): bigint => BigInt(n) * USD;

export function user(world: World, cash: number): Sub {
  const n = world.subs.length.toString(16);
  const sub = openSub(world, `0x${'a'.repeat(40 - n.length)}${n}`, 0);
  sub.cash = usd(cash);
  world.supply += sub.cash;
  return sub;
}

export function fund(world: World, id: number, amount: number): void {
  subOf(world, id).cash += usd(amount);
  world.supply += usd(amount);
  if (id === INSURANCE) world.insuranceBase += usd(amount);
}

/** A long of one and the short of another, opened at a price. */
export function pair(
  world: World,
  id: number,
  long: Sub,
  short: Sub,
  lots: number,
  at: number,
): void {
  const { unit } = marketOf(world, id);
  for (const [sub, signed] of [
    [long, BigInt(lots)],
    [short, -BigInt(lots)],
  ] as const) {
    const position = positionOf(sub, id);
    position.lots += signed;
    position.cost += signed * BigInt(at) * unit;
  }
}

/** Before any position: cash becomes the margin of an isolated one. */
export function isolate(sub: Sub, id: number, margin: number): void {
  settingOf(sub, id).isolated = true;
  sub.cash -= usd(margin);
  positionOf(sub, id).margin += usd(margin);
}

/** Of the subaccount as a whole, at marks. */
export const equityAtMarks = (world: World, sub: Sub): bigint =>
  sub.cash +
  sum(world.markets.map(({ id }) => positionOf(sub, id).margin)) +
  sum(world.markets.map((market) => upnlOf(sub, market, atMark)));
