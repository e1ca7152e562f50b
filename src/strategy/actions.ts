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
  markets: readonly MarketTerms[],
  nextNonce: () => number | bigint,
): Actions {
  const market = (of = symbol): MarketTerms => {
    const found = markets.find((terms) => terms.symbol === of);
    if (found === undefined) throw new RangeError(`no market ${of} in this run`);
    return found;
  };
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

function senderOf({ account, subaccountIndex }: Sender): Sender {
  return { account, subaccountIndex };
}
