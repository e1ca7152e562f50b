/** An account's margin setting (R-5.6, R-5.7, D-26). */
import type { UpdateMargin } from '../engine/commands.ts';
import { actsFor, isLate, useAccountNonce } from './authority.ts';
import { admissionEquity, firstInitialPpm, freeCross, initialOfPosition } from './margin.ts';
import { checkNonce } from './nonces.ts';
import { max } from './numbers.ts';
import { moveToMargin } from './positions.ts';
import {
  must,
  positionOf,
  emit,
  settingOf,
  type Answer,
  type Market,
  type Setting,
  type Sub,
  type World,
} from './world.ts';

export function updateMargin(world: World, c: UpdateMargin): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  const sub = world.subs[c.subaccount];
  if (sub === undefined || sub.system) return 'subaccount_not_found';
  if (isLate(world, c.expiresAtMs)) return 'request_expired';
  if (!actsFor(world, sub.id, c.delegate)) return 'not_delegated';
  const nonce = checkNonce(must(world.accounts[sub.account]).nonces, c.delegate, c.nonce);
  if (nonce !== 'ok') return nonce;
  if (c.marginPpm <= 0 || c.marginPpm > 1_000_000) return 'margin_out_of_range';
  if (BigInt(c.marginPpm) < firstInitialPpm(market)) return 'margin_below_initial';

  const setting = settingOf(sub, market.id);
  const next: Setting = { isolated: c.isolated, ratio: BigInt(c.marginPpm) };
  const inUse = isInUse(world, sub, market);
  if (setting.isolated !== next.isolated && inUse) return 'margin_mode_in_use';
  const raises = (next.ratio ?? 0n) > (setting.ratio ?? 0n);
  const moved = cashMoved(world, sub, market, next, raises);
  if (moved === null) return 'margin_insufficient';
  // a subaccount with a clearing debt moves no money into isolated margin.
  if (moved > 0n && sub.clearingDebt > 0n) return 'margin_insufficient';
  if (inUse && (raises || moved > 0n)) {
    const free = under(sub, market, next, () => freeCross(world, sub)) - moved;
    if (free < 0n || (moved > 0n && sub.cash < moved)) return 'margin_insufficient';
  }

  useAccountNonce(world, sub.account, c.delegate, c.nonce);
  sub.settings[market.id] = next;
  world.touched.add(sub.id);
  emit(world, {
    kind: 'marginChanged',
    subaccount: sub.id,
    market: market.id,
    isolated: next.isolated,
    marginPpm: c.marginPpm,
  });
  moveToMargin(world, sub, market.id, moved);
  return 'ok';
}

/** Whether there is a position or a live order. */
const isInUse = (world: World, sub: Sub, market: Market): boolean =>
  positionOf(sub, market.id).lots !== 0n ||
  world.live.some((order) => order.sub === sub.id && order.market === market.id);

/** Evaluates under another setting, then restores the current one. */
function under<T>(sub: Sub, market: Market, setting: Setting, read: () => T): T {
  const own = settingOf(sub, market.id);
  sub.settings[market.id] = setting;
  const seen = read();
  sub.settings[market.id] = own;
  return seen;
}

/** Cash into an isolated position for a new rate; below 0: released; null if not possible. */
function cashMoved(
  world: World,
  sub: Sub,
  market: Market,
  next: Setting,
  raises: boolean,
): bigint | null {
  const { lots, margin } = positionOf(sub, market.id);
  const own = settingOf(sub, market.id);
  if (!own.isolated || lots === 0n) return 0n;
  const initial = under(sub, market, next, () => initialOfPosition(world, sub, market));
  const lacks = initial - admissionEquity(world, sub, market);
  if (raises || next.ratio === own.ratio) return max(0n, lacks);
  if (lacks > 0n) return null;
  return market.frozen ? 0n : max(lacks, -margin);
}
