/**
 * Expected results of freqtrade's own tests of its backtesting (freqtrade/freqtrade,
 * tests/optimize/test_backtest_detail.py): candles of an hour, signals, rules, the exit candle and
 * reason of each trade, and the summed return to three decimals. The numbers are from freqtrade,
 * the notation is this project's; a case keeps its number.
 *
 * Excluded are cases whose result no market gives, or which call user code:
 *
 * - 11, 24: the stop fills at its own price in a candle that opened beyond it, or loses to a target
 *   there. Here it fires at the open.
 * - 20: the target fills at its own price in a candle that opened beyond it, on the profitable
 *   side. Here the open is better.
 * - 16, 40, 41, 44: an order fills at the extreme of its candle, worse than an available open.
 * - 48, 52, 58: an order fills at its own price although the candle opened at a better one.
 * - 35: the price is assumed to turn exactly at the price that starts the trailing, and to return
 *   only then.
 * - 42: an exit that the same candle reaches is postponed to the next.
 * - 56: enters at the open of the candle in which the previous position is stopped out later.
 * - 36, 37, 38, 57: a stop or a size from a user callback.
 *
 * A target is reached here when the price touches it, in freqtrade when it goes beyond: 45 and 59,
 * whose candle 1 touches it to the tick, omit it. Stops are touched in both.
 */
export interface Case {
  readonly name: string;
  /** `open high low close signals`, signals of `EL XL ES XS` (enter and exit, long and short). */
  readonly candles: string;
  /** As shares of the entry price, before leverage. */
  readonly stop?: number;
  readonly roi?: number;
  /** A later target, from this many candles after the entry on; null closes there. */
  readonly later?: { readonly after: number; readonly roi: number | null };
  readonly trail?: number;
  readonly trailFrom?: number;
  readonly leverage?: number;
  readonly entryPrice?: number;
  readonly exitPrice?: number;
  readonly adjustEntry?: number;
  readonly adjustExit?: number;
  readonly cancelAfter?: number;
  /** Open to the end: closed at the open of the last candle. */
  readonly endsHeld?: boolean;
  readonly profit: number;
  /** `<candle of the entry>-<candle of the exit> <reason> [short]` */
  readonly trades: readonly string[];
}

/** Long from candle 1 on, in the candles of most cases. */
const CALM = '5000 5025 4975 4987 EL\n5000 5025 4975 4987';
const WIDE = '5000 5050 4950 5000 EL\n5000 5050 4950 5000';
const RISEN = '5000 5050 4950 5000 EL\n5000 5100 4950 5100';
const FALL = '4850 5050 4650 4750\n4750 4950 4350 4750';
const TAIL = '4962 4987 4937 4950\n4950 4975 4925 4950';

