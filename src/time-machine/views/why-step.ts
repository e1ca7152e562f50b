/** Sentences on what a command did and why, with the numbers that decided. */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import { stepText } from '../../backtest/explain/explain-liquidation.ts';
import type { Step } from '../timeline.ts';
import { subaccountName } from './account-names.ts';
import { END_TEXTS, refusalText } from './reason-texts.ts';

/** Most sentences of one command. */
const LIMIT = 40;

export function whyStep(view: ExchangeView, step: Step): string[] {
  const { outcome, events } = step;
  if (outcome !== 'ok') return [refusalText(outcome, step.before)];
  const lines = events.flatMap((event) => whyEvent(view, event, step));
  if (lines.length <= LIMIT) return lines;
  return [...lines.slice(0, LIMIT), `and ${String(lines.length - LIMIT)} more`];
}

function whyEvent(view: ExchangeView, event: EngineEvent, { before }: Step): string[] {
  switch (event.kind) {
    case 'orderRejected': {
      const reason = END_TEXTS[event.reason];
      return [
        `Order ${String(event.orderId)} was rejected: ${reason}${contextText(event.reason, before)}.`,
      ];
    }
    case 'orderEnded': {
      if (event.status === 'filled') return [];
      const reason = event.reason === null ? '' : `: ${END_TEXTS[event.reason]}`;
      return [`Order ${String(event.orderId)} ended ${event.status}${reason}.`];
    }
    case 'orderFilled': {
      const market = view.market(event.market);
      const role =
        event.role === 'maker'
          ? 'it rested there and was first in its queue'
          : 'it took the best resting price';
      return [
        `${subaccountName(view, event.subaccount)} filled ${sizeText(market, event.lots)} at ${priceText(market, event.priceTicks)} with order ${String(event.orderId)}: ${role}; fee ${money(event.feeQuanta)}, realised ${money(event.realizedPnlQuanta)}.`,
      ];
    }
    case 'orderReleased': {
      if (event.triggerTicks === null || event.sourceTicks === null) {
        return [`Order ${String(event.orderId)} was activated at its turn.`];
      }
      const market = view.market(event.market);
      return [
        `Order ${String(event.orderId)} was activated: ${view.config.triggerSource} ${priceText(market, event.sourceTicks)} reached its trigger ${priceText(market, event.triggerTicks)}.`,
      ];
    }
    case 'liquidationStep':
      return [`${subaccountName(view, event.subaccount)}: ${stepText(view, event)}.`];
    case 'markChanged': {
      const market = view.market(event.market);
      return [
        `The mark of ${market.spec.symbol} is ${priceText(market, event.markTicks)} (source ${market.spec.markSource}).`,
      ];
    }
    case 'positionTransferred': {
      const market = view.market(event.market);
      return [
        `${subaccountName(view, event.from)} gave ${sizeText(market, event.lots)} ${market.spec.symbol} to ${subaccountName(view, event.to)} at ${priceText(market, event.priceTicks)} (${event.reason}).`,
      ];
    }
    default:
      return [];
  }
}

function contextText(reason: string, before: Step['before']): string {
  switch (reason) {
    case 'postOnlyWouldCross':
      return ` (best bid ${before.bestBid ?? 'none'}, best ask ${before.bestAsk ?? 'none'})`;
    case 'insufficientMargin':
      return ` (equity ${before.equity ?? '?'}, initial requirement ${before.initialRequirement ?? '?'}, free collateral ${before.freeCollateral ?? '?'})`;
    default:
      return '';
  }
}
