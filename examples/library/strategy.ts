/** `orrery/strategy`: quotes on both sides of the mid price, for backtests and live runs. */
import { decimal, defineStrategy, integer, type Strategy } from 'orrery/strategy';

export const quoter = defineStrategy({
  name: 'quoter',
  parameters: {
    ticks: integer(5, { min: 1, max: 100, describe: 'from the mid to each quote' }),
    size: decimal('0.01', { min: '0.001', max: '1', step: '0.001' }),
  },
  create: ({ ticks, size }): Strategy => ({
    onStart: (context) => {
      context.setTimer('requote', 10_000_000);
    },
    async onTimer(_name, context) {
      context.setTimer('requote', 10_000_000);
      if (context.warmingUp) return;
      const { symbol } = context;
      const [best] = (await context.client.call('getBook', { symbol })).bids;
      if (best === undefined) return;
      await context.cancelAll();
      const market = context.market();
      const distance = ticks * Number(market.tickSize);
      for (const side of ['buy', 'sell'] as const) {
        const price = Number(best.price) + (side === 'buy' ? -distance : distance);
        await context.submit({ side, size, price: market.price(price), postOnly: true });
      }
    },
  }),
});

console.log(quoter.name, Object.keys(quoter.parameters));
