/** Refusals and ends of orders as text. */
import type { EndReason, Refusal } from '../../engine/refusals.ts';
import { refusalReply } from '../../gateway/refusal-reply.ts';
import type { StepContext } from '../step-context.ts';

export const END_TEXTS: Readonly<Record<EndReason, string>> = {
  user: 'its owner cancelled it',
  expired: 'it expired',
  iocRemainder: 'no more liquidity within its price',
  postOnlyWouldCross: 'it is post-only and would have matched',
  selfTrade: 'it would have matched an order of the same account',
  reduceOnly: 'there was no position left to reduce',
  insufficientMargin: 'its account had too little margin',
  priceBand: 'the remaining liquidity was beyond the price band',
  ocoSibling: 'the other order of its pair was activated or ended',
  parentCancelled: 'its parent ended without a fill',
  positionClosed: 'the position that it protected was closed',
  liquidation: 'its account was liquidated',
  adl: 'its position was closed by auto-deleveraging',
  openInterest: 'the open interest of the market was at its limit',
  openOrders: 'its account had too many open orders',
  delisted: 'the market was delisted',
  noMarkPrice: 'the market had no mark price',
  staleIndex: 'the index price was too old',
  halted: 'the market was halted',
};

/** The text of the API, and what of the state decided where that is known. */
export function refusalText(refusal: Refusal, before: StepContext): string {
  const { message } = refusalReply(refusal);
  const free =
    before.freeCollateral === null
      ? ''
      : ` (equity ${before.equity ?? '?'}, initial requirement ${before.initialRequirement ?? '?'}, free collateral ${before.freeCollateral})`;
  return `Refused with ${refusal.code}: ${message}${free}.`;
}
