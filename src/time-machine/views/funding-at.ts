/** Funding settled by a command: the rate, and what each account paid or received. */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { money, priceText } from '../../gateway/encode.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { subaccountName } from './account-names.ts';

export interface FundingPayment {
  readonly subaccount: number;
  readonly owner: string;
  /** Signed: received is positive. */
  readonly amount: string;
}

export interface FundingAt {
  readonly market: number;
  readonly symbol: string;
  readonly timeUs: number;
  /** As a fraction of the notional, for the interval that ended. */
  readonly rate: string;
  readonly index: string | null;
  readonly positions: number;
  readonly rounding: string;
  readonly payments: readonly FundingPayment[];
}

const RATE_DECIMALS = 9;

export function fundingAt(view: ExchangeView, events: readonly EngineEvent[]): FundingAt[] {
  const settled: FundingAt[] = [];
  let payments: FundingPayment[] = [];
  for (const event of events) {
    if (event.kind === 'balanceChanged' || event.kind === 'isolatedMarginChanged') {
      if (event.reason !== 'funding') continue;
      payments.push({
        subaccount: event.subaccount,
        owner: subaccountName(view, event.subaccount),
        amount: money(event.deltaQuanta),
      });
    } else if (event.kind === 'fundingSettled') {
      const market = view.market(event.market);
      settled.push({
        market: event.market,
        symbol: market.spec.symbol,
        timeUs: event.timeUs,
        rate: formatDecimal(BigInt(event.ratePpb), RATE_DECIMALS),
        index: event.indexTicks === null ? null : priceText(market, event.indexTicks),
        positions: event.positions,
        rounding: money(event.roundingQuanta),
        payments,
      });
      payments = [];
    }
  }
  return settled;
}
