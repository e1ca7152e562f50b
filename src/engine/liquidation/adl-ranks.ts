/** ADL ranks for readers; each ranking costs a sort and is cached until a later command. */
import { timeUs, type Seq, type SubaccountId, type TimeUs } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { rankHolders } from './adl.ts';

const FIFTHS = 5;

interface Ranking {
  readonly seq: Seq;
  readonly timeUs: TimeUs;
  /** Rank of each holder; 0 is closed first. */
  readonly places: ReadonlyMap<SubaccountId, number>;
}

export class AdlRanks {
  private readonly rankings = new Map<number, Ranking>();

  /** Quintile: 5 is closed first, 1 last; null without a position or a mark. */
  quantile(
    state: ExchangeState,
    id: SubaccountId,
    market: Market,
    maxAgeUs: number,
  ): number | null {
    const size = state.subaccount(id).exposures[market.id]?.positionLots ?? 0;
    if (size === 0 || market.markTicks === null) return null;
    const key = market.id * 2 + (size > 0 ? 1 : 0);
    let ranking = this.rankings.get(key);
    const fresh =
      ranking !== undefined &&
      (ranking.seq === state.seq || state.nowUs - ranking.timeUs < maxAgeUs) &&
      ranking.places.has(id);
    if (ranking === undefined || !fresh) {
      ranking = {
        seq: state.seq,
        timeUs: timeUs(state.nowUs),
        places: placesOf(state, market, size > 0 ? 1 : -1),
      };
      this.rankings.set(key, ranking);
    }
    const place = ranking.places.get(id);
    if (place === undefined) return null;
    return FIFTHS - Math.floor((place * FIFTHS) / ranking.places.size);
  }
}

function placesOf(state: ExchangeState, market: Market, side: 1 | -1): Map<SubaccountId, number> {
  const places = new Map<SubaccountId, number>();
  const holders = [...market.holders]
    .map((id) => state.subaccount(id).exposure(market.id))
    .filter(({ positionLots }) => positionLots > 0 === side > 0);
  for (const { subaccount } of rankHolders(state, market, holders)) {
    places.set(subaccount, places.size);
  }
  return places;
}
