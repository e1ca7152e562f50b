/**
 * ADL ranks for readers. A ranking sorts all holders of a side. It is cached until a later
 * command, and longer for readers that accept its age.
 */
import { must } from '../../base/assert.ts';
import { timeUs, type Seq, type SubaccountId, type TimeUs } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { RankingAges } from '../read/views.ts';
import { byRank, holdersOf, rank, rankHolders, type Ranked } from './adl.ts';

const FIFTHS = 5;
/** Most holders of a small ranking. */
const MAX_SMALL = 100;

export const RANKED_NOW: RankingAges = { smallUs: 0, largeUs: 0 };

interface Ranking {
  readonly seq: Seq;
  readonly timeUs: TimeUs;
  /** In closing order. */
  readonly holders: readonly Ranked[];
  readonly places: ReadonlyMap<SubaccountId, number>;
}

export class AdlRanks {
  private readonly rankings = new Map<number, Ranking>();

  /** Quintile: 5 is closed first, 1 last; null without a position or a mark. */
  quantile(
    state: ExchangeState,
    id: SubaccountId,
    market: Market,
    ages: RankingAges,
  ): number | null {
    const exposure = state.subaccount(id).exposures[market.id];
    if (exposure === undefined || exposure.positionLots === 0) return null;
    if (market.markTicks === null) return null;
    const side = exposure.positionLots > 0 ? 1 : -1;
    const { holders, places } = this.ranking(state, market, side, ages);
    // A holder since then has the place that its present rank has among the others.
    const place = places.get(id) ?? placeOf(rank(state, market, exposure), holders);
    return FIFTHS - Math.floor((place * FIFTHS) / holders.length);
  }

  private ranking(state: ExchangeState, market: Market, side: 1 | -1, ages: RankingAges): Ranking {
    const key = market.id * 2 + (side > 0 ? 1 : 0);
    const known = this.rankings.get(key);
    if (known !== undefined) {
      const { seq, timeUs: rankedUs, holders } = known;
      const ageUs = holders.length > MAX_SMALL ? ages.largeUs : ages.smallUs;
      if (seq === state.seq || state.nowUs - rankedUs < ageUs) return known;
    }
    const holders = rankHolders(state, market, holdersOf(state, market, side));
    const places = new Map(holders.map(({ exposure }, place) => [exposure.subaccount, place]));
    const ranking = { seq: state.seq, timeUs: timeUs(state.nowUs), holders, places };
    this.rankings.set(key, ranking);
    return ranking;
  }
}

/** A place within the ranking: that of the first holder that closes later, or the last one. */
function placeOf(ranked: Ranked, holders: readonly Ranked[]): number {
  let from = 0;
  let to = holders.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    const holder = must(holders[middle], 'a middle is within the ranking');
    if (byRank(ranked, holder) < 0) to = middle;
    else from = middle + 1;
  }
  return from;
}
