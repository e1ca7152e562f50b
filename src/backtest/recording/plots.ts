/** Values that a strategy plots, by name and market. */
import type { PlotOptions } from '../../strategy/strategy.ts';
import type { PlotOutput } from '../output.ts';

const MAX_NAMES = 20;
const MAX_NAME = 40;

interface Series {
  readonly name: string;
  readonly symbol: string;
  readonly pane: 'price' | 'below';
  readonly timesUs: number[];
  /** null: a gap. */
  readonly values: (number | null)[];
}

const keyOf = (name: unknown, symbol: unknown): string => `${String(name)}\n${String(symbol)}`;

export class Plots {
  private series = new Map<string, Series>();

  /** Throws `RangeError`. The last value of several at one time is kept. */
  add(timeUs: number, name: string, value: number, { symbol, pane }: PlotOptions): void {
    const key = keyOf(name, symbol);
    const series = this.series.get(key) ?? this.begin(key, name, symbol, pane);
    if (typeof value !== 'number') {
      throw new RangeError(`plot '${name}': a value must be a number; NaN makes a gap`);
    }
    const { timesUs, values } = series;
    const shown = Number.isFinite(value) ? value : null;
    if (timesUs.at(-1) === timeUs) values[values.length - 1] = shown;
    else {
      timesUs.push(timeUs);
      values.push(shown);
    }
  }

  private begin(key: string, name: unknown, symbol: unknown = '', pane: unknown = 'price'): Series {
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) {
      throw new RangeError(
        `the name of a plot must be text of 1 to ${String(MAX_NAME)} characters`,
      );
    }
    if (pane !== 'price' && pane !== 'below') {
      throw new RangeError(`plot '${name}': pane must be 'price' or 'below'`);
    }
    const names = new Set([...this.series.values()].map((series) => series.name));
    if (!names.has(name) && names.size >= MAX_NAMES) {
      throw new RangeError(`plot '${name}': a run has at most ${String(MAX_NAMES)} plots`);
    }
    const series: Series = { name, symbol: String(symbol), pane, timesUs: [], values: [] };
    this.series.set(key, series);
    return series;
  }

  output(): PlotOutput[] {
    return [...this.series.values()];
  }

  save(): unknown {
    return this.series;
  }

  load(saved: unknown): void {
    const all = (saved as Map<string, Series>).values();
    // Those of earlier versions have their name as the key.
    this.series = new Map([...all].map((series) => [keyOf(series.name, series.symbol), series]));
  }
}
