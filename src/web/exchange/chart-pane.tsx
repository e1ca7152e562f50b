/** The chart of the market with its intervals, and the figures of one candle. */
import { CANDLE_INTERVALS } from '../../contract/words.ts';
import { linesOf } from './chart-lines.ts';
import { Chart, interval, shownBar, type Interval } from './chart.tsx';
import { market } from './markets.ts';
import { priceText } from './text.ts';

export function ChartPane() {
  return (
    <section class="pane chart" aria-label="Chart">
      <header class="bar">
        <div class="intervals" role="group" aria-label="Interval of candles">
          {(['1m', '5m', '15m', '1h', '1d'] as const).map((one) => (
            <button
              key={one}
              type="button"
              class="tab"
              aria-pressed={interval.value === one}
              onClick={() => {
                interval.value = one;
              }}
            >
              {one}
            </button>
          ))}
        </div>
        <select
          aria-label="All intervals"
          value={interval.value}
          onChange={({ currentTarget }) => {
            interval.value = currentTarget.value as Interval;
          }}
        >
          {CANDLE_INTERVALS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <span class="space" />
        <Figures />
      </header>
      <Lines />
    </section>
  );
}

/** Rendered alone, for it changes most often. */
function Figures() {
  const { value: bar } = shownBar;
  if (bar === null) return <span class="quiet small">No candles yet</span>;
  return (
    <span class="ohlc small">
      <Figure name="O" of={bar.open} /> <Figure name="H" of={bar.high} />{' '}
      <Figure name="L" of={bar.low} /> <Figure name="C" of={bar.close} />
    </span>
  );
}

function Figure({ name, of }: { readonly name: string; readonly of: number }) {
  return (
    <span class="figure">
      {name} <b>{priceText(of, market.value)}</b>
    </span>
  );
}

const Lines = () => <Chart lines={linesOf()} />;
