/** End times: expiries, stale indices, lock-ups, pauses, settlements, notices, whole seconds. */
import type { Context } from './draw-context.ts';
import { nextSample } from './premium-samples.ts';

const SECOND_US = 1_000_000;
/** Later times are ignored until they are near. */
const FURTHEST_US = 61 * SECOND_US;

/** Share of edges before which a timer begins that ends with them. */
const TIE_PERMILLE = 250;

/** Microseconds until such a time, or one more, where the state may have ended. */
export function untilEdge(context: Context): number {
  const { dice, nowUs } = context;
  const edge = edgeOf(context);
  const tied = dice.chance(TIE_PERMILLE) ? edge - delayOf(context) : edge;
  const wait = (tied < nowUs ? edge : tied) - nowUs;
  return wait < 0 || wait > FURTHEST_US ? 0 : wait + dice.below(2);
}

/** A length of time after which something ends that a command begins. */
function delayOf({ dice, setup }: Context): number {
  const { termsNoticeUs, liquidationPauseUs, vaultLockupUs, indexStaleUs } = setup.config;
  return dice.pick([termsNoticeUs, liquidationPauseUs, vaultLockupUs, indexStaleUs + 1]);
}

function edgeOf({ dice, world, nowUs, setup }: Context): number {
  switch (dice.below(6)) {
    case 0:
      return nextMultiple(nowUs, dice.chance(200) ? 60 * SECOND_US : SECOND_US);
    case 1:
      return nextMultiple(nowUs, 1000);
    case 2: {
      const market = dice.pick(world.markets);
      const { source, sampleIntervalUs, intervalUs } = market.spec.funding;
      if (source !== 'external' && dice.chance(400)) {
        return nextSample(setup.config.samplingSeed, market, nowUs);
      }
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
