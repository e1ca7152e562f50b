/** Charts of the visible commands, and the tabs below them. */
import { useMemo } from 'preact/hooks';
import { grouped, percent } from '../../design/number-text.ts';
import { axisText, money } from '../exact-text.ts';
import { AccountChart } from './account-chart.tsx';
import type { AccountScan } from './account-scan.ts';
import { bottomTab } from './bottom-tab.ts';
import { BottomTabs } from './bottom-tabs.tsx';
import { InevitabilityPanel } from './inevitability-panel.tsx';
import { PriceChart } from './price-chart.tsx';
import type { Scene } from './scene.ts';
import { focus, market, prices, scan, scene, seekTo, seq, theme } from './store.ts';

export function Centre() {
  const now = scene.value;
  return (
    <main class={bottomTab.value === 'fork' ? 'centre deep' : 'centre'}>
      <Price scene={now} />
      <AccountCurves scene={now} />
      <InevitabilityPanel />
      <BottomTabs />
    </main>
  );
}

function Price({ scene: now }: { readonly scene: Scene | null }) {
  const shown = now?.markets[market.value];
  // A market has prices on the axis before it is listed, too.
  const tickSize = shown?.tickSize ?? prices.value.tickSize ?? '1';
  const points = useMemo(
    () => prices.value.points.map((one) => ({ ...one, price: one.ticks * Number(tickSize) })),
    [prices.value, tickSize],
  );
  const marks = useMemo(
    () =>
      (scan.value?.marks ?? []).filter((one) => one.market === null || one.market === market.value),
    [scan.value, market.value],
  );
  const position = now?.account?.positions.find((one) => one.market === market.value);
  const liquidation = position?.liquidationPrice ?? null;
  return (
    <section class="chart price" aria-label="Price">
      <p>
        <b class="strong">Mark {shown?.symbol ?? ''}</b>{' '}
        {shown?.mark == null ? '–' : grouped(shown.mark)}{' '}
        {liquidation === null ? null : (
          <span class="danger">
            ┄ liquidation price of {now?.account?.name} {grouped(liquidation)}
          </span>
        )}
      </p>
      <PriceChart
        points={points}
        marks={marks}
        decimals={tickSize.split('.')[1]?.length ?? 0}
        seq={shownSeq(now)}
        mark={shown?.mark == null ? null : Number(shown.mark)}
        liquidationPrice={liquidation === null ? null : Number(liquidation)}
        theme={theme.value}
        summary={`Mark price of ${shown?.symbol ?? 'no market'}; what follows the playhead is faded`}
        onSeek={seekTo}
      />
    </section>
  );
}

function AccountCurves({ scene: now }: { readonly scene: Scene | null }) {
  const made = scan.value;
  const account = now?.account ?? null;
  return (
    <section class="chart account" aria-label="Equity and maintenance">
      <p>
        <b class="strong">Account {account?.name ?? ''}</b>{' '}
        {account === null ? (
          <span class="soft">none in focus</span>
        ) : (
          <>
            <i class="swatch s1" /> equity {money(account.equity)} <i class="swatch s2" />{' '}
            maintenance {money(account.maintenance)}{' '}
            {made === null ? null : (
              <span class="soft">drawdown {drawdown(made, shownSeq(now))}</span>
            )}
          </>
        )}
      </p>
      {made === null || made.seqs.length < 2 ? (
        <p class="soft">{focus.value === null ? 'Select an account.' : 'Executing the range …'}</p>
      ) : (
        <AccountChart
          curve={made}
          seq={shownSeq(now)}
          theme={theme.value}
          summary={`Equity and maintenance requirement of ${account?.name ?? 'the account'}; the band is the drawdown`}
          onSeek={seekTo}
        />
      )}
    </section>
  );
}

/** Charts follow the shown state: one drawing a step, after its answer and not before it. */
const shownSeq = (now: Scene | null): number => now?.seq ?? seq.value;

/** From the peak within the visible range up to the playhead. */
function drawdown({ seqs, equity }: AccountScan, at: number): string {
  let peak = -Infinity;
  let value = NaN;
  for (const [i, seqAt] of seqs.entries()) {
    if (seqAt > at) break;
    value = equity[i] ?? NaN;
    peak = Math.max(peak, value);
  }
  if (Number.isNaN(value)) return '–';
  const share = peak > 0 ? ` (${percent((value - peak) / peak)})` : '';
  return `${axisText(value - peak, 2)}${share}`;
}