export const CASES: readonly Case[] = [
  {
    name: '0: an exit signal takes effect at the next open',
    candles: `${CALM}\n4987 5012 4986 4986\n5010 5010 4980 5010 XL\n5010 5011 4977 4995\n4995 4995 4950 4950`,
    stop: 0.01,
    roi: 1,
    profit: 0.002,
    trades: ['1-4 signal'],
  },
  {
    name: '1: a stop of 1 %',
    candles: `${CALM}\n4987 5012 4600 4600\n4975 5000 4975 4977\n4977 4995 4977 4995\n4995 4995 4950 4950`,
    stop: 0.01,
    roi: 1,
    profit: -0.01,
    trades: ['1-2 stop'],
  },
  {
    name: '2: a stop of 3 %, 4 % down',
    candles: `${CALM}\n4987 5012 4962 4975\n4975 5000 4800 4962\n${TAIL}`,
    stop: 0.03,
    roi: 1,
    profit: -0.03,
    trades: ['1-3 stop'],
  },
  {
    name: '3: two trades, both stopped',
    candles: `${CALM}\n4987 5012 4800 4975\n4975 5000 4950 4962 EL\n4975 5000 4950 4962\n4962 4987 4000 4000\n4950 4975 4950 4950`,
    stop: 0.02,
    roi: 1,
    profit: -0.04,
    trades: ['1-2 stop', '4-5 stop'],
  },
  {
    name: '4: the stop wins over the target in a candle that reaches both, and closes high',
    candles: `${CALM}\n4987 5750 4850 5750\n4975 5000 4950 4962\n${TAIL}`,
    stop: 0.02,
    roi: 0.06,
    profit: -0.02,
    trades: ['1-2 stop'],
  },
  {
    name: '5: the target',
    candles: `5000 5025 4980 4987 EL\n5000 5025 4980 4987\n4987 5025 4975 4987\n4975 6000 4975 6000\n4962 4987 4962 4972\n4950 4975 4925 4950`,
    stop: 0.01,
    roi: 0.03,
    profit: 0.03,
    trades: ['1-3 roi'],
  },
  {
    name: '6: the stop wins over the target',
    candles: `${CALM}\n4987 5300 4850 5050\n4975 5000 4950 4962\n4962 4987 4950 4950\n4950 4975 4925 4950`,
    stop: 0.02,
    roi: 0.05,
    profit: -0.02,
    trades: ['1-2 stop'],
  },
  {
    name: '7: the target where the stop is not reached',
    candles: `${CALM}\n4987 5300 4950 5050\n4975 5000 4950 4962\n4962 4987 4950 4950\n4950 4975 4925 4950`,
    stop: 0.02,
    roi: 0.03,
    profit: 0.03,
    trades: ['1-2 roi'],
  },
  {
    name: '8: a trailed stop, raised in one candle and reached in the next',
    candles: `${WIDE}\n5000 5250 4750 4850\n4850 5050 4650 4750\n4750 4950 4350 4750`,
    trail: 0.1,
    roi: 0.1,
    profit: -0.055,
    trades: ['1-3 trail'],
  },
  {
    name: '9: a trailed stop, raised and reached in one candle',
    candles: `${WIDE}\n5000 5050 4950 5000\n5000 5200 4550 4850\n4750 4950 4350 4750`,
    trail: 0.1,
    roi: 0.1,
    profit: -0.064,
    trades: ['1-3 trail'],
  },
  {
    name: '10: trailing never starts, the stop is reached',
    candles: `${RISEN}\n5100 5251 5100 5100\n${FALL}`,
    stop: 0.1,
    roi: 0.1,
    trail: 0.03,
    trailFrom: 0.1,
    profit: -0.1,
    trades: ['1-4 stop'],
  },
  {
    name: '12: trailing starts and is reached in one candle',
    candles: `${RISEN}\n5100 5251 4650 5100\n${FALL}`,
    stop: 0.1,
    roi: 0.1,
    trail: 0.03,
    trailFrom: 0.05,
    profit: 0.019,
    trades: ['1-2 trail'],
  },
  {
    name: '13: entry and target in one candle',
    candles: `${RISEN}\n5100 5251 4850 5100\n4850 5050 4750 4750\n4750 4950 4750 4750`,
    stop: 0.1,
    roi: 0.01,
    profit: 0.01,
    trades: ['1-1 roi'],
  },
  {
    name: '14: entry and stop in one candle',
    candles: `5000 5050 4950 5000 EL\n5000 5100 4600 5100\n5100 5251 4850 5100\n4850 5050 4750 4750\n4750 4950 4350 4750`,
    stop: 0.05,
    roi: 0.1,
    profit: -0.05,
    trades: ['1-1 stop'],
  },
  {
    name: '15: entry and target in one candle, entry and stop in the next',
    candles: `5000 5050 4950 5000 EL\n5000 5100 4900 5100 EL\n5100 5251 4650 5100\n4850 5050 4750 4750\n4750 4950 4350 4750`,
    stop: 0.05,
    roi: 0.01,
    profit: -0.04,
    trades: ['1-1 roi', '2-2 stop'],
  },
  {
    name: '17: after two hours at any price, at the open',
    candles: `${CALM}\n4987 5300 4950 5050\n4980 5000 4940 4962\n4962 4987 4950 4950\n4950 4975 4925 4950`,
    stop: 0.1,
    roi: 0.1,
    later: { after: 2, roi: null },
    profit: -0.004,
    trades: ['1-3 roi'],
  },
  {
    name: '18: after two hours a lower target, below the open',
    candles: `${CALM}\n4987 5300 4950 5200\n5200 5220 4940 4962\n4962 4987 4950 4950\n4950 4975 4925 4950`,
    stop: 0.1,
    roi: 0.1,
    later: { after: 2, roi: 0.01 },
    profit: 0.04,
    trades: ['1-3 roi'],
  },
  {
    name: '19: after two hours a lower target, which the candle reaches',
    candles: `${CALM}\n4987 5300 4950 5200\n5000 5300 4940 4962\n4962 4987 4950 4950\n4550 4975 4550 4950`,
    stop: 0.1,
    roi: 0.1,
    later: { after: 2, roi: 0.01 },
    profit: 0.01,
    trades: ['1-3 roi'],
  },
  {
    name: '21: the target before the trailing that would start beyond it',
    candles: `${RISEN}\n5100 5251 4650 5100\n${FALL}`,
    stop: 0.1,
    roi: 0.04,
    trail: 0.03,
    trailFrom: 0.05,
    profit: 0.04,
    trades: ['1-2 roi'],
  },
  {
    name: '22: the same where the candle does not fall',
    candles: `${RISEN}\n5100 5251 5100 5100\n${FALL}`,
    stop: 0.1,
    roi: 0.04,
    trail: 0.03,
    trailFrom: 0.05,
    profit: 0.04,
    trades: ['1-2 roi'],
  },
  {
    name: '23: the same for a short',
    candles: `5000 5050 4950 5000 ES\n5000 5050 4900 4900\n4900 4900 4749 4900\n${FALL}`,
    stop: 0.1,
    roi: 0.04,
    trail: 0.03,
    trailFrom: 0.05,
    profit: 0.04,
    trades: ['1-2 roi short'],
  },
  {
    name: '25: a stop in the candle of an exit signal wins',
    candles: `${CALM}\n4987 5012 4986 4986\n5010 5010 4855 5010 XL\n5010 5010 4977 4995\n4995 4995 4950 4950`,
    stop: 0.01,
    roi: 1,
    profit: -0.01,
    trades: ['1-3 stop'],
  },
  {
    name: '26: an exit signal wins over a stop in the candle of its exit',
    candles: `${CALM}\n4987 5012 4986 4986\n5010 5010 4986 5010 XL\n5010 5010 4855 4995\n4995 4995 4950 4950`,
    stop: 0.01,
    roi: 1,
    profit: 0.002,
    trades: ['1-4 signal'],
  },
  {
    name: '27: the same at five times leverage',
    candles: `${CALM}\n4987 5012 4986 4986\n5010 5010 4986 5010 XL\n5010 5010 4855 4995\n4995 4995 4950 4950`,
    stop: 0.01,
    roi: 0.2,
    leverage: 5,
    profit: 0.01,
    trades: ['1-4 signal'],
  },
  {
    name: '28: a short at five times leverage',
    candles: `5000 5025 4975 4987 ES\n5000 5025 4975 4987\n4987 5012 4986 4986\n5010 5010 4986 5010 XS\n4990 5010 4855 4995\n4995 4995 4950 4950`,
    stop: 0.01,
    roi: 0.2,
    leverage: 5,
    profit: 0.01,
    trades: ['1-4 signal short'],
  },
  {
    name: '29: a target in the candle of an exit signal wins',
    candles: `${CALM}\n4987 5012 4986 4986\n5010 5251 4986 5010 XL\n5010 5010 4855 4995\n4995 4995 4950 4950`,
    stop: 0.1,
    roi: 0.05,
    profit: 0.05,
    trades: ['1-3 roi'],
  },
  {
    name: '30: an exit signal wins over a target in the candle of its exit',
    candles: `${CALM}\n4987 5012 4986 4986\n5010 5012 4986 5010 XL\n5010 5251 4855 4995\n4995 4995 4950 4950`,
    stop: 0.1,
    roi: 0.05,
    profit: 0.002,
    trades: ['1-4 signal'],
  },
  {
    name: '31: a trailed stop above the whole candle fills at the open',
    candles: `${RISEN}\n5100 5251 5100 5100\n${FALL}`,
    stop: 0.1,
    roi: 0.1,
    trail: 0.03,
    trailFrom: 0.05,
    profit: -0.03,
    trades: ['1-3 trail'],
  },
  {
    name: '32: the same for a short',
    candles: `5000 5050 4950 5000 ES\n5000 5050 4890 4890\n4890 4890 4749 4890\n5150 5350 4950 4950\n4750 4950 4350 4750`,
    stop: 0.1,
    roi: 0.1,
    trail: 0.03,
    trailFrom: 0.05,
    profit: -0.03,
    trades: ['1-3 trail short'],
  },
  {
    name: '33: a trailed stop is not raised by the high of the candle that reaches it',
    candles: `5000 5050 4950 5000 EL\n5000 5050 5000 5000\n4900 5250 4500 5100\n5100 5100 4650 4750\n4750 4950 4350 4750`,
    roi: 0.1,
    trail: 0.03,
    profit: -0.02,
    trades: ['1-2 trail'],
  },
  {
    name: '34: a trailed stop in the candle of the entry',
    candles: `5000 5050 4950 5000 EL\n5000 5500 4900 4900\n4900 5250 4500 5100\n5100 5100 4650 4750\n4750 4950 4350 4750`,
    roi: 0.1,
    trail: 0.01,
    profit: -0.01,
    trades: ['1-1 trail'],
  },
  {
    name: '39: an entry below all candles is cancelled unfilled',
    candles: `5000 5050 4950 5000 EL\n5000 5500 4951 5000\n4900 5250 4500 5100\n5100 5100 4650 4750\n4750 4950 4350 4750`,
    stop: 0.01,
    roi: 0.1,
    entryPrice: 4200,
    cancelAfter: 1,
    profit: 0,
    trades: [],
  },
  {
    name: '43: an entry near the low, and the target on the way up to the close',
    candles: `5000 5050 4950 5000 EL\n5400 5500 4951 5100\n4900 5250 4500 5100\n5100 5100 4650 4750\n4750 4950 4350 4750`,
    stop: 0.1,
    roi: 0.01,
    entryPrice: 4952,
    profit: 0.01,
    trades: ['1-1 roi'],
  },
  {
    name: '45: an exit above all candles is cancelled unfilled, and the end closes',
    candles: `5000 5050 4950 5000 EL\n5000 5500 4951 5000\n4950 5250 4900 5100 XL\n5100 5100 4950 4950\n5000 5100 4950 4950`,
    stop: 0.1,
    exitPrice: 6052,
    cancelAfter: 1,
    endsHeld: true,
    profit: 0,
    trades: ['1-4 signal'],
  },
  {
    name: '46: the same for a short',
    candles: `5000 5050 4950 5000 ES\n5000 5000 4951 5000\n4910 5150 4910 5100 XS\n5100 5100 4950 4950\n5000 5100 4950 4950`,
    stop: 0.1,
    roi: 0.1,
    exitPrice: 4700,
    cancelAfter: 1,
    endsHeld: true,
    profit: 0,
    trades: ['1-4 signal short'],
  },
  {
    name: '47: long and short at once are no signal',
    candles: `5000 5050 4950 5000 EL ES\n5000 5500 4951 5000\n4900 5250 4900 5100\n5100 5100 4950 4950\n5000 5100 4950 4950`,
    stop: 0.1,
    roi: 0.1,
    profit: 0,
    trades: [],
  },
  {
    // freqtrade dates the trade by its first order, placed in candle 1; this is the candle of the
    // fill.
    name: '49: a short entry above all candles is repriced and fills',
    candles: `5000 5050 4950 5000 ES\n5000 5200 4951 5000\n4900 5250 4900 5100\n5100 5100 4650 4750 XS\n4750 4950 4350 4750`,
    stop: 0.2,
    roi: 0.1,
    entryPrice: 5300,
    adjustEntry: 5000,
    profit: 0.05,
    trades: ['2-4 signal short'],
  },
  {
    name: '50: an entry below all candles is cancelled at the next open',
    candles: `5000 5050 4950 5000 EL\n5000 5500 4951 5000\n4900 5250 4500 5100\n5100 5100 4650 4750\n4750 4950 4350 4750`,
    stop: 0.01,
    roi: 0.1,
    entryPrice: 4200,
    cancelAfter: 1,
    profit: 0,
    trades: [],
  },
  {
    name: '51: an entry below all candles is repriced, and cancelled later',
    candles: `5000 5050 4950 5000 EL\n5000 5500 4951 5000\n4900 5250 4500 5100\n5100 5100 4650 4750\n4750 4950 4350 4750`,
    stop: 0.01,
    roi: 0.1,
    entryPrice: 4200,
    adjustEntry: 4100,
    cancelAfter: 2,
    profit: 0,
    trades: [],
  },
  {
    name: '53: a short entry is repriced, fills, and is stopped in the same candle',
    candles: `5000 5050 4950 5000 ES\n5000 5200 4951 5000\n4900 5250 4900 5100\n5100 5100 4650 4750 XS\n4750 4950 4350 4750`,
    stop: 0.03,
    roi: 0.1,
    entryPrice: 5300,
    adjustEntry: 5000,
    profit: -0.03,
    trades: ['2-2 stop short'],
  },
  {
    name: '54: from long to short at one open',
    candles: `5000 5050 4950 5000 EL\n5000 5000 4951 5000\n4910 5150 4910 5100 ES\n5100 5100 4950 4950 XL ES\n5000 5100 4950 4950 XS\n5000 5100 4950 4950`,
    stop: 0.1,
    roi: 0.1,
    profit: 0,
    trades: ['1-4 signal', '4-5 signal short'],
  },
  {
    name: '55: from short to long at one open',
    candles: `5000 5050 4950 5000 ES\n5000 5000 4951 5000 EL\n4910 5150 4910 5100 EL XS\n5100 5100 4950 4950\n5000 5100 4950 4950 XL\n5000 5100 4950 4950`,
    stop: 0.1,
    roi: 0.1,
    profit: -0.04,
    trades: ['1-3 signal short', '3-5 signal'],
  },
  {
    name: '59: an exit above its candle is repriced and fills',
    candles: `5000 5050 4950 5000 EL\n5000 5500 4951 5000\n4900 5250 4500 5100 XL\n5100 5100 4650 4750\n4750 4950 4350 4750`,
    stop: 0.2,
    exitPrice: 5300,
    adjustExit: 4900,
    profit: -0.02,
    trades: ['1-4 signal'],
  },
];
