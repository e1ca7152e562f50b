/** Actions of a strategy as API requests: identical in a backtest and live. */
import { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
import { orderRequest, type Sender } from './order-request.ts';
import type { MarketTerms, StrategyContext } from './strategy.ts';

export type Actions = Pick<
  StrategyContext,
  'market' | 'submit' | 'cancel' | 'cancelAll' | 'position'
>;

export interface OrderNotes {
  readonly nextNonce: () => number | bigint;
  /** Notes the tag of the order with this nonce. */
  readonly tag: (nonce: number | bigint, text: string) => void;
}

export function actionsOf(
  client: MatcherClient,
  sender: Sender,
  symbol: string,
  termsOf: (symbol: string) => MarketTerms,
  { nextNonce, tag }: OrderNotes,
): Actions {
  const market = (of = symbol): MarketTerms => termsOf(of);
  return {
    market,
    submit: (order) => {
      const nonce = nextNonce();
      const request = orderRequest(order, market(order.symbol), sender, nonce);
      if (order.tag !== undefined) tag(nonce, mustTag(order.tag));
      return client.call('submitOrder', request);
    },
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

const MAX_TAG = 80;

function mustTag(tag: unknown): string {
  if (typeof tag === 'string' && tag !== '' && tag.length <= MAX_TAG) return tag;
  throw new RangeError(`the tag of an order must be text of 1 to ${String(MAX_TAG)} characters`);
}
