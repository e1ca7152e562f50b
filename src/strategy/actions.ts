/** Actions of a strategy as API requests: identical in a backtest and live. */
import { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
import { orderRequest, type Sender } from './order-request.ts';
import type { MarketTerms, StrategyContext } from './strategy.ts';

export type Actions = Pick<
  StrategyContext,
  'market' | 'submit' | 'cancel' | 'cancelAll' | 'position'
>;

export function actionsOf(
  client: MatcherClient,
  sender: Sender,
  symbol: string,
  termsOf: (symbol: string) => MarketTerms,
  nextNonce: () => number | bigint,
): Actions {
  const market = (of = symbol): MarketTerms => termsOf(of);
  return {
    market,
    submit: (order) =>
      client.call('submitOrder', orderRequest(order, market(order.symbol), sender, nextNonce())),
    cancel: async (orderId) => {
      try {
        await client.call('cancelOrder', { orderId, account: sender.account });
        return true;
      } catch (error) {
        // An order that no longer exists needs no cancellation.
        if (error instanceof MatcherError && error.status === 404) return false;
        throw error;
      }
    },
    cancelAll: async (of) => {
      const only = of === undefined ? {} : { symbol: of };
      await client.call('cancelAllOrders', { ...senderOf(sender), ...only });
    },
    position: async (of = symbol) => {
      const held = await client.call('getPositions', { ...senderOf(sender), symbol: of });
      return held.find((position) => position.symbol === of)?.quantity ?? '0';
    },
  };
}

/** Finds a market's terms; throws `RangeError` for a symbol that is not in the run. */
export function termsIn(markets: readonly MarketTerms[]): (symbol: string) => MarketTerms {
  return (symbol) => {
    const found = markets.find((terms) => terms.symbol === symbol);
    if (found === undefined) throw new RangeError(`no market ${symbol} in this run`);
    return found;
  };
}

function senderOf({ account, subaccountIndex }: Sender): Sender {
  return { account, subaccountIndex };
}
