/**
 * LEAN's regression algorithm `BasicTemplateCryptoFutureHourlyAlgorithm`: two exponential averages
 * of the hour's close, one buy that the margin does not cover, a buy of 1,000 at the first cross,
 * and a sale of 3,000 when the fast average is below after ten o'clock. The open position is closed
 * at the end, since LEAN's equity values a position as if closed, with the fee.
 */
import { defineStrategy, MatcherError, type Strategy } from 'orrery/strategy';

const HOUR_US = 3_600_000_000;

/**
 * LEAN's average: 0 until there are `length` values, then their mean, then weighted by 2 / (length
 * + 1).
 */
class LeanEma {
  value = 0;
  private readonly length: number;
  private count = 0;
  private sum = 0;

  constructor(length: number) {
    this.length = length;
  }

  add(input: number): void {
    const { length } = this;
    this.count += 1;
    this.sum += input;
    const weight = 2 / (length + 1);
    if (this.count === length) this.value = this.sum / length;
    else if (this.count > length) this.value = input * weight + this.value * (1 - weight);
  }
}

export default defineStrategy({
  name: 'lean hourly',
  parameters: {},
  barsUs: () => [HOUR_US],
  create: (): Strategy => {
    const fast = new LeanEma(3);
    const slow = new LeanEma(6);
    let orders = 0;
    let position = 0;
    return {
      async onBar({ close, timeUs }, context) {
        fast.add(close);
        slow.add(close);
        const send = async (side: 'buy' | 'sell', size: string): Promise<void> => {
          orders += 1;
          try {
            await context.submit({ side, size });
          } catch (error) {
            if (!(error instanceof MatcherError)) throw error;
          }
        };
        const hour = Math.floor(timeUs / HOUR_US) % 24;
        if (fast.value > slow.value) {
          if (orders > 0) return;
          await send('buy', '100000');
          await send('buy', '1000');
        } else if (hour > 10 && orders === 2) {
          await send('sell', '3000');
        }
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      async onStop(context) {
        if (position === 0) return;
        await context.submit({
          side: position > 0 ? 'sell' : 'buy',
          size: String(Math.abs(position)),
        });
      },
    };
  },
});
