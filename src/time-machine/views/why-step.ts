/** Sentences on what a command did and why, with the numbers that decided. */
import { unreachable } from '../../base/assert.ts';
import { dateText } from '../../base/date-text.ts';
import type { EngineEvent, LedgerReason } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import { stepText } from '../../backtest/explain/explain-liquidation.ts';
import { absBig } from '../../num/arithmetic.ts';
import { formatDecimal } from '../../num/decimal.ts';
import type { MarketId } from '../../num/units.ts';
import type { Step } from '../timeline.ts';
import { accountName, subaccountName } from './account-names.ts';
import { orderAt } from './order-at.ts';
import { END_TEXTS, refusalText } from './reason-texts.ts';

/** Most sentences of one command. */
const LIMIT = 40;

export function whyStep(view: ExchangeView, step: Step): string[] {
  const { outcome, events } = step;
  const lines = events.flatMap((event) => whyEvent(view, event, step));
  const shown =
    lines.length <= LIMIT
      ? lines
      : [...lines.slice(0, LIMIT), `and ${String(lines.length - LIMIT)} more`];
  // Events of a refused command are those of timers that were due before it.
  if (outcome !== 'ok') return [refusalText(outcome, step.before), ...shown];
  if (lines.length === 0) {
    return [`It changed nothing but the time${events.length === 0 ? '' : ' and its nonce'}.`];
  }
  return shown;
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
    case 'orderRested':
      return [restText(view, event)];
    case 'orderPending': {
      const order = view.order(event.orderId);
      // The command may have activated it since.
      if (order?.status !== 'pending') return [];
      return [`Order ${String(event.orderId)} waits for ${orderAt(view, order).waitsFor ?? ''}.`];
    }
    case 'balanceChanged':
      return moneyText(view, event);
    case 'isolatedMarginChanged': {
      // Others belong to a fill, to funding or to a step of a liquidation.
      if (event.reason !== 'isolatedMargin') return [];
      const way = event.deltaQuanta < 0n ? 'from' : 'to';
      return [
        `${money(absBig(event.deltaQuanta))} moved ${way} the isolated margin of ${subaccountName(view, event.subaccount)} in ${symbolOf(view, event)}, now ${money(event.marginQuanta)}.`,
      ];
    }
    case 'tapeApplied':
      return [tapeText(view, event)];
    case 'oracleSet': {
      const market = view.market(event.market);
      return [`The index of ${symbolOf(view, event)} is ${priceText(market, event.indexTicks)}.`];
    }
    case 'fundingSampled':
      return [
        `A premium of ${rateText(event.premiumPpb)} was sampled for ${symbolOf(view, event)}, number ${String(event.samples)} of its interval.`,
      ];
    case 'fundingSettled':
      return [
        `Funding of ${symbolOf(view, event)} was settled at the rate ${rateText(event.ratePpb)} over ${String(event.positions)} positions.`,
      ];
    case 'marginChanged':
      return [
        `${subaccountName(view, event.subaccount)} has ${event.isolated ? 'isolated' : 'cross'} margin in ${symbolOf(view, event)}, with the initial rate ${formatDecimal(BigInt(event.marginPpm), PPM_DECIMALS)}.`,
      ];
    case 'selfTradeModeChanged':
      return [
        `${accountName(event.account)} has ${event.mode === null ? 'the self-trade mode of the exchange' : `self-trade mode ${String(event.mode)}`}.`,
      ];
    case 'vaultSharesChanged':
      return [
        `${subaccountName(view, event.subaccount)} has ${formatDecimal(event.shares, SHARE_DECIMALS)} vault shares, a change of ${formatDecimal(event.change, SHARE_DECIMALS)} for ${money(event.amountQuanta)}.`,
      ];
    case 'delegateChanged':
      return [
        `${accountName(event.delegate)} ${event.delegated ? 'may act' : 'no longer acts'} for ${accountName(event.account)}/${String(event.subaccountIndex)}.`,
      ];
    case 'signersChanged':
      return [
        `${accountName(event.account)} has ${String(event.signers.length)} signers, of whom ${String(event.quorum)} must sign.`,
      ];
    case 'marketListed':
      return [`${symbolOf(view, event)} was listed.`];
    case 'marketFrozen':
      return [
        event.frozen
          ? `${symbolOf(view, event)} is frozen: its index is older than ${String(view.config.indexStaleUs / 1000)} ms.`
          : `${symbolOf(view, event)} is no longer frozen: it has a new index.`,
      ];
    case 'marketTermsChanged': {
      const { effectiveUs } = event;
      const when = effectiveUs === null ? 'in force' : `in force from ${dateText(effectiveUs)}`;
      return [`New terms of ${symbolOf(view, event)} are ${when}.`];
    }
    case 'marketStatusChanged':
      return [`${symbolOf(view, event)} is ${event.status}.`];
    case 'marketDelisted': {
      const market = view.market(event.market);
      return [
        `${symbolOf(view, event)} was delisted: positions were settled at ${priceText(market, event.priceTicks)}.`,
      ];
    }
    case 'orderAccepted':
    case 'tradePrinted':
    case 'positionChanged':
    case 'nonceUsed':
      // The command and the fills name them.
      return [];
    default:
      return unreachable(event);
  }
}

const PPM_DECIMALS = 6;
const SHARE_DECIMALS = 6;
const RATE_DECIMALS = 9;

const rateText = (ppb: number): string => formatDecimal(BigInt(ppb), RATE_DECIMALS);

const symbolOf = (view: ExchangeView, { market }: { readonly market: MarketId }): string =>
  view.market(market).spec.symbol;

type Of<K extends EngineEvent['kind']> = Extract<EngineEvent, { kind: K }>;

/** With the queue after the command: a part may have traded since. */
function restText(view: ExchangeView, event: Of<'orderRested'>): string {
  const market = view.market(event.market);
  const ahead = view.queueAhead(event.orderId);
  const queue =
    ahead === null
      ? ''
      : ahead === 0
        ? ', first in its queue'
        : `, behind ${sizeText(market, ahead)}`;
  const size = sizeText(market, Math.abs(event.remainingLots));
  return `Order ${String(event.orderId)} rests with ${size} at ${priceText(market, event.priceTicks)}${queue}.`;
}

/** Money from and to the outside or another account; the rest belongs to fills and other steps. */
const MOVES: Readonly<Partial<Record<LedgerReason, string>>> = {
  deposit: 'deposited',
  withdrawal: 'withdrew',
  transferIn: 'received',
  transferOut: 'sent',
  clsDeposit: 'paid into the vault',
  clsWithdrawal: 'was paid by the vault',
};

function moneyText(view: ExchangeView, event: Of<'balanceChanged'>): string[] {
  const verb = MOVES[event.reason];
  if (verb === undefined) return [];
  const amount = money(absBig(event.deltaQuanta));
  return [
    `${subaccountName(view, event.subaccount)} ${verb} ${amount}; its cash is ${money(event.balanceQuanta)}.`,
  ];
}

function tapeText(view: ExchangeView, event: Of<'tapeApplied'>): string {
  const market = view.market(event.market);
  const { symbol } = market.spec;
  if (event.stale) return `Recorded data of ${symbol} was skipped: it waits for a snapshot.`;
  const side = (ticks: number | null, size: number): string =>
    ticks === null ? 'nothing' : `${sizeText(market, size)} at ${priceText(market, ticks)}`;
  const bid = side(event.bestBidTicks, event.bestBidLots);
  const ask = side(event.bestAskTicks, event.bestAskLots);
  return `The recorded book of ${symbol} bids ${bid}, and asks ${ask}.`;
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
