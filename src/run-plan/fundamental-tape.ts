/**
 * External input of an endogenous market: the fundamental value as index prices at regular times.
 */
import type { TapeBatch } from '../backtest/run-backtest.ts';
import type { Command } from '../engine/commands.ts';
import { formatDecimal, parseDecimal } from '../num/decimal.ts';
import { must } from '../base/assert.ts';
import { marketId, priceTicks, timeUs } from '../num/units.ts';
import { ornsteinUhlenbeck } from '../agents/fundamental.ts';
import type { RandomStream } from '../virtual-time/rng.ts';
import { openDataset } from '../tape-files/dataset-files.ts';
import { StrategyError } from '../strategy/definition.ts';
import type { Population } from './population.ts';

/** Batch size: interruption is checked between batches. */
const BATCH = 16;

/** Index commands of the full duration: at its end the last value again, so that the run lasts. */
export async function* fundamentalTape(
  population: Population,
  random: RandomStream,
  onTime: (atUs: number) => void,
): AsyncGenerator<TapeBatch> {
  const { market, startUs, durationUs, fundamental } = population;
  const step = must(parseDecimal(market.tickSize) ?? undefined, 'a tick size is decimal text');
  const tick = Number(market.tickSize);
  const values =
    fundamental.kind === 'recorded'
      ? await recordedValues(fundamental.data ?? '', fundamental.everyUs, durationUs)
      : ornsteinUhlenbeck(fundamental, random);
  const endUs = startUs + durationUs;
  let commands: Command[] = [];
  let ticks = 1;
  for (let dueUs = startUs; dueUs < endUs + fundamental.everyUs; dueUs += fundamental.everyUs) {
    const atUs = Math.min(dueUs, endUs);
    const next = dueUs === atUs ? values.next() : null;
    if (next?.done === false) ticks = Math.max(1, Math.round(next.value / tick));
    commands.push({
      kind: 'setIndex',
      timeUs: timeUs(atUs),
      market: marketId(0),
      priceTicks: priceTicks(ticks),
      text: formatDecimal(BigInt(ticks) * step.digits, step.scale),
    });
    if (commands.length < BATCH) continue;
    onTime(atUs);
    yield { commands };
    commands = [];
  }
  yield { commands };
}

/**
 * Last trade of each interval of a recording's first market. Throws if they end before the market:
 * without an index it would be frozen. A hole of the recording is one value, however many intervals
 * it has.
 */
async function recordedValues(
  folder: string,
  everyUs: number,
  durationUs: number,
): Promise<Iterator<number, unknown>> {
  const dataset = await openDataset(folder);
  const [market] = dataset.markets;
  if (market === undefined) throw new StrategyError(`${folder}: the dataset has no market`);
  const tick = Number(market.tickSize);
  const values: number[] = [];
  /** Intervals of each value. */
  const lengths: number[] = [];
  let intervals = 0;
  let untilUs = -Infinity;
  for await (const steps of dataset.read({ markets: [market.symbol] }).steps()) {
    // The market ends before the recording.
    if ((intervals - 1) * everyUs > durationUs) break;
    for (const { record } of steps) {
      const ticks =
        record.kind === 'trade' || record.kind === 'index'
          ? record.priceTicks
          : record.kind === 'bar'
            ? record.close
            : null;
      if (ticks === null) continue;
      const last = values.length - 1;
      if (record.timeUs < untilUs) {
        values[last] = ticks * tick;
        continue;
      }
      // Intervals without a trade keep the previous value.
      const missed = last < 0 ? 0 : Math.floor((record.timeUs - untilUs) / everyUs);
      if (missed > 0) lengths[last] = missed + 1;
      values.push(ticks * tick);
      lengths.push(1);
      intervals += missed + 1;
      untilUs = (Math.floor(record.timeUs / everyUs) + 1) * everyUs;
    }
  }
  if (intervals === 0)
    throw new StrategyError(`${folder}: a fundamental needs trades; there are none`);
  const recordedUs = intervals * everyUs;
  if (recordedUs < durationUs) {
    throw new StrategyError(
      `${folder}: its prices last ${String(recordedUs / 1e6)} s, less than the duration of the population, ${String(durationUs / 1e6)} s`,
    );
  }
  return repeated(values, lengths);
}

function* repeated(values: readonly number[], lengths: readonly number[]): Generator<number> {
  for (const [i, value] of values.entries()) {
    for (let n = lengths[i] ?? 0; n > 0; n--) yield value;
  }
}
