/**
 * Strategy of the demo, a small market maker: one quote per side at a fixed distance from mid,
 * skewed against its inventory.
 *
 * It quotes at most every `requoteMs`. A quote moves only if its target is `moveTicks` away,
 * because each move loses its queue position. A side that would exceed `maxQuotes` is not quoted.
 */
import {
  decimal,
  defineStrategy,
  formatDecimal,
  integer,
  MatcherError,
  parseDecimal,
  type BookUpdate,
  type Decimal,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';

interface Quote {
  orderId: string | null;
  ticks: number;
  busy: boolean;
}

interface Saved {
  readonly buy: Quote;
  readonly sell: Quote;
  readonly inventory: number;
  readonly quotedUs: number;
}

/** Final statuses of an order, after which its quote is gone. */
const OVER: readonly string[] = ['filled', 'cancelled', 'expired', 'rejected'];

export default defineStrategy({
  name: 'quotes',
  describe: 'One quote per side around mid, skewed against its inventory',
  parameters: {
    size: decimal('0.02', { min: '0.001', max: '10', step: '0.001', describe: 'size of a quote' }),
    maxQuotes: integer(5, { min: 1, max: 100, describe: 'max position, in quotes' }),
    halfSpread: integer(100, {
      min: 1,
      max: 100_000,
      describe: 'distance from mid, in half ticks',
    }),
    skew: integer(20, {
      min: 0,
      max: 10_000,
      describe: 'skew per quote of position, in half ticks',
    }),
    moveTicks: integer(20, {
      min: 1,
      max: 10_000,
      describe: 'min deviation that moves a quote, ticks',
    }),
    requoteMs: integer(250, { min: 0, max: 3_600_000, describe: 'interval of updates, ms' }),
  },
  create: (parameters): Strategy => {
    let quotes: Record<'buy' | 'sell', Quote> = {
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
      if (stands && ticks !== null && Math.abs(ticks - current.ticks) < parameters.moveTicks)
        return;
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
        // Filled or ended before the request arrived: feeds report it.
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
      const [order] = await context.submit({
        side,
        size: parameters.size,
        price: formatDecimal(BigInt(ticks) * tickSize.digits, tickSize.scale),
        postOnly: true,
      });
      if (order?.status !== 'new' && order?.status !== 'partiallyFilled') return;
      quotes[side].orderId = order.orderId;
      quotes[side].ticks = ticks;
    }

    return {
      async onBook(update: BookUpdate, context: StrategyContext): Promise<void> {
        const { bidTicks, askTicks } = update;
        if (bidTicks === null || askTicks === null || context.warmingUp) return;
        if (context.now() - quotedUs < parameters.requoteMs * 1000) return;
        quotedUs = context.now();
        const middle = bidTicks + askTicks - inventory * parameters.skew;
        const tickSize = mustDecimal(update.tickSize);
        // Post-only: a quote never crosses or equals the best price of the other side.
        const buy = Math.min(Math.floor((middle - parameters.halfSpread) / 2), askTicks - 1);
        const sell = Math.max(Math.ceil((middle + parameters.halfSpread) / 2), bidTicks + 1);
        await Promise.all([
          quote('buy', inventory < parameters.maxQuotes ? buy : null, tickSize, context),
          quote('sell', inventory > -parameters.maxQuotes ? sell : null, tickSize, context),
        ]);
      },

      onFill(update): void {
        const held = mustDecimal(update.position);
        inventory = Number(
          (held.digits * 10n ** BigInt(size.scale)) / (size.digits * 10n ** BigInt(held.scale)),
        );
      },

      onOrder(update): void {
        if (!OVER.includes(update.status)) return;
        for (const current of [quotes.buy, quotes.sell]) {
          if (current.orderId === update.orderId) current.orderId = null;
        }
      },

      save: (): Saved => ({ ...quotes, inventory, quotedUs }),
      load: (saved) => {
        const from = saved as Saved;
        quotes = { buy: from.buy, sell: from.sell };
        ({ inventory, quotedUs } = from);
      },
    };
  },
});

function mustDecimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === null) throw new TypeError(`'${text}' is not decimal text`);
  return value;
}
