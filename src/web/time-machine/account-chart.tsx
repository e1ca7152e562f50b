/** Equity and maintenance requirement of an account; the band below its peak is the drawdown. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import uPlotCss from 'uplot/dist/uPlot.min.css?inline';
import { SANS } from '../../design/tokens.ts';
import { axisFormat, axisLabels, axisText, evenPlaces, stepDecimals } from '../exact-text.ts';
import { colour } from '../theme.ts';
import type { AccountCurve } from './account-scan.ts';

export const CHART_CSS = uPlotCss;

interface AccountChartProps {
  readonly curve: AccountCurve;
  readonly seq: number;
  readonly theme: string;
  readonly summary: string;
  readonly onSeek: (seq: number) => void;
}

export function AccountChart({ curve, seq, theme, summary, onSeek }: AccountChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const playhead = useRef(seq);
  playhead.current = seq;

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = new uPlot(options(element, curve, playhead), dataOf(curve), element);
    plot.current = made;
    const sizes = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [curve, theme]);

  useEffect(() => {
    plot.current?.redraw(false);
  }, [seq]);

  const seekAt = (event: MouseEvent): void => {
    const made = plot.current;
    if (made === null) return;
    const left = event.clientX - made.over.getBoundingClientRect().left;
    const at = curve.seqs[Math.round(made.posToVal(left, 'x'))];
    if (at !== undefined) onSeek(at);
  };
  return (
    <div class="canvas" role="img" aria-label={summary} onClick={seekAt}>
      <div ref={box} style={{ position: 'absolute', inset: 0 }} />
    </div>
  );
}

function dataOf({ seqs, equity, maintenance }: AccountCurve): uPlot.AlignedData {
  let peak = -Infinity;
  const peaks = equity.map((value) => (peak = Math.max(peak, value)));
  return [seqs.map((_, i) => i), [...equity], peaks, [...maintenance]];
}

function options(
  element: HTMLElement,
  curve: AccountCurve,
  playhead: { readonly current: number },
): uPlot.Options {
  const places = curve.seqs.map((seq, i) => ({ seq, timeUs: curve.timesUs[i] ?? 0 }));
  const format = axisFormat(evenPlaces(places));
  const axis = { stroke: colour('text-3'), font: `11px ${SANS}`, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { show: true, points: { show: false }, drag: { x: false, y: false } },
    padding: [8, 0, 0, 0],
    scales: { x: { time: false } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 90,
        size: 22,
        values: (self, splits) => {
          const shown = splits.flatMap((at) => {
            const [seq, timeUs] = [curve.seqs[at], curve.timesUs[at]];
            // A label at the left edge would be cut, and one at the right cover the other axis.
            const place = self.valToPos(at, 'x');
            const isCut = place < 24 || place > self.bbox.width / devicePixelRatio - 24;
            return seq === undefined || timeUs === undefined || isCut ? [] : [{ at, seq, timeUs }];
          });
          const labels = axisLabels(shown, format);
          return splits.map((split) => labels[shown.findIndex(({ at }) => at === split)] ?? '');
        },
      },
      {
        ...axis,
        side: 1,
        // 11 px text, and the space before it. There are no labels yet at first.
        size: (_, labels: readonly string[] | null) =>
          Math.max(72, ...(labels ?? []).map((text) => text.length * 7 + 12)),
        grid: { stroke: colour('line'), width: 1 },
        values: (_, splits, _axis, _space, step) =>
          splits.map((value) => axisText(value, stepDecimals(step))),
      },
    ],
    series: [
      {},
      { label: 'equity', stroke: colour('s1'), width: 1.75 },
      { label: 'peak', stroke: colour('s5'), width: 1, dash: [2, 3] },
      { label: 'maintenance', stroke: colour('s2'), width: 1.5, dash: [5, 3] },
    ],
    bands: [{ series: [2, 1], fill: colour('loss-soft') }],
    hooks: {
      draw: [
        (self) => {
          drawFuture(self, curve.seqs, playhead.current);
        },
      ],
    },
  };
}

function drawFuture(self: uPlot, seqs: readonly number[], seq: number): void {
  const after = seqs.findIndex((at) => at > seq);
  if (after < 0) return;
  const { ctx, bbox } = self;
  const left = self.valToPos(Math.max(0, after - 1), 'x', true);
  ctx.save();
  ctx.globalAlpha = 0.62;
  ctx.fillStyle = colour('surface');
  ctx.fillRect(left, bbox.top, bbox.left + bbox.width - left, bbox.height);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colour('text');
  ctx.fillRect(left, bbox.top, devicePixelRatio, bbox.height);
  ctx.restore();
}
