/** Tags and plots of a strategy in a live run. */
import type { PlotOutput } from '../backtest/output.ts';
import { Plots } from '../backtest/recording/plots.ts';
import type { PlotOptions } from '../strategy/strategy.ts';

export class RunNotes {
  private readonly nowUs: () => number;
  private readonly tags: Record<string, string> = {};
  private readonly plots = new Plots();

  constructor(nowUs: () => number) {
    this.nowUs = nowUs;
  }

  readonly tag = (nonce: number | bigint, text: string): void => {
    this.tags[String(nonce)] = text;
  };

  readonly plot = (name: string, value: number, options: PlotOptions): void => {
    this.plots.add(this.nowUs(), name, value, options);
  };

  output(): { readonly tags: Readonly<Record<string, string>>; readonly plots: PlotOutput[] } {
    return { tags: this.tags, plots: this.plots.output() };
  }
}
