/**
 * Funding payments of positions, from their `funding` at the exchange. A settlement adds its
 * payment to it, and a closing fill takes away what it realises (D-46).
 */
import { must } from '../base/assert.ts';
import { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
import { NoAnswerError } from '../http-client/client-error.ts';
import { formatDecimal, parseDecimal, stepsExact } from '../num/decimal.ts';

/** Decimals of money. */
const SCALE = 6;
const QUANTUM = { digits: 1n, scale: SCALE };

export class FundingPayments {
  /** Funding of each position, in quanta. */
  private readonly held = new Map<string, bigint>();

  /** The position's funding when the run begins. */
  begin(symbol: string, funding: string): void {
    this.held.set(symbol, quantaOf(funding));
  }

  /** A fill took this part away. */
  realized(symbol: string, part: string): void {
    this.held.set(symbol, this.of(symbol) - quantaOf(part));
  }

  /** The payment of a settlement after which the position has this funding. */
  settled(symbol: string, funding: string): string {
    const payment = quantaOf(funding) - this.of(symbol);
    this.begin(symbol, funding);
    return formatDecimal(payment, SCALE);
  }

  private of(symbol: string): bigint {
    return this.held.get(symbol) ?? 0n;
  }
}

function quantaOf(text: string): bigint {
  const value = must(parseDecimal(text) ?? undefined, 'money of the API is decimal text');
  return must(stepsExact(value, QUANTUM) ?? undefined, 'money has at most six decimals');
}

/** Rate of a market, and funding of the position there. */
export async function fundingOf(
  client: MatcherClient,
  position: {
    readonly account: string;
    readonly subaccountIndex: number;
    readonly symbol: string;
  },
): Promise<{ readonly rate: string; readonly funding: string }> {
  const { symbol } = position;
  const [summary, held] = await Promise.all([
    client.call('getSummary', { symbol }),
    client.call('getPositions', position),
  ]);
  const funding = held.find((one) => one.symbol === symbol)?.funding ?? '0';
  return { rate: summary.fundingRate, funding };
}

/** Whether the server is away for a while. */
export const isAway = (error: unknown): error is Error =>
  error instanceof NoAnswerError || (error instanceof MatcherError && error.status >= 500);
