/**
 * Explains the outcome of an order as text with numbers, from its records and its queue position.
 */
import { dateText } from '../../base/date-text.ts';
import { takesAnyPrice } from '../any-price.ts';
import type { FillRow, MarketOutput, OrderRow } from '../output.ts';
import type { QueueStory } from './queue-story.ts';

/** Width of a date with time. */
export const INDENT = ' '.repeat(26);

/** Max number of queue steps listed individually. */
const MAX_STEPS = 12;

export interface OrderFacts {
  readonly order: OrderRow;
  readonly fills: readonly FillRow[];
  readonly market: MarketOutput;
  /** Description of the latency model. */
  readonly latency: string;
  readonly story: QueueStory | null;
}

export function explainOrder({ order, fills, market, latency, story }: OrderFacts): string[] {
  const lines = [
    `${order.side} ${order.size} ${order.symbol} at ${boundOf(order)}${triggerOf(order)}: ${flagsOf(order)}`,
    `order   ${order.orderId} (number ${String(order.orderNumber)} of the journal)`,
    ...(order.tag === null ? [] : [`reason  ${order.tag}`]),
    '',
    `${dateText(order.sentUs)}  The strategy sent it; mid was ${numberText(order.sentMid)}.`,
    `${dateText(order.arrivedUs)}  It reached the exchange ${ms(order.arrivedUs - order.sentUs)} later (${latency}); mid was ${numberText(order.arrivalMid)}${moveOf(order)}.`,
  ];
  if (order.status === 'rejected') lines.push(...rejection(order, story));
  lines.push(...queueLines(order, story));
  for (const fill of fills) lines.push(...explainFill(fill, order, market));
  lines.push(...endLines(order, fills));
  return lines;
}

function boundOf(order: OrderRow): string {
  return takesAnyPrice(order, order.arrivalMid) ? 'any price within the band' : order.price;
}

/** Trigger of a conditional order; empty for another. */
function triggerOf({ triggerPrice }: OrderRow): string {
  return typeof triggerPrice === 'string' ? ` once its trigger ${triggerPrice} is reached` : '';
}

function flagsOf({ orderType, ioc, postOnly, reduceOnly }: OrderRow): string {
  const flags = [
    ...(ioc ? ['immediate or cancel (ioc)'] : []),
    ...(postOnly ? ['post-only'] : []),
    ...(reduceOnly ? ['reduce-only'] : []),
  ];
  return `${orderType}${flags.length === 0 ? '' : `, ${flags.join(', ')}`}`;
}

function moveOf({ side, sentMid, arrivalMid }: OrderRow): string {
  if (sentMid === null || arrivalMid === null || sentMid === arrivalMid) return '';
  const moved = arrivalMid - sentMid;
  const worse = side === 'buy' ? moved > 0 : moved < 0;
  return `, ${numberText(Math.abs(moved))} ${worse ? 'worse' : 'better'} than at sending`;
}

function rejection(order: OrderRow, story: QueueStory | null): string[] {
  const at = dateText(order.endedUs ?? order.arrivedUs);
  const reason = order.reason ?? 'no reason was recorded';
  const other = order.side === 'buy' ? story?.bestAsk : story?.bestBid;
  switch (reason) {
    case 'postOnlyWouldCross':
      return [
        `${at}  Rejected: post-only, and its price ${order.price} ${order.side === 'buy' ? '≥ best ask' : '≤ best bid'} ${other ?? 'unknown'}, so it would have matched.`,
      ];
    case 'insufficientMargin':
      return [
        `${at}  Rejected: equity ${story?.equity ?? '?'} less initial requirement ${story?.initialRequirement ?? '?'} is less than ${worstCaseOf(order)}.`,
      ];
    default:
      return [`${at}  Rejected: ${reason}.`];
  }
}

/** The amount that the exchange counts for an order (R-5.5, D-7). */
function worstCaseOf({ size, price, ioc }: OrderRow): string {
  const requirement = `the requirement of ${size} at the mark × the initial rate`;
  return ioc
    ? `${requirement}, and the fee`
    : `${requirement}, the loss from the mark to ${price}, and the fee`;
}

