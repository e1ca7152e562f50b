/**
 * Episodes: short plans that lead a run into states which random commands rarely reach. A run takes
 * them in turn, the least recent one first, with ordinary commands in between.
 */
import type { Dice } from '../../dice.ts';
import type { FuzzProfile } from '../../profile.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import {
  delistedAtLoss,
  haltedQuotes,
  heldLevel,
  owedWhileHalted,
  printsAlone,
  reducedAtLoss,
} from './edge-episodes.ts';
import {
  bankruptcy,
  frozenGains,
  reopenedInPause,
  ruinedTogether,
  savedInPause,
  shortfall,
  slicedLiquidation,
  vaultTakeover,
} from './loss-episodes.ts';
import { dayLater, manyMinutes, timedRecording, vaultHolders } from './history-episodes.ts';
import { isolatedPosition } from './isolated-episodes.ts';
import { announcedMargin, cappedMarket, frozenMarket, stoppedSweep } from './market-episodes.ts';
import { nonceWindow, revokedDelegate } from './nonce-episodes.ts';
import { equalNotionals } from './notional-episodes.ts';
import { partialLegs, sweptLegs, trailingStops } from './order-episodes.ts';
import { fundedAtNotice, smallOrders, unfillableQuotes } from './quote-episodes.ts';
import { nextMultiple } from './stage.ts';
import {
  DAY_US,
  movedAtInstant,
  NEAR_US,
  noticeUntilInstant,
  pausedUntilInstant,
  tightenedUntilInstant,
} from './tie-episodes.ts';

/** The commands of an episode; empty if this state offers none. */
type Episode = (context: Context) => readonly Planned[];

const EPISODES: readonly Episode[] = [
  frozenMarket,
  shortfall,
  movedAtInstant,
  partialLegs,
  haltedQuotes,
  reopenedInPause,
  nonceWindow,
  isolatedPosition,
  printsAlone,
  heldLevel,
  equalNotionals,
  vaultTakeover,
  reducedAtLoss,
  savedInPause,
  cappedMarket,
  frozenGains,
  bankruptcy,
  ruinedTogether,
  noticeUntilInstant,
  owedWhileHalted,
  trailingStops,
  stoppedSweep,
  sweptLegs,
  slicedLiquidation,
  revokedDelegate,
  announcedMargin,
  vaultHolders,
  pausedUntilInstant,
  tightenedUntilInstant,
  dayLater,
  delistedAtLoss,
  manyMinutes,
  timedRecording,
  unfillableQuotes,
  fundedAtNotice,
  smallOrders,
];

/** Those that end at an instant: the first ones when a day is about to begin. */
const OF_INSTANTS: readonly Episode[] = [pausedUntilInstant, tightenedUntilInstant, movedAtInstant];

/** Share of runs that fill a window of nonces. */
const FILL_PERMILLE = 200;

/** The turns of one run. */
export class EpisodeTurns {
  /** The least recent one comes first. */
  private readonly turns: Episode[];
  /** The last midnight for which an episode was drawn. */
  private day = 0;

  constructor(dice: Dice, { name }: Pick<FuzzProfile, 'name'>) {
    const first = dice.below(EPISODES.length);
    const turns = [...EPISODES.slice(first), ...EPISODES.slice(0, first)];
    // A full window takes a thousand orders.
    const fills = name === 'permissions' || dice.chance(FILL_PERMILLE);
    this.turns = fills ? turns : turns.filter((episode) => episode !== nonceWindow);
  }

  /** Whether a day is about to begin that no episode has used. */
  meetsDay({ nowUs }: Context): boolean {
    const day = nextMultiple(nowUs, DAY_US);
    return day - nowUs < NEAR_US && day > this.day;
  }

  /** The next episode that this state offers; empty if there is none. */
  next(context: Context): readonly Planned[] {
    const isDay = this.meetsDay(context);
    if (isDay) this.day = nextMultiple(context.nowUs, DAY_US);
    const first = isDay ? OF_INSTANTS.filter(() => context.dice.chance(700)) : [];
    for (const episode of [...first, ...this.turns]) {
      const plan = episode(context);
      if (plan.length === 0) continue;
      this.turns.splice(this.turns.indexOf(episode), 1);
      this.turns.push(episode);
      return plan;
    }
    return [];
  }
}
