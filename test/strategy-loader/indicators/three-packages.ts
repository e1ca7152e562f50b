/** Bollinger bands, RSI and averages of three npm packages, imported as their authors show. */
import { bollingerBands } from 'indicatorts';
import { defineStrategy, type Strategy } from 'orrery/strategy';
import { RSI, SMA as StreamingSMA } from 'technicalindicators';
import { SMA } from 'trading-signals';

/* eslint-disable @typescript-eslint/no-unsafe-class-instance-assignment --
   technicalindicators types its plain inputs as classes. */
export default defineStrategy({
  name: 'three packages',
  parameters: {},
  barsUs: () => [1_000_000],
  keeps: { bars: 40 },
  create: (): Strategy => {
    const own = new SMA(5);
    const streaming = new StreamingSMA({ period: 5, values: [] });
    return {
      async onBar(bar, context) {
        const closes = context.history(40).map(({ close }) => close);
        const average = own.update(bar.close, false) ?? NaN;
        const same: number | undefined = streaming.nextValue(bar.close);
        const rsi = RSI.calculate({ period: 14, values: closes }).at(-1) ?? NaN;
        const { upper, lower } = bollingerBands(closes, { period: 20 });
        const top = upper.at(-1) ?? NaN;
        context.plot('sma', average);
        context.plot('sma of the other package', same ?? NaN);
        context.plot('upper', top);
        context.plot('lower', lower.at(-1) ?? NaN);
        context.plot('rsi', rsi, { pane: 'below' });
        if (closes.length < 40 || (await context.position()) !== '0') return;
        await context.submit({ side: bar.close > top ? 'sell' : 'buy', size: '0.01' });
      },
    };
  },
});