function queueLines(order: OrderRow, story: QueueStory | null): string[] {
  if (order.restedUs === null || order.queueAhead === null) return [];
  const lines = [
    `${dateText(order.restedUs)}  It rested on the book behind ${order.queueAhead} at its price.`,
  ];
  if (story === null) return lines;
  const moves = story.steps.filter(({ cause }) => cause !== 'rested' && cause !== 'filled');
  const sum = (...causes: readonly string[]): number =>
    story.steps
      .filter(({ cause }) => causes.includes(cause))
      .reduce((total, { change }) => total + Number(change), 0);
  for (const step of moves.slice(0, MAX_STEPS)) {
    lines.push(
      `${dateText(step.timeUs)}  ${step.detail}: ${step.change.replace('-', '−')} ahead of it, ${step.ahead} left (command ${String(step.seq)}).`,
    );
  }
  if (moves.length > MAX_STEPS) {
    lines.push(`${INDENT}  and ${String(moves.length - MAX_STEPS)} more steps`);
  }
  if (moves.length > 0) {
    lines.push(
      `${INDENT}  In all: trades removed ${amount(-sum('trade', 'filled'))} ahead of it, cancels ${amount(-sum('cancel', 'growth'))} (queue model ${story.queueModel}), other users ${amount(-sum('users'))}.`,
    );
  }
  return lines;
}

function explainFill(fill: FillRow, order: OrderRow, market: MarketOutput): string[] {
  const at = dateText(fill.timeUs);
  const waited =
    fill.role === 'maker'
      ? ` after ${seconds(fill.queueWaitUs)} on the book, when trades reached it`
      : '';
  const notional = Number(fill.size) * Number(fill.price);
  // Rounded to a millionth like rates; the fee itself is rounded up.
  const rate = notional === 0 ? 0 : Math.round((Number(fill.fee) / notional) * 1e6) / 1e6;
  const lines = [
    `${at}  Fill ${String(fill.fillId)}: ${fill.side} ${fill.size} at ${fill.price} as ${fill.role}${waited}.`,
    `${INDENT}  Fee ⌈${fill.size} × ${fill.price} × ${numberText(rate)}⌉ = ${fill.fee}; realised ${fill.realizedPnl}; position ${fill.position}.`,
  ];
  const sign = fill.side === 'buy' ? 1 : -1;
  const [base, price] = basisOf(fill, order);
  if (price !== null) {
    const slip = sign * (Number(fill.price) - price);
    const gap = Number(numberText(Math.abs(slip)));
    const side = gap === 0 ? 'equal' : `${String(gap)} ${slip > 0 ? 'worse' : 'better'}`;
    lines.push(`${INDENT}  Against ${base} ${numberText(price)}: ${side}.`);
  }
  const marks = fill.markouts.map((mid, i) => {
    const gained = mid === null ? null : sign * (mid - Number(fill.price));
    return `${['1 s', '10 s', '60 s'][i] ?? ''} ${gained === null ? 'unknown' : numberText(gained)}`;
  });
  lines.push(
    `${INDENT}  Mid less price, in its favour, after ${marks.join(', ')} (tick ${market.tickSize}).`,
  );
  if (fill.liquidation) lines.push(`${INDENT}  The exchange sent this order: a liquidation.`);
  return lines;
}

/** The price that a fill is compared with: mid moves while an order waits for its trigger. */
function basisOf(fill: FillRow, { triggerPrice, orderType }: OrderRow): [string, number | null] {
  const waits = orderType === 'takeProfit' || orderType === 'stopLoss';
  return waits && typeof triggerPrice === 'string'
    ? ['its trigger', Number(triggerPrice)]
    : ['mid at arrival', fill.arrivalMid];
}

function endLines(order: OrderRow, fills: readonly FillRow[]): string[] {
  if (order.endedUs === null) return [`${INDENT}  It was still on the book when the run ended.`];
  if (order.status === 'rejected') return [];
  if (order.status === 'filled') return [`${dateText(order.endedUs)}  Filled.`];
  const rest = fills.length === 0 ? 'unfilled' : `with ${order.filled} of ${order.size} filled`;
  const why: Readonly<Record<string, string>> = {
    user: 'the strategy cancelled it',
    expired: 'it expired',
    iocRemainder: 'no more liquidity within its price',
    priceBand: 'the remaining liquidity was beyond the price band',
    reduceOnly: 'there was no position left to reduce',
    insufficientMargin: 'its account had too little margin for the fill',
    selfTrade: 'it would have matched an order of the same account',
  };
  const reason = order.reason ?? '';
  return [`${dateText(order.endedUs)}  Ended ${order.status}, ${rest}: ${why[reason] ?? reason}.`];
}

function ms(us: number): string {
  return `${String(us / 1000)} ms`;
}

function seconds(us: number): string {
  return `${String(us / 1_000_000)} s`;
}

function amount(value: number): string {
  return numberText(Math.max(0, value));
}

function numberText(value: number | null): string {
  return value === null ? 'unknown' : String(Math.round(value * 1e8) / 1e8);
}
