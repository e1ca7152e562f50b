/**
 * Time of the vault's next offer of its positions; scheduled where its positions change.
 */
import { floorTo } from '../../num/arithmetic.ts';
import { MINUTE_US } from '../market/candles.ts';
import type { ExchangeState } from '../exchange-state.ts';

/**
 * Called when a vault position changed. A vault that has none at some point of an instant offers
 * its next position at the whole minute after it, even if its timer was due in that instant.
 */
export function scheduleVaultLeave(state: ExchangeState): void {
  if (state.config.vaultLeavePpm === 0) return;
  const holds = state.vault.exposures.some((exposure) => (exposure?.positionLots ?? 0) !== 0);
  if (!holds) state.vaultLeaveUs = Infinity;
  else if (state.vaultLeaveUs === Infinity) {
    state.vaultLeaveUs = floorTo(state.nowUs, MINUTE_US) + MINUTE_US;
  }
}
