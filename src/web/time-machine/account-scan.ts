/**
 * Equity and maintenance of an account over a range of commands, with its fills and liquidations:
 * the commands are applied once more, a few milliseconds at a time.
 */
import type { EngineEvent } from '../../engine/events.ts';
import type { SubaccountId } from '../../num/units.ts';
import type { Timeline } from '../../time-machine/timeline.ts';
import { Slices } from './slices.ts';

export interface AccountCurve {
  readonly seqs: readonly number[];
  readonly timesUs: readonly number[];
  readonly equity: readonly number[];
  readonly maintenance: readonly number[];
}

/** Fills of the account, or steps of any liquidation, between two samples of the curve. */
export interface ScanMark {
  readonly kind: 'buy' | 'sell' | 'liquidation';
  /** Null: the step covers all markets. */
  readonly market: number | null;
  /** Command of the first one. */
  readonly seq: number;
  readonly count: number;
}

export interface AccountScan extends AccountCurve {
  readonly subaccount: number;
  readonly marks: readonly ScanMark[];
}

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
  const marks = new Map<string, ScanMark>();
  const cursor = timeline.cursorAt(from);
  const { engine } = cursor;
  const every = Math.max(1, Math.floor((to - from) / points));
  const sink = (event: EngineEvent): void => {
    const mark = markOf(event, subaccount);
    if (mark === null) return;
    const sample = Math.floor((mark.seq - from) / every);
    const key = `${mark.kind} ${String(mark.market)} ${String(sample)}`;
    const known = marks.get(key);
    marks.set(key, known === undefined ? mark : { ...known, count: known.count + 1 });
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
  return { subaccount, seqs, timesUs, equity, maintenance, marks: [...marks.values()] };
}

function markOf(event: EngineEvent, subaccount: number): ScanMark | null {
  const { seq } = event;
  if (event.kind === 'liquidationStep' && event.step !== 'safe') {
    return { kind: 'liquidation', market: event.market, seq, count: 1 };
  }
  if (event.kind !== 'orderFilled' || event.subaccount !== subaccount) return null;
  return { kind: event.lots > 0 ? 'buy' : 'sell', market: event.market, seq, count: 1 };
}
