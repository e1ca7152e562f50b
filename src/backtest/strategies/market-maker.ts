/**
 * A small market maker: one post-only quote on each side, a few ticks away from mid, leaning against its inventory.
 *
 * It quotes at most every `requoteUs`, and moves a quote only when its target is `moveTicks` away from where it stands,
 * since each move loses its place in the queue. It holds back the side that would take it beyond `maxPosition`.
 */
import type {
  FillUpdate,
  OrderUpdate,
  Strategy,
  StrategyContext,
  TouchUpdate,
} from '../strategy.ts';
import { MatcherError } from '../../gateway/matcher-client.ts';
import { formatDecimal, parseDecimal, type Decimal } from '../../num/decimal.ts';

export interface MarketMakerParameters {
  /** Size of a quote, decimal text. */
  readonly size: string;
  /** Largest position, in quotes. */
  readonly maxQuotes: number;
  /** Distance of a quote from mid, in half ticks. */
  readonly halfSpread: number;
  /** By how many half ticks one quote of inventory shifts both quotes. */
  readonly skew: number;
  readonly moveTicks: number;
  readonly requoteUs: number;
}

export const MARKET_MAKER_DEFAULTS: MarketMakerParameters = {
  size: '0.02',
  maxQuotes: 5,
  halfSpread: 100,
  skew: 20,
  moveTicks: 20,
  requoteUs: 250_000,
};

const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';
/** Far beyond any recording: quotes do not expire by themselves. */
const NEVER_MS = 9_007_199_254_740;

interface Quote {
  orderId: string | null;
  ticks: number;
  busy: boolean;
}

export function marketMaker(parameters: MarketMakerParameters = MARKET_MAKER_DEFAULTS): Strategy {
  const quotes: Record<'buy' | 'sell', Quote> = {
    buy: { orderId: null, ticks: 0, busy: false },
    sell: { orderId: null, ticks: 0, busy: false },
  };
  const size = mustDecimal(parameters.size);
  /** Position in whole quotes, rounded toward zero. */
  let inventory = 0;
  let quotedUs = 0;

  async function quote(
    side: 'buy' | 'sell',
    ticks: number | null,
    tickSize: Decimal,
    context: StrategyContext,
  ): Promise<void> {
    const current = quotes[side];
    if (current.busy) return;
    const stands = current.orderId !== null;
    if (stands && ticks !== null && Math.abs(ticks - current.ticks) < parameters.moveTicks) return;
    if (!stands && ticks === null) return;
    current.busy = true;
    try {
      if (current.orderId !== null) {
        const orderId = current.orderId;
        current.orderId = null;
        await context.client.call('cancelOrder', { orderId, account: context.account });
      }
      if (ticks !== null) await place(side, ticks, tickSize, context);
    } catch (error) {
      // Filled or ended while the request was on its way: the feeds say so themselves.
      if (!(error instanceof MatcherError)) throw error;
    } finally {
      current.busy = false;
    }
  }

  async function place(
    side: 'buy' | 'sell',
    ticks: number,
    tickSize: Decimal,
    context: StrategyContext,
  ): Promise<void> {
    const [order] = await context.client.call('submitOrder', {
      account: context.account,
      subaccountIndex: context.subaccountIndex,
      symbol: context.symbol,
      orderType: 'limit',
      price: formatDecimal(BigInt(ticks) * tickSize.digits, tickSize.scale),
      quantity: side === 'buy' ? parameters.size : `-${parameters.size}`,
      nonce: context.nextNonce(),
      expiresAt: NEVER_MS,
      originator: ZERO_ADDRESS,
      originatorFee: 0,
      flags: { ioc: false, postOnly: true, reduceOnly: false },
      signatures: [],
    });
    if (order?.status !== 'new' && order?.status !== 'partiallyFilled') return;
    quotes[side].orderId = order.orderId;
    quotes[side].ticks = ticks;
  }

  function forget(orderId: string): void {
    for (const current of [quotes.buy, quotes.sell]) {
      if (current.orderId === orderId) current.orderId = null;
    }
  }

  return {
    name: 'market maker',

    async onBook(update: TouchUpdate, context: StrategyContext): Promise<void> {
      const { bidTicks, askTicks } = update;
      if (bidTicks === null || askTicks === null) return;
      if (context.now() - quotedUs < parameters.requoteUs) return;
      quotedUs = context.now();
      const middle = bidTicks + askTicks - inventory * parameters.skew;
      const tickSize = mustDecimal(update.tickSize);
      // Post-only: a quote never goes to or through the other side's touch.
      const buy = Math.min(Math.floor((middle - parameters.halfSpread) / 2), askTicks - 1);
      const sell = Math.max(Math.ceil((middle + parameters.halfSpread) / 2), bidTicks + 1);
      await Promise.all([
        quote('buy', inventory < parameters.maxQuotes ? buy : null, tickSize, context),
        quote('sell', inventory > -parameters.maxQuotes ? sell : null, tickSize, context),
      ]);
    },

    onFill(update: FillUpdate): void {
      const held = mustDecimal(update.position);
      inventory = Number(
        (held.digits * 10n ** BigInt(size.scale)) / (size.digits * 10n ** BigInt(held.scale)),
      );
    },

    onOrder(update: OrderUpdate): void {
      forget(update.orderId);
    },
  };
}

function mustDecimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === null) throw new TypeError(`'${text}' is not decimal text`);
  return value;
}
