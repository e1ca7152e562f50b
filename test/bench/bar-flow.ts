/**
 * One-minute bars of a walk that returns to its start, as commands, as dataset records and in the
 * peer's format.
 */
import type { TapeBar } from '../../src/engine/commands.ts';
import { lots, marketId, priceTicks, timeUs } from '../../src/num/units.ts';

export const MINUTE_US = 60_000_000;
const START_TICKS = 600_000;

export interface PlainBar {
  readonly minute: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/** Deterministic: a linear congruential generator gives the moves, in ticks. */
export function* walk(count: number): Generator<PlainBar> {
  let state = 12_345;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  let price = START_TICKS;
  for (let minute = 0; minute < count; minute++) {
    const open = price;
    const drift = price > START_TICKS ? -1 : 1;
    const close = open + draw(201) - 100 + drift * draw(20);
    const high = Math.max(open, close) + draw(80);
    const low = Math.min(open, close) - draw(80);
    price = close;
    yield { minute, open, high, low, close, volume: 1 + draw(10_000) };
  }
}

export function barCommand(bar: PlainBar, startUs: number): TapeBar {
  return {
    kind: 'tapeBar',
    timeUs: timeUs(startUs + (bar.minute + 1) * MINUTE_US - 1),
    market: marketId(0),
    openTicks: priceTicks(bar.open),
    highTicks: priceTicks(bar.high),
    lowTicks: priceTicks(bar.low),
    closeTicks: priceTicks(bar.close),
    volumeLots: lots(bar.volume),
    quoteTicks: priceTicks(bar.close),
    spreadTicks: 1,
    depthLots: lots(bar.volume),
    path: 'nearest',
    fill: 'touch',
  };
}
