/** Templates of `orrery new`. */
export const STRATEGY_TEMPLATE = `/** {{name}}: follows the trend of the last bars with one position at a time. */
import {
  decimal,
  defineStrategy,
  integer,
  MatcherError,
  type Strategy,
} from 'orrery/strategy';

export default defineStrategy({
  name: '{{name}}',
  // Typed, with ranges: --param bars=30 sets one; a search varies them.
  parameters: {
    bars: integer(10, { min: 2, max: 200, describe: 'number of bars to look back' }),
    size: decimal('0.01', { min: '0.001', max: '10', step: '0.001', describe: 'position size' }),
  },
  // Lengths of the bars for onBar: one second. Add 60_000_000 for minutes.
  barsUs: () => [1_000_000],
  // Until then it receives updates, and writes are rejected.
  warmUpUs: ({ bars }) => bars * 1_000_000,

  create: ({ bars, size }): Strategy => {
    let closes: number[] = [];
    let position = 0;

    return {
      async onBar(bar, context) {
        closes = [...closes, bar.close].slice(-bars);
        const [oldest] = closes;
        if (oldest === undefined || closes.length < bars || context.warmingUp) return;
        const target = bar.close > oldest ? Number(size) : bar.close < oldest ? -Number(size) : 0;
        const change = target - position;
        if (change === 0) return;
        try {
          // Without a price the order is immediate or cancel. A limit order has
          // price: context.market().price(61_000).
          await context.submit({
            side: change > 0 ? 'buy' : 'sell',
            size: context.market().size(Math.abs(change), 'nearest'),
          });
        } catch (error) {
          if (!(error instanceof MatcherError)) throw error;
          context.log(\`rejected: \${error.message}\`);
        }
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      // With these a stopped run can be resumed.
      save: () => ({ closes, position }),
      load: (saved) => {
        ({ closes, position } = saved as { closes: number[]; position: number });
      },
    };
  },
});
`;

export const SCENARIO_TEMPLATE = `# A resting bid is partially filled. Run it: orrery run {{name}}.yaml
orrery: 1
title: {{name}}
accounts:
  maker: { deposit: 10000 }
  taker: { deposit: 10000 }

steps:
  - oracle: { BTC-USD-PERP: 60000 }

  - note: A bid rests.
    as: maker
    do: submitOrder
    with: { price: 59990, quantity: 0.1 }
    save: bid
    expect: { body: [{ status: new, remaining: 0.1 }] }

  - note: A sell fills part of it.
    wait: 1s
    as: taker
    do: submitOrder
    with: { price: 59990, quantity: -0.04, flags: { ioc: true } }
    expect:
      body: [{ status: filled }]
      records: { bid: { status: partiallyFilled, remaining: 0.06 } }
      book: { BTC-USD-PERP: { bids: [[59990, 0.06]] } }

expect:
  invariants: true
`;
