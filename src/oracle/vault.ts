/** Shares of the CLS vault (R-8.2, R-8.3, D-36). */
import { bestPrice } from './book.ts';
import { endVaultOrder } from './endings.ts';
import { engineOrder } from './engine-orders.ts';
import { withdrawable } from './margin.ts';
import { abs, max, min, shareDown, shareUp, sign } from './numbers.ts';
import type { Holder } from './records.ts';
import { execute } from './execute.ts';
import {
  DAY,
  MINUTE,
  positionOf,
  emit,
  subOf,
  VAULT,
  type Answer,
  type Market,
  type Sub,
  type World,
} from './world.ts';

/** The virtual share and its dollar, which prevent inflation of the first share. */
const VIRTUAL = 1_000_000n;
const MILLION = 1_000_000n;

const allShares = (world: World): bigint =>
  world.holders.reduce((total, { shares }) => total + shares, 0n);

/** Cash, and positions at the worse price for the requester, less haircut. */
export function navOf(world: World, purpose: 'mint' | 'burn'): bigint {
  const vault = subOf(world, VAULT);
  return world.markets.reduce((nav, market) => {
    const { lots, cost } = positionOf(vault, market.id);
    if (lots === 0n) return nav;
    const low = purpose === 'burn' ? lots > 0n : lots < 0n;
    const price = low ? lowPrice(world, market) : highPrice(world, market);
    return nav + lots * price * market.unit - cost;
  }, vault.cash);
}

const haircutOf = ({ config }: World): bigint => BigInt(config.frozenHaircutPpm);

function lowPrice(world: World, market: Market): bigint {
  const mark = market.mark ?? 0n;
  if (market.frozen) return shareDown(mark * (MILLION - haircutOf(world)), MILLION);
  return min(mark, market.index ?? mark);
}

function highPrice(world: World, market: Market): bigint {
  const mark = market.mark ?? 0n;
  if (market.frozen) return shareUp(mark * (MILLION + haircutOf(world)), MILLION);
  return max(mark, market.index ?? mark);
}

export const sharesMinted = (world: World, amount: bigint): bigint =>
  shareDown(amount * (allShares(world) + VIRTUAL), navOf(world, 'mint') + VIRTUAL);

export const sharesBurned = (world: World, amount: bigint): bigint =>
  shareUp(amount * (allShares(world) + VIRTUAL), navOf(world, 'burn') + VIRTUAL);

export function mintFault(world: World, amount: bigint): Answer {
  if (amount < world.config.minVaultDeposit) return 'vault_deposit_too_small';
  const nav = navOf(world, 'mint');
  if (nav < 0n || (nav === 0n && allShares(world) > 0n)) return 'vault_value_not_positive';
  return sharesMinted(world, amount) > 0n ? 'ok' : 'vault_shares_zero';
}

export function burnFault(world: World, to: Sub, amount: bigint): Answer {
  const holder = world.holders.find(({ sub }) => sub === to.id);
  if (holder === undefined || holder.shares === 0n) return 'vault_shares_insufficient';
  if (world.now < holder.lockedUntil) return 'vault_shares_locked';
  if (navOf(world, 'burn') <= 0n) return 'vault_value_not_positive';
  if (sharesBurned(world, amount) > holder.shares) return 'vault_shares_insufficient';
  return amount > withdrawable(world, subOf(world, VAULT)) ? 'amount_exceeds_available' : 'ok';
}

/** Books shares whose money has moved; each deposit locks all shares of its holder. */
export function changeShares(world: World, sub: Sub, change: bigint, amount: bigint): void {
  let holder = world.holders.find((other) => other.sub === sub.id);
  if (holder === undefined) {
    holder = { sub: sub.id, shares: 0n, netDeposits: 0n, lockedUntil: 0n };
    world.holders.push(holder);
  }
  holder.shares += change;
  holder.netDeposits += amount;
  if (change > 0n) {
    holder.lockedUntil = max(holder.lockedUntil, world.now + BigInt(world.config.vaultLockupUs));
  }
  emit(world, {
    kind: 'vaultSharesChanged',
    subaccount: sub.id,
    change,
    shares: holder.shares,
    totalShares: allShares(world),
    amountQuanta: amount,
    lockupEndsAtUs: holder.lockedUntil,
  });
  takeSnapshot(world, holder);
}

function takeSnapshot(world: World, { sub, shares, netDeposits, lockedUntil }: Holder): void {
  const nav = navOf(world, 'burn');
  const value = nav <= 0n ? 0n : shareDown(shares * (nav + VIRTUAL), allShares(world) + VIRTUAL);
  world.touched.add(sub);
  world.snapshots.push({ sub, shares, netDeposits, value, lockedUntil, at: world.now });
}

/** The next 00:00 UTC while there are holders. */
export function nextSnapshot(world: World): bigint | null {
  return allShares(world) === 0n ? null : world.now - (world.now % DAY) + DAY;
}

export function takeSnapshots(world: World): void {
  if (world.now % DAY !== 0n) return;
  const holders = [...world.holders].sort((a, b) => a.sub - b.sub);
  for (const holder of holders) if (holder.shares > 0n) takeSnapshot(world, holder);
}

/** Time of the vault's next offer. */
export const nextVaultLeave = (world: World): bigint | null => world.vaultLeaveDue;

/** At a whole minute: one order per market replaces the last one. */
export function runVaultLeave(world: World): void {
  if (world.vaultLeaveDue === null || world.vaultLeaveDue > world.now) return;
  world.vaultLeaveDue = world.now - (world.now % MINUTE) + MINUTE;
  for (const market of world.markets) if (!market.frozen) offer(world, market);
}

function offer(world: World, market: Market): void {
  endVaultOrder(world, market);
  const vault = subOf(world, VAULT);
  const { lots: held } = positionOf(vault, market.id);
  if (held === 0n) return;
  const side = -sign(held);
  const lots = shareUp(abs(held) * BigInt(world.config.vaultLeavePpm), MILLION);
  const priceAt = (distance: bigint): bigint =>
    side < 0n
      ? shareUp(highPrice(world, market) * (MILLION + distance), MILLION)
      : max(1n, shareDown(lowPrice(world, market) * (MILLION - distance), MILLION));
  const { vaultQuotePpm, makerFeePpm } = market.spec;
  const quote = max(BigInt(vaultQuotePpm), BigInt(makerFeePpm));
  const opposite = bestPrice(world, market, -side);
  // Bids that it takes must pay the fee of a taker, too.
  const takes = opposite !== null && (priceAt(quote) - opposite) * side >= 0n;
  const price = priceAt(takes ? max(quote, BigInt(market.spec.takerFeePpm)) : quote);
  if (price > BigInt(market.spec.maxPriceTicks)) return;
  const order = engineOrder(world, vault, market, side * lots, {
    price,
    ioc: false,
    postOnly: !takes,
  });
  execute(world, order);
  if (order.resting) market.vaultOrder = order.id;
}
