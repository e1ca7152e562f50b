/** Effects of a command as bits: the index keeps them for every command of a journal. */
import { unreachable } from '../../base/assert.ts';
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';

export const STEP_FLAGS = {
  /** The command was refused. */
  refusal: 1,
  /** An order was rejected, with record. */
  rejection: 2,
  fill: 4,
  /** A pending order was activated. */
  trigger: 8,
  liquidation: 16,
  /** Funding was settled. */
  funding: 32,
  /** A mark or an index changed. */
  price: 64,
  /** A deposit, withdrawal or transfer. */
  money: 128,
  orderPlaced: 256,
  orderEnded: 512,
  /** Positions changed hands off the book: take-over, auto-deleveraging, delisting. */
  transferredPosition: 1024,
  /** A market was listed, or its terms or status changed. */
  market: 2048,
  /** Recorded market data. */
  tape: 4096,
  /** Insurance paid, or a loss was added to the shortfall. */
  deficit: 8192,
  /** A print on the public tape, of users or of recorded data. */
  trade: 16384,
} as const;

export type StepFlag = keyof typeof STEP_FLAGS;
export const STEP_FLAG_NAMES = Object.keys(STEP_FLAGS) as readonly StepFlag[];

export function flagsOfCommand({ kind }: Command): number {
  switch (kind) {
    case 'deposit':
    case 'withdraw':
    case 'transfer':
      return STEP_FLAGS.money;
    case 'tapeDepth':
    case 'tapeTrade':
    case 'tapeSnapshot':
    case 'tapeQuotes':
    case 'tapeGap':
    case 'tapeBar':
    case 'tapeL3':
      return STEP_FLAGS.tape;
    default:
      return 0;
  }
}

export function flagsOfEvent(event: EngineEvent): number {
  switch (event.kind) {
    case 'orderAccepted':
      return STEP_FLAGS.orderPlaced;
    case 'orderRejected':
      return STEP_FLAGS.rejection;
    case 'orderFilled':
      return STEP_FLAGS.fill;
    case 'tradePrinted':
      return STEP_FLAGS.trade;
    case 'orderReleased':
      return STEP_FLAGS.trigger;
    case 'orderEnded':
      return STEP_FLAGS.orderEnded;
    case 'liquidationStep':
      return event.step === 'insurance' || event.step === 'shortfall'
        ? STEP_FLAGS.liquidation | STEP_FLAGS.deficit
        : STEP_FLAGS.liquidation;
    case 'fundingSettled':
      return STEP_FLAGS.funding;
    case 'markChanged':
    case 'oracleSet':
      return STEP_FLAGS.price;
    case 'positionTransferred':
      return STEP_FLAGS.transferredPosition;
    case 'marketListed':
    case 'marketFrozen':
    case 'marketTermsChanged':
    case 'marketStatusChanged':
    case 'marketDelisted':
      return STEP_FLAGS.market;
    case 'orderRested':
    case 'orderPending':
    case 'balanceChanged':
    case 'positionChanged':
    case 'nonceUsed':
    case 'selfTradeModeChanged':
    case 'tapeApplied':
    case 'isolatedMarginChanged':
    case 'marginChanged':
    case 'fundingSampled':
    case 'vaultSharesChanged':
    case 'delegateChanged':
    case 'signersChanged':
      return 0;
    default:
      return unreachable(event);
  }
}

export function flagNames(flags: number): StepFlag[] {
  return STEP_FLAG_NAMES.filter((name) => (flags & STEP_FLAGS[name]) !== 0);
}
