/** Shares of the CLS vault (R-8.2, R-8.3, D-36). */
import { isFrozen } from './mark.ts';
import { withdrawable } from './margin.ts';
import { max, min, shareDown, shareUp } from './numbers.ts';
import {
  DAY,
  positionOf,
  say,
  subOf,
  VAULT,
  type Answer,
  type Holder,
  type Sub,
  type World,
} from './world.ts';

/** The virtual share and its dollar, which make it worthless to inflate the first share. */
const VIRTUAL = 1_000_000n;

const allShares = (world: World): bigint =>
  world.holders.reduce((total, { shares }) => total + shares, 0n);

/** Cash, and positions at the price that is worse for who asks. */
export function navOf(world: World, asks: 'mint' | 'burn'): bigint {
  const vault = subOf(world, VAULT);
  return world.markets.reduce((nav, market) => {
    const { lots, cost } = positionOf(vault, market.id);
    if (lots === 0n) return nav;
    const mark = market.mark ?? 0n;
    const index = market.index ?? mark;
    const low = asks === 'burn' ? lots > 0n : lots < 0n;
    return nav + lots * (low ? min(mark, index) : max(mark, index)) * market.unit - cost;
  }, vault.cash);
}

/** Whether each position of the vault has a fresh price. */
const isPriced = (world: World): boolean =>
  world.markets.every(
    (market) => positionOf(subOf(world, VAULT), market.id).lots === 0n || !isFrozen(world, market),
  );

export const sharesMinted = (world: World, amount: bigint): bigint =>
  shareDown(amount * (allShares(world) + VIRTUAL), navOf(world, 'mint') + VIRTUAL);

export const sharesBurned = (world: World, amount: bigint): bigint =>
  shareUp(amount * (allShares(world) + VIRTUAL), navOf(world, 'burn') + VIRTUAL);

export function mintFault(world: World, amount: bigint): Answer {
  if (amount < world.config.minVaultDeposit) return 'vault_deposit_too_small';
  if (!isPriced(world)) return 'vault_not_priced';
  const nav = navOf(world, 'mint');
  if (nav < 0n || (nav === 0n && allShares(world) > 0n)) return 'vault_value_not_positive';
  return sharesMinted(world, amount) > 0n ? 'ok' : 'vault_shares_zero';
}

export function burnFault(world: World, to: Sub, amount: bigint): Answer {
  const holder = world.holders.find(({ sub }) => sub === to.id);
  if (holder === undefined || holder.shares === 0n) return 'vault_shares_insufficient';
  if (world.now < holder.lockedUntil) return 'vault_shares_locked';
  if (!isPriced(world)) return 'vault_not_priced';
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
  say(world, {
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

/** The next 00:00 UTC at which somebody holds shares. */
export function nextSnapshot(world: World): bigint | null {
  return allShares(world) === 0n ? null : world.now - (world.now % DAY) + DAY;
}

export function takeSnapshots(world: World): void {
  if (world.now % DAY !== 0n) return;
  const holders = [...world.holders].sort((a, b) => a.sub - b.sub);
  for (const holder of holders) if (holder.shares > 0n) takeSnapshot(world, holder);
}

export function runVaultLeave(_world: World): void {
  // Of the risk half of the oracle.
}

export const nextVaultLeave = (_world: World): bigint | null => null;
