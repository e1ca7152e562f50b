/** End times: expiries, stale indices, lock-ups, pauses, settlements, notices, whole seconds. */
import type { Context } from './draw-context.ts';

const SECOND_US = 1_000_000;
/** Later times are ignored until they are near. */
const FURTHEST_US = 61 * SECOND_US;

/** Microseconds until such a time, or one more, where the state may have ended. */
export function untilEdge(context: Context): number {
  const { dice, nowUs } = context;
  const wait = edgeOf(context) - nowUs;
  return wait < 0 || wait > FURTHEST_US ? 0 : wait + dice.below(2);
}

function edgeOf({ dice, world, nowUs }: Context): number {
  switch (dice.below(6)) {
    case 0:
      return nextMultiple(nowUs, dice.chance(200) ? 60 * SECOND_US : SECOND_US);
    case 1:
      return nextMultiple(nowUs, 1000);
    case 2: {
      const { sampleIntervalUs, intervalUs } = dice.pick(world.markets).spec.funding;
      return nextMultiple(nowUs, dice.chance(500) ? sampleIntervalUs : intervalUs);
    }
    default:
      // Times from events; past ones are dropped.
      for (let tries = 0; tries < 8 && world.edges.length > 0; tries += 1) {
        const edge = dice.pick(world.edges);
        if (edge >= nowUs) return edge;
      }
      return nowUs;
  }
}

const nextMultiple = (nowUs: number, stepUs: number): number => nowUs - (nowUs % stepUs) + stepUs;

const HOUR_US = 3600 * SECOND_US;

/** Microseconds until the next hour or day, or one more: the bounds of candles and of 24 hours. */
export function untilDay({ dice, nowUs }: Context): number {
  const step = dice.chance(500) ? 24 * HOUR_US : HOUR_US;
  return nextMultiple(nowUs, step) - nowUs + dice.below(2);
}
