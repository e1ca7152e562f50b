/** Charts of the visible commands, and the tabs below them. */
import { useMemo } from 'preact/hooks';
import { grouped } from '../../design/number-text.ts';
import { PriceChart, type PriceMark } from './price-chart.tsx';
import { market, prices, scene, seekTo, seq, theme } from './store.ts';

const NO_MARKS: readonly PriceMark[] = [];

export function Centre() {
  const now = scene.value;
  const shown = now?.markets[market.value];
  const tick = shown?.tick ?? 1;
  const points = useMemo(
    () => prices.value.map((one) => ({ ...one, price: one.ticks * tick })),
    [prices.value, tick],
  );
  return (
    <main class="centre">
      <section class="chart" aria-label="Price">
        <p>
          <b class="strong">Mark</b>{' '}
          {shown?.mark === null || shown === undefined ? '–' : grouped(shown.mark)}
        </p>
        <PriceChart
          points={points}
          marks={NO_MARKS}
          decimals={shown?.priceDecimals ?? 0}
          seq={seq.value}
          liquidationPrice={null}
          theme={theme.value}
          summary={`Mark price of ${shown?.symbol ?? 'no market'}; what follows the playhead is faded`}
          onSeek={seekTo}
        />
      </section>
    </main>
  );
}
