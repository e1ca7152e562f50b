/**
 * Charges of a clearing (R-6.2, steps 4 and 5) beside the transfers of positions: the liquidation
 * fee, and the payments of insurance and shortfall. They belong to the positions that it closes.
 */
import type { BalanceChanged, IsolatedMarginChanged } from '../../engine/events.ts';
import type { Exchange } from '../../engine/exchange.ts';
import { money } from '../../gateway/encode.ts';
import { absBig } from '../../num/arithmetic.ts';
import { parseDecimal, powerOfTen } from '../../num/decimal.ts';
import type { MarketId } from '../../num/units.ts';

interface Charged {
  /** By market: of the position that is about to be closed. */
  readonly charges: bigint[];
  readonly liquidations: { charges?: string; readonly realizedPnl?: string }[];
}

/** Adds a charge to the positions that the clearing closes next, or to the one closed last. */
export function noteCharge(
  event: BalanceChanged | IsolatedMarginChanged,
  engine: Exchange,
  { charges, liquidations }: Charged,
): void {
  if (!isCharge(event)) return;
  const shares = sharesOf(event, engine);
  for (const [market, share] of shares) charges[market] = (charges[market] ?? 0n) + share;
  if (shares.length > 0) return;
  // The debt of an account whose last position has just been closed.
  const closed = liquidations.findLast(({ realizedPnl }) => realizedPnl !== undefined);
  if (closed !== undefined) closed.charges = withCharge(closed.charges, event.deltaQuanta);
}

/** The charges of a position that is being closed, as a field of its row; none for 0. */
export function takeCharge(charges: bigint[], market: MarketId): { readonly charges?: string } {
  const charge = charges[market] ?? 0n;
  charges[market] = 0n;
  return charge === 0n ? {} : { charges: money(charge) };
}

/** The fee of a liquidation order belongs to its fill. */
function isCharge({ reason, cause }: BalanceChanged | IsolatedMarginChanged): boolean {
  return (
    reason === 'insurance' ||
    reason === 'shortfall' ||
    (reason === 'liquidationFee' && cause === 'adl')
  );
}

/** A charge shared by notional among the positions that the clearing is about to close. */
function sharesOf(
  event: BalanceChanged | IsolatedMarginChanged,
  engine: Exchange,
): readonly (readonly [market: MarketId, share: bigint])[] {
  const closing = engine
    .positions(event.subaccount)
    .filter(({ market, isolated }) =>
      event.kind === 'isolatedMarginChanged'
        ? market === event.market
        : !isolated && engine.market(market).frozenSinceUs === null,
    )
    .map(({ market, costQuanta, upnlQuanta }) => ({
      market,
      value: absBig(costQuanta + upnlQuanta),
    }));
  let left: bigint = event.deltaQuanta;
  let rest = closing.reduce((sum, { value }) => sum + value, 0n);
  return closing.map(({ market, value }) => {
    const share = rest === value ? left : (left * value) / rest;
    left -= share;
    rest -= value;
    return [market, share];
  });
}

/** @param charges text of money, absent for 0 */
export function withCharge(charges: string | undefined, more: bigint): string {
  const before = parseDecimal(charges ?? '0');
  return money(before === null ? more : before.digits * powerOfTen(6 - before.scale) + more);
}
