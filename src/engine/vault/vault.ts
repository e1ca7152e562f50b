/**
 * Shares of the CLS vault. A deposit mints, a withdrawal burns, both at (NAV + 10⁶)
 * ÷ (shares + 10⁶): a virtual dollar and its virtual share prevent inflation of the first share.
 * Positions are valued against the requester: high for minting, low for burning. In a frozen market
 * the mark is moved against the requester by `config.frozenHaircutPpm`, so one stale price source
 * does not close the vault. Shares are whole 1e-6.
 */
import { ceilDivInt, ceilDivBig, floorDivInt } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { PPM, priceTicks, quanta, timeUs, type PriceTicks, type Quanta } from '../../num/units.ts';
import type { Subaccount } from '../accounts/subaccount.ts';
import { hashVaultSharesChanged } from '../chain-hash/hash-event.ts';
import type { Market } from '../market/market.ts';
import type { Refusal } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { withdrawable } from '../margin/margin.ts';
import { mustMark } from '../margin/requirement.ts';

const VIRTUAL = 1_000_000n;
export const DAY_US = 86_400_000_000;

/** Net asset value of the vault, against the minting or burning holder. */
export function vaultValue(state: ExchangeState, side: 'mint' | 'burn'): bigint {
  let value: bigint = state.vault.cash;
  for (const exposure of state.vault.exposures) {
    if (exposure === undefined || exposure.positionLots === 0) continue;
    const market = state.market(exposure.market);
    const price = priceAgainst(state, market, side, exposure.positionLots > 0);
    value += notional(exposure.positionLots, price, market.spec.quantaPerTickLot);
    value -= exposure.costQuanta;
  }
  return value;
}

/** Burning values longs at the lower price and shorts at the higher; minting the reverse. */
function priceAgainst(
  state: ExchangeState,
  market: Market,
  side: 'mint' | 'burn',
  long: boolean,
): PriceTicks {
  const mark = mustMark(market);
  const low = (side === 'burn') === long;
  if (market.frozen) {
    // Prices are below 2^31 and the rate ≤ 1, so the products are exact.
    const moved = mark * (PPM + (low ? -1 : 1) * state.config.frozenHaircutPpm);
    return priceTicks(low ? floorDivInt(moved, PPM) : ceilDivInt(moved, PPM));
  }
  const index = market.indexTicks ?? mark;
  return priceTicks(low ? Math.min(mark, index) : Math.max(mark, index));
}

/** Shares that a deposit mints, or the refusal. */
export function sharesMinted(state: ExchangeState, amount: Quanta): bigint | Refusal {
  const { minVaultDeposit: minQuanta } = state.config;
  if (amount < minQuanta) return { code: 'vault_deposit_too_small', minQuanta };
  const value = vaultValue(state, 'mint');
  if (value < 0n || (value === 0n && state.vaultShares > 0n))
    return { code: 'vault_value_not_positive' };
  const shares = (amount * (state.vaultShares + VIRTUAL)) / (value + VIRTUAL);
  return shares > 0n ? shares : { code: 'vault_shares_zero' };
}

/** Shares that a payout of an amount burns, or the refusal. */
export function sharesBurned(
  state: ExchangeState,
  holder: Subaccount,
  amount: Quanta,
): bigint | Refusal {
  if (holder.vaultShares === 0n) return { code: 'vault_shares_insufficient' };
  const untilUs = holder.lockupEndsAtUs;
  if (state.nowUs < untilUs) return { code: 'vault_shares_locked', untilUs };
  const value = vaultValue(state, 'burn');
  if (value <= 0n) return { code: 'vault_value_not_positive' };
  const shares = ceilDivBig(amount * (state.vaultShares + VIRTUAL), value + VIRTUAL);
  if (shares > holder.vaultShares) return { code: 'vault_shares_insufficient' };
  const availableQuanta = withdrawable(state, state.vault);
  return amount > availableQuanta ? { code: 'amount_exceeds_available', availableQuanta } : shares;
}

/** Books a change of a holder's shares; the money has moved already. */
export function changeShares(
  state: State,
  holder: Subaccount,
  shares: bigint,
  amount: Quanta,
): void {
  holder.vaultShares += shares;
  holder.vaultNetDeposits = quanta(holder.vaultNetDeposits + amount);
  state.vaultShares += shares;
  if (shares > 0n) {
    const endsUs = timeUs(state.nowUs + state.config.vaultLockupUs);
    if (endsUs > holder.lockupEndsAtUs) holder.lockupEndsAtUs = endsUs;
    if (state.vaultSnapshotUs === Infinity) state.vaultSnapshotUs = nextMidnight(state.nowUs);
  }
  const { context } = state;
  context.emit(hashVaultSharesChanged, {
    kind: 'vaultSharesChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    subaccount: holder.id,
    change: shares,
    shares: holder.vaultShares,
    totalShares: state.vaultShares,
    amountQuanta: amount,
    lockupEndsAtUs: holder.lockupEndsAtUs,
  });
  noteSnapshot(state, holder);
}

function nextMidnight(nowUs: number): number {
  return nowUs - (nowUs % DAY_US) + DAY_US;
}

/** Current redemption value of the shares, at least 0. */
export function sharesValue(state: ExchangeState, shares: bigint): Quanta {
  const value = vaultValue(state, 'burn');
  if (value <= 0n) return quanta(0n);
  return quanta((shares * (value + VIRTUAL)) / (state.vaultShares + VIRTUAL));
}

function noteSnapshot(state: ExchangeState, holder: Subaccount): void {
  state.vaultSnapshots.add({
    subaccount: holder.id,
    shares: holder.vaultShares,
    netDepositsQuanta: holder.vaultNetDeposits,
    valueQuanta: sharesValue(state, holder.vaultShares),
    lockupEndsAtUs: holder.lockupEndsAtUs,
    timeUs: state.nowUs,
    seq: state.seq,
  });
}

/** Takes every holder's snapshot at 00:00 UTC; without holders the timer stops. */
export function runVaultSnapshots(state: ExchangeState): void {
  if (state.vaultSnapshotUs > state.nowUs) return;
  if (state.vaultShares === 0n) {
    state.vaultSnapshotUs = Infinity;
    return;
  }
  state.vaultSnapshotUs = nextMidnight(state.nowUs);
  for (const holder of state.accounts.subaccounts) {
    if (holder.vaultShares > 0n) noteSnapshot(state, holder);
  }
}
