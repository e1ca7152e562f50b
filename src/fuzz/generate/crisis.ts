/** Draws for states of crisis: bankrupting prices, money in a shortfall, insurance hours. */
import type { Command } from '../../engine/commands.ts';
import { priceTicks, quanta, type PriceTicks } from '../../num/units.ts';
import type { KnownMarket } from '../fuzz-world.ts';
import type { Context } from './draw-context.ts';

const HOUR_US = 3_600_000_000;
const MAX_RATE_PPB = 1_000_000_000;

/** The price at which a holder's equity is used up, a tick beyond it, or far beyond it. */
export function bankrupting(
  context: Context,
  takes: (market: KnownMarket) => boolean,
): { readonly market: KnownMarket; readonly ticks: PriceTicks } | null {
  const { dice } = context;
  const found = exposed(context, takes);
  if (found === null) return null;
  const { market, held, equity } = found;
  const distance = Math.ceil(equity / (Math.abs(held) * market.spec.quantaPerTickLot));
  const beyond = held > 0 ? -1 : 1;
  const widest = Math.ceil(market.markTicks * dice.pick([0.000001, 0.01, 0.1]));
  const ticks = market.markTicks + beyond * (Math.max(0, distance) + dice.below(widest + 1));
  // Far prices would leave the run with orders of one lot.
  const { openingTicks } = market;
  const highest = Math.min(openingTicks * 8, market.spec.maxPriceTicks);
  if (ticks < openingTicks / 8 || ticks > highest) return null;
  return { market, ticks: priceTicks(ticks) };
}

/** A recorded funding rate that takes a holder's equity, or up to twice as much. */
export function bankruptingRate(
  context: Context,
  takes: (market: KnownMarket) => boolean,
): { readonly market: KnownMarket; readonly ratePpb: number } | null {
  const found = exposed(context, takes);
  if (found === null) return null;
  const { market, held, equity } = found;
  const notional = held * market.indexTicks * market.spec.quantaPerTickLot;
  const share = (Math.max(0, equity) * context.dice.between(1000, 2000)) / 1000;
  const ratePpb = Math.ceil((share / notional) * 1_000_000_000);
  return Math.abs(ratePpb) > MAX_RATE_PPB ? null : { market, ratePpb };
}

/** A holder's lots in a market, and the equity of their unit in Quanta. */
function exposed(
  context: Context,
  takes: (market: KnownMarket) => boolean,
): { readonly market: KnownMarket; readonly held: number; readonly equity: number } | null {
  const { dice, world } = context;
  let found = null;
  // Usually a holder in several markets: their deficits are shared among these.
  for (let tries = 0; tries < 4; tries += 1) {
    const holder = context.holder();
    if (holder === null || !takes(holder.market)) continue;
    found = { ...holder, positions: world.view.positions(holder.owner.id) };
    if (found.positions.length > 1) break;
  }
  if (found === null) return null;
  const { owner, market, positions } = found;
  const position = positions.find((other) => other.market === market.id);
  if (position === undefined) return null;
  if (position.isolated) {
    const equity = Number(position.isolatedMarginQuanta + position.upnlQuanta);
    return { market, held: position.lots, equity };
  }
  // While other markets are frozen, their gains do not count in full.
  const gains = positions.reduce(
    (sum, { isolated, market: id, upnlQuanta }) =>
      isolated || id === market.id || upnlQuanta < 0n ? sum : sum + Number(upnlQuanta),
    0,
  );
  const equity = Number(world.view.margin(owner.id).crossEquityQuanta);
  return { market, held: position.lots, equity: equity - (dice.chance(500) ? gains : 0) };
}

/** While there is a shortfall: deposits, withdrawals, and deposits to insurance; usually null. */
export function moneyInShortfall(context: Context): Command | null {
  const { dice, world, setup } = context;
  const { moneyPermille } = context.profile.crisis;
  if (moneyPermille === 0) return null;
  const size = -world.view.funds().shortfallQuanta;
  if (size <= 0n || !dice.chance(moneyPermille)) return null;
  const { address: account, index: subaccountIndex, id } = context.subaccount();
  const base = { timeUs: context.nowUs, account, subaccountIndex };
  switch (dice.below(12)) {
    case 0:
      return {
        ...base,
        kind: 'deposit',
        account: setup.config.insuranceAccount,
        subaccountIndex: 0,
        amount: quanta(context.partOf(Number(size) * dice.pick([1, 2]))),
      };
    case 1:
    case 2:
    case 3:
    case 4:
      return { ...base, kind: 'deposit', amount: quanta(BigInt(1 + dice.below(20_000_000))) };
    default: {
      const { withdrawableQuanta } = world.view.margin(id);
      return {
        ...base,
        kind: 'withdraw',
        amount: quanta(context.partOf(Number(withdrawableQuanta) * dice.pick([0.1, 1]))),
      };
    }
  }
}

/** Microseconds until the hour of the insurance limit ends, or one more. */
export function untilHour({ dice, nowUs }: Context): number {
  return HOUR_US - (nowUs % HOUR_US) + dice.below(2);
}
