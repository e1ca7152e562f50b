/** Reads of a live run: markets, and money of its account. */
import type { ResponseOf } from '../contract/endpoints.ts';
import { formatDuration } from '../num/time-text.ts';
import { durationUs } from '../num/units.ts';
import { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
import { StrategyError } from '../strategy/definition.ts';
import { marketTerms } from '../strategy/market-terms.ts';
import type { MarketTerms } from '../strategy/strategy.ts';

export interface MarketFacts {
  readonly record: ResponseOf<'getMarkets'>[number];
  readonly terms: MarketTerms;
}

/** `wanted`: symbols; null for all. Rejects with `StrategyError` for an unknown one. */
export async function readMarkets(
  client: MatcherClient,
  wanted: readonly string[] | null,
): Promise<{ readonly markets: readonly MarketFacts[]; readonly symbols: readonly string[] }> {
  const records = await client.call('getMarkets', {});
  const symbols = wanted ?? records.map(({ symbol }) => symbol);
  for (const symbol of symbols) {
    if (records.some((record) => record.symbol === symbol)) continue;
    throw new StrategyError(
      `the exchange has no market ${symbol}; it has ${records.map((record) => record.symbol).join(', ')}`,
    );
  }
  const markets = records
    .filter(({ symbol }) => symbols.includes(symbol))
    .map((record) => ({ record, terms: marketTerms(record) }));
  return { markets, symbols };
}

/** Smaller differences are no fault of a clock; larger ones are the time of a test or replay. */
const CLOCK_MS = { least: 1000, most: 86_400_000 };

/** How far the clock of this computer is from that of the exchange; null if it is near. */
export async function clockNote(client: MatcherClient): Promise<string | null> {
  const sentMs = Date.now();
  const { time } = await client.call('getTime', {});
  const aheadMs = Math.max(sentMs - time, 0) - Math.max(time - Date.now(), 0);
  const offMs = Math.abs(aheadMs);
  if (offMs <= CLOCK_MS.least || offMs > CLOCK_MS.most) return null;
  const far = formatDuration(durationUs(Math.round(offMs / 1000) * 1_000_000));
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  return `the clock of this computer is ${far} ${side} that of the exchange, and so are now() and an expiresAt from it`;
}

/** Rejects with a `StrategyError` that says what to do if the subaccount has no money. */
export async function mustHaveMoney(
  client: MatcherClient,
  account: string,
  subaccountIndex: number,
): Promise<void> {
  const stats = await client
    .call('getStats', { account, subaccountIndex })
    .catch((error: unknown) => {
      // A subaccount exists from its first deposit.
      if (error instanceof MatcherError && error.status < 500 && error.status !== 401) return null;
      throw error;
    });
  if (stats !== null && Number(stats.accountValue) > 0) return;
  throw new StrategyError(
    `account ${account} has no money in subaccount ${String(subaccountIndex)}; ` +
      'deposit first: transfer to it on the exchange, or, if you have its --sim-token, add --deposit 10000',
  );
}

/** Equity and balance of a subaccount, in units of the collateral. */
export async function readEquity({
  client,
  account,
  subaccountIndex,
}: {
  readonly client: MatcherClient;
  readonly account: string;
  readonly subaccountIndex: number;
}): Promise<{ readonly equity: number; readonly balance: number }> {
  const stats = await client.call('getStats', { account, subaccountIndex });
  const [balance] = await client.call('getBalance', { account, subaccountIndex });
  return { equity: Number(stats.accountValue), balance: Number(balance?.balance ?? 0) };
}
