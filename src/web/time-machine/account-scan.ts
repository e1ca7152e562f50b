/**
 * Equity and maintenance of an account over a range of commands, with its fills and liquidations:
 * the commands are applied once more, a few milliseconds at a time.
 */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { priceText, sizeText } from '../../gateway/encode.ts';
import type { SubaccountId } from '../../num/units.ts';
import type { Timeline } from '../../time-machine/timeline.ts';
import type { AccountCurve } from './account-chart.tsx';
import type { PriceMark } from './price-chart.tsx';
import { Slices } from './slices.ts';

export interface AccountScan extends AccountCurve {
  readonly subaccount: number;
  readonly marks: readonly PriceMark[];
}

const MOST_MARKS = 20_000;
const UNIT = 1e6;

/** Null if `isStopped` became true. */
export async function scanAccount(
  timeline: Timeline,
  subaccount: number,
  [from, to]: readonly [number, number],
  points: number,
  isStopped: () => boolean,
): Promise<AccountScan | null> {
  const seqs: number[] = [];
  const timesUs: number[] = [];
  const equity: number[] = [];
  const maintenance: number[] = [];
  const marks: PriceMark[] = [];
  const cursor = timeline.cursorAt(from);
  const { engine } = cursor;
  const every = Math.max(1, Math.floor((to - from) / points));
  const sink = (event: EngineEvent): void => {
    const mark = marks.length < MOST_MARKS ? markOf(engine, event, subaccount) : null;
    if (mark !== null) marks.push(mark);
  };
  const slices = new Slices();
  for (let at = from; at <= to; at++) {
    if (at > from && cursor.step(sink) === null) break;
    const sampled = (at - from) % every === 0 || at === to;
    if (sampled && subaccount < engine.subaccountCount) {
      const margin = engine.margin(subaccount as SubaccountId);
      seqs.push(at);
      timesUs.push(engine.nowUs);
      equity.push(Number(margin.accountValueQuanta) / UNIT);
      maintenance.push(Number(margin.maintenanceRequirementQuanta) / UNIT);
    }
    if (!(await slices.next(isStopped))) return null;
  }
  return { subaccount, seqs, timesUs, equity, maintenance, marks };
}

function markOf(view: ExchangeView, event: EngineEvent, subaccount: number): PriceMark | null {
  if (event.kind === 'liquidationStep' && event.step !== 'safe') {
    const own = event.subaccount === subaccount;
    return { seq: event.seq, kind: 'liquidation', text: own ? event.step : '' };
  }
  if (event.kind !== 'orderFilled' || event.subaccount !== subaccount) return null;
  const market = view.market(event.market);
  const text = `${sizeText(market, Math.abs(event.lots))} @ ${priceText(market, event.priceTicks)}`;
  return { seq: event.seq, kind: event.lots > 0 ? 'buy' : 'sell', text };
}
