/** An account's margin settings in a market: mode and own initial rate. */
import { notional } from '../../num/notional.ts';
import { lots, PPM, quanta } from '../../num/units.ts';
import { actsFor } from '../accounts/authority.ts';
import { moveToMargin } from '../accounts/isolated-ledger.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { UpdateMargin } from '../commands.ts';
import { hashMarginChanged } from '../chain-hash/hash-event.ts';
import { announceNonce } from '../accounts/announce-nonce.ts';
import type { Market } from '../market/market.ts';
import { isExpired } from '../orders/expiry.ts';
import type { Outcome, Refusal } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { admittedIsolatedEquity } from './isolated-margin.ts';
import { crossFree } from './margin.ts';
import { firstInitialPpm, initialOfValue, mustMark } from './requirement.ts';

export function updateMargin(state: State, command: UpdateMargin): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  const subaccount = state.accounts.subaccounts[command.subaccount];
  if (subaccount?.role !== 'user') return { code: 'subaccount_not_found' };
  if (isExpired(state, command.expiresAtMs)) return { code: 'request_expired' };
  const account = state.accounts.get(subaccount.account);
  const { delegate } = command;
  if (!actsFor(state, subaccount, delegate)) return { code: 'not_delegated' };
  const nonce = account.nonces.check(delegate, command.nonce);
  if (nonce !== null) return nonce;
  const { marginPpm, isolated } = command;
  const refusal = ratioRefusal(market, marginPpm);
  if (refusal !== null) return refusal;
  const exposure = subaccount.exposures[market.id];
  if (exposure !== undefined && exposure.isolated !== isolated && isInUse(exposure)) {
    return { code: 'margin_mode_in_use' };
  }
  const moved = exposure === undefined ? 0n : movedBy(exposure, market, marginPpm);
  if (moved === null || !isCovered(state, subaccount, exposure, command, moved)) {
    return { code: 'margin_insufficient' };
  }

  account.nonces.use(delegate, command.nonce);
  announceNonce(state, account, command.nonce);
  const set = exposure ?? subaccount.exposure(market.id);
  set.isolated = isolated;
  set.ownMarginPpm = marginPpm;
  const { context } = state;
  context.emit(hashMarginChanged, {
    kind: 'marginChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    subaccount: subaccount.id,
    market: market.id,
    isolated,
    marginPpm,
  });
  moveToMargin(state, subaccount, set, quanta(moved));
  state.markForRiskCheck(subaccount);
  return 'ok';
}

/** A ratio is in (0, 1], at least the market's own. */
export function ratioRefusal(market: Market, marginPpm: number): Refusal | null {
  if (marginPpm <= 0 || marginPpm > PPM) return { code: 'margin_out_of_range' };
  const minPpm = firstInitialPpm(market);
  return marginPpm < minPpm ? { code: 'margin_below_initial', minPpm } : null;
}

function isInUse(exposure: Exposure): boolean {
  return exposure.positionLots !== 0 || exposure.openOrders !== 0 || exposure.pendingOrders !== 0;
}

/**
 * Cash that a new rate moves into the isolated position: the missing part of its new requirement,
 * or (negative) the excess, at most its margin. null if a lower rate would release a negative
 * amount. In a frozen market gains do not count and nothing is released.
 */
function movedBy(exposure: Exposure, market: Market, marginPpm: number): bigint | null {
  if (!exposure.isolated || exposure.positionLots === 0) return 0n;
  const size = lots(Math.abs(exposure.positionLots));
  const value = notional(size, mustMark(market), market.spec.quantaPerTickLot);
  const required = initialOfValue(market, value, marginPpm);
  const lacks = required - admittedIsolatedEquity(exposure, market);
  if (marginPpm >= exposure.ownMarginPpm) return lacks > 0n ? lacks : 0n;
  if (lacks > 0n) return null;
  if (market.frozen) return 0n;
  const floor = -exposure.marginQuanta;
  return lacks < floor ? floor : lacks;
}

/** Whether free cross collateral is ≥ 0 under a stricter new setting. */
function isCovered(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure | undefined,
  { marginPpm, isolated }: UpdateMargin,
  moved: bigint,
): boolean {
  if (exposure === undefined) return true;
  const before = { isolated: exposure.isolated, ownMarginPpm: exposure.ownMarginPpm };
  if (moved > 0n && subaccount.clearingDebt > 0n) return false;
  const asksMore = marginPpm > before.ownMarginPpm || moved > 0n;
  if (!asksMore || !isInUse(exposure)) return true;
  // Set temporarily and restored, so that the ordinary margin rule applies.
  exposure.isolated = isolated;
  exposure.ownMarginPpm = marginPpm;
  const free = crossFree(state, subaccount) - moved;
  exposure.isolated = before.isolated;
  exposure.ownMarginPpm = before.ownMarginPpm;
  return free >= 0n && (moved <= 0n || subaccount.cash >= moved);
}
