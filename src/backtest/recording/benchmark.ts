/**
 * Buy-and-hold benchmark of a strategy. The full deposit buys the first of its markets at the first
 * mid from the start of trading on, as many whole lots as it affords with the taker fee, and is
 * marked at mid to the end. Its first point is the deposit. It is computed without an account: it
 * does not move the book and pays no funding.
 */
import type { Exchange } from '../../engine/exchange.ts';
import type { BenchmarkPoint } from '../output.ts';
import type { StrategyEntry } from '../strategy-run.ts';
import { addSample } from './sample-times.ts';

interface State {
  readonly points: BenchmarkPoint[];
  size: number | null;
  cash: number;
  lastMid: number;
}

export class Benchmark {
  /** Id of the market that it buys. */
  readonly market: number;
  private readonly lotSize: number;
  private readonly fee: number;
  private state: State;

  constructor(engine: Exchange, entry: StrategyEntry) {
    const [first] = entry.symbols ?? [];
    this.market = first === undefined ? 0 : (engine.marketIdOf(first) ?? 0);
    const spec = engine.markets()[this.market]?.spec;
    this.lotSize = Number(spec?.lotSize ?? '1');
    this.fee = (spec?.takerFeePpm ?? 0) / 1e6;
    this.state = { points: [], size: null, cash: Number(entry.deposit) / 1e6, lastMid: 0 };
  }

  get points(): readonly BenchmarkPoint[] {
    return this.state.points;
  }

  /** Buys at the mid, unless it has bought; false: there is no mid yet. */
  buy(mid: number | null): boolean {
    const { state } = this;
    if (state.size !== null) return true;
    if (mid === null) return false;
    const lots = Math.floor(state.cash / (mid * (1 + this.fee)) / this.lotSize);
    state.size = lots * this.lotSize;
    state.cash -= state.size * mid * (1 + this.fee);
    state.lastMid = mid;
    return true;
  }

  sample(timeUs: number, mids: readonly (number | null)[]): void {
    const { state } = this;
    state.lastMid = mids[this.market] ?? state.lastMid;
    addSample(state.points, { timeUs, equity: state.cash + (state.size ?? 0) * state.lastMid });
  }

  save(): unknown {
    return this.state;
  }

  load(saved: unknown): void {
    this.state = saved as State;
  }
}
