/**
 * Buy-and-hold benchmark of a strategy. The full deposit buys the first of its markets at the first
 * mid, as many whole lots as it affords with the taker fee, and is marked at mid to the end. It is
 * computed without an account: it does not move the book and pays no funding.
 */
import type { Exchange } from '../../engine/exchange.ts';
import type { BenchmarkPoint } from '../output.ts';
import type { StrategyEntry } from '../strategy-run.ts';

interface State {
  readonly points: BenchmarkPoint[];
  size: number | null;
  cash: number;
  lastMid: number;
}

export class Benchmark {
  private readonly market: number;
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

  sample(timeUs: number, mids: readonly (number | null)[]): void {
    const { state } = this;
    const mid = mids[this.market] ?? null;
    if (mid !== null) state.lastMid = mid;
    // The curve starts with the deposit, so that its return includes the fee of the purchase.
    const before = state.cash;
    const bought = state.size !== null;
    if (state.size === null && mid !== null) {
      const lots = Math.floor(state.cash / (mid * (1 + this.fee)) / this.lotSize);
      state.size = lots * this.lotSize;
      state.cash -= state.size * mid * (1 + this.fee);
    }
    const equity = bought ? state.cash + (state.size ?? 0) * state.lastMid : before;
    state.points.push({ timeUs, equity });
  }

  save(): unknown {
    return this.state;
  }

  load(saved: unknown): void {
    this.state = saved as State;
  }
}
