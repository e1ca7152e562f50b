/**
 * Market maker of Avellaneda and Stoikov (2008, "High-frequency trading in a limit order book"). It
 * quotes around a reservation price that is skewed against its inventory,
 *
 * r = mid − q γ σ² τ,   half spread = ½ γ σ² τ + (1/γ) ln(1 + γ/k),
 *
 * with q the position in quotes, γ the risk aversion, σ² the variance of mid per second (estimated
 * continuously), τ the horizon in seconds and k the decay of fill intensity with distance. The
 * horizon is rolling: it never ends.
 */
import {
  decimal,
  defineStrategy,
  integer,
  MatcherError,
  number,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';

type Side = 'buy' | 'sell';

interface Quote {
  orderId: string | null;
  price: string;
}

const ENDED: readonly string[] = ['filled', 'cancelled', 'expired', 'rejected'];

export default defineStrategy({
  name: 'market maker',
  parameters: {
    size: decimal('0.01', { min: '0.001', max: '10', step: '0.001', describe: 'size of a quote' }),
    gamma: number(0.05, { min: 0.0001, max: 10, scale: 'log', describe: 'risk aversion' }),
    k: number(0.2, {
      min: 0.001,
      max: 100,
      scale: 'log',
      describe: 'decay of fill intensity, 1/price',
    }),
    horizonS: integer(20, { min: 1, max: 3600, describe: 'horizon of the inventory, seconds' }),
    maxQuotes: integer(5, { min: 1, max: 100, describe: 'max position, in quotes' }),
    moveTicks: integer(10, {
      min: 1,
      max: 10_000,
      describe: 'min deviation that moves a quote, ticks',
    }),
    requoteMs: integer(250, { min: 1, max: 60_000, describe: 'interval of updates, ms' }),
  },
  // The variance estimate needs some mids.
  warmUpUs: () => 10_000_000,

  create: ({ size, gamma, k, horizonS, maxQuotes, moveTicks, requoteMs }): Strategy => {
    let mid: number | null = null;
    let lastMid: number | null = null;
    let variance = 0;
    let position = 0;
    let quotes: Record<Side, Quote> = {
      buy: { orderId: null, price: '' },
      sell: { orderId: null, price: '' },
    };
    let touch = { bid: 0, ask: 0 };
    let busy = false;

    /** Exponentially weighted variance over about a minute. */
    function learn(seconds: number): void {
      if (mid === null) return;
      if (lastMid !== null) {
        const change = mid - lastMid;
        const weight = Math.min(1, seconds / 60);
        variance += weight * ((change * change) / seconds - variance);
      }
      lastMid = mid;
    }

    async function quote(side: Side, target: number, context: StrategyContext): Promise<void> {
      const market = context.market();
      const current = quotes[side];
      const full = side === 'buy' ? position >= maxQuotes : position <= -maxQuotes;
      const price = full ? '' : market.price(target, side === 'buy' ? 'down' : 'up');
      const tick = Number(market.tickSize);
      if (current.orderId !== null) {
        const moved = Math.abs(Number(price) - Number(current.price)) / tick;
        if (!full && moved < moveTicks) return;
        const { orderId } = current;
        current.orderId = null;
        // Filled before the cancel arrived: the next update uses the new position.
        if (!(await context.cancel(orderId))) return;
      }
      if (full) return;
      const [order] = await context.submit({ side, size, price, postOnly: true });
      if (order?.status !== 'new') return;
      current.orderId = order.orderId;
      current.price = price;
    }

    return {
      onStart(context) {
        context.setTimer('look', requoteMs * 1000);
      },
      onBook(book) {
        mid = book.mid;
        touch = { bid: Number(book.bid?.price ?? 0), ask: Number(book.ask?.price ?? 0) };
      },
      async onTimer(_name, context) {
        context.setTimer('look', requoteMs * 1000);
        learn(requoteMs / 1000);
        if (mid === null || context.warmingUp || busy) return;
        busy = true;
        const risk = gamma * variance * horizonS;
        const fair = mid - position * risk;
        const half = risk / 2 + Math.log(1 + gamma / k) / gamma;
        const tick = Number(context.market().tickSize);
        try {
          // Post-only: a quote never crosses or equals the best price of the other side.
          await quote('buy', Math.min(fair - half, touch.ask - tick), context);
          await quote('sell', Math.max(fair + half, touch.bid + tick), context);
        } catch (error) {
          if (!(error instanceof MatcherError)) throw error;
        } finally {
          busy = false;
        }
      },
      onFill(fill) {
        position = Number(fill.position) / Number(size);
      },
      onOrder(order) {
        if (!ENDED.includes(order.status)) return;
        for (const current of [quotes.buy, quotes.sell]) {
          if (current.orderId === order.orderId) current.orderId = null;
        }
      },
      async onStop(context) {
        await context.cancelAll();
      },
      save: () => ({ mid, lastMid, variance, position, quotes, touch }),
      load: (saved) => {
        ({ mid, lastMid, variance, position, quotes, touch } = saved as {
          mid: number | null;
          lastMid: number | null;
          variance: number;
          position: number;
          quotes: Record<Side, Quote>;
          touch: { bid: number; ask: number };
        });
      },
    };
  },
});
