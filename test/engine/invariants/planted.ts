/**
 * States that commands alone rarely reach, created directly in a world: frozen markets with live
 * sources, a shortfall, a debt. Such a world is no longer compared with the oracle.
 */
import type { Exchange } from '../../../src/engine/exchange.ts';
import { State } from '../../../src/engine/state.ts';
import { quanta, timeUs } from '../../../src/num/units.ts';
import { usd, type RiskWorld } from '../risk-world.ts';

export function stateOf(engine: Exchange): State {
  const state: unknown = Reflect.get(engine, 'state');
  if (!(state instanceof State)) throw new Error('an exchange has a state');
  return state;
}

/** Config of worlds whose markets freeze. */
export const STALE = { indexStaleMs: 60_000 };

/** Lets the price source of one market go stale; others get the given prices in the meantime. */
export function freeze(
  world: RiskWorld,
  symbol: string,
  fresh: Readonly<Record<string, string>> = {},
): void {
  world.wait(30_000);
  for (const [other, price] of Object.entries(fresh)) world.price(price, other);
  world.wait(30_001);
  const market = stateOf(world.engine).market(world.marketOf(symbol));
  if (market.frozen) return;
  world.checks = false;
  market.frozen = true;
  market.frozenSinceUs = timeUs(world.atUs);
}

/** Credits unfunded money to `to`, like a clearing that ends in the shortfall. */
export function plantShortfall(world: RiskWorld, amount: string, to: string): void {
  world.checks = false;
  const state = stateOf(world.engine);
  const gained = state.subaccount(world.idOf(to));
  if (state.shortfall.cash === 0n) {
    state.shortfallEpoch += 1;
    state.shortfallSinceUs = state.nowUs;
  }
  state.shortfall.cash = quanta(state.shortfall.cash - usd(amount));
  gained.cash = quanta(gained.cash + usd(amount));
}

/** A user's withdrawal; returns the outcome. */
export function withdraw(world: RiskWorld, name: string, amount: string): string {
  return world.apply({
    kind: 'withdraw',
    timeUs: timeUs(world.atUs),
    account: world.addressOf(name),
    subaccountIndex: 0,
    amount: usd(amount),
  });
}
