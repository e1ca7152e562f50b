/**
 * Mark price over the visible commands, with fills and liquidations. The axis counts commands, so
 * that no sample within a second is lost; its labels are times. The part after the playhead is
 * faded.
 */
import {
  ColorType,
  createChart,
  createSeriesMarkers,
  LineSeries,
  LineStyle,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import { useEffect, useRef } from 'preact/hooks';
import { SANS } from '../../design/tokens.ts';
import { axisFormat, axisText, clock, evenPlaces } from '../exact-text.ts';
import { colour } from '../theme.ts';
import type { ScanMark } from './account-scan.ts';
import { thinMarks, type ChartMark } from './thin-marks.ts';

export interface PricePoint {
  readonly seq: number;
  readonly timeUs: number;
  readonly price: number;
}

interface PriceChartProps {
  readonly points: readonly PricePoint[];
  readonly marks: readonly ScanMark[];
  readonly decimals: number;
  readonly seq: number;
  /** Mark at the playhead. */
  readonly mark: number | null;
  /** Line at this price; null: none. */
  readonly liquidationPrice: number | null;
  readonly theme: string;
  readonly summary: string;
  readonly onSeek: (seq: number) => void;
}

interface Parts {
  readonly chart: IChartApi;
  readonly line: ISeriesApi<'Line'>;
  readonly marks: ISeriesMarkersPluginApi<Time>;
}

export function PriceChart(props: PriceChartProps) {
  const { points, marks, decimals, seq, mark, liquidationPrice, theme, summary, onSeek } = props;
  const box = useRef<HTMLDivElement>(null);
  const future = useRef<HTMLDivElement>(null);
  const parts = useRef<Parts | null>(null);
  const levels = useRef<(IPriceLine | null)[]>([]);
  const latest = useRef({ points, marks, seq, onSeek, decimals });
  latest.current = { points, marks, seq, onSeek, decimals };

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const chart = createChart(element, { autoSize: true, ...FIXED });
    const line = chart.addSeries(LineSeries, {
      lineWidth: 2,
      priceLineVisible: false,
      lastValueVisible: false,
    });
    parts.current = { chart, line, marks: createSeriesMarkers(line, []) };
    chart.subscribeClick(({ logical }) => {
      const point = logical === undefined ? undefined : latest.current.points[Math.round(logical)];
      if (point !== undefined) latest.current.onSeek(point.seq);
    });
    const place = (): void => {
      placeFuture(chart, future.current, latest.current);
    };
    chart.timeScale().subscribeVisibleLogicalRangeChange(place);
    chart.timeScale().subscribeSizeChange(() => {
      // The library keeps the distance of points, which cuts them in a narrower chart.
      chart.timeScale().fitContent();
      place();
      if (parts.current !== null) drawMarks(parts.current, latest.current);
    });
    chart.applyOptions({
      localization: {
        priceFormatter: (price: number) => axisText(price, latest.current.decimals),
        timeFormatter: (time: Time) => crosshairText(latest.current.points, time),
      },
      timeScale: {
        tickMarkFormatter: (time: Time) => tickText(latest.current.points, time),
      },
    });
    return () => {
      parts.current = null;
      levels.current = [];
      chart.remove();
    };
  }, []);

  useEffect(() => {
    parts.current?.chart.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: colour('surface') },
        textColor: colour('text-3'),
      },
      grid: { horzLines: { color: colour('line') } },
      crosshair: {
        vertLine: { color: colour('line-strong'), labelBackgroundColor: colour('text-2') },
        horzLine: { color: colour('line-strong'), labelBackgroundColor: colour('text-2') },
      },
    });
    parts.current?.line.applyOptions({ color: colour('s1') });
  }, [theme]);

  useEffect(() => {
    if (parts.current === null) return;
    const { chart, line } = parts.current;
    line.applyOptions({
      priceFormat: { type: 'price', precision: decimals, minMove: 1 / 10 ** decimals },
    });
    line.setData(points.map(({ seq: at, price }) => ({ time: timeOf(at), value: price })));
    chart.timeScale().fitContent();
    placeFuture(chart, future.current, latest.current);
  }, [points, decimals]);

  useEffect(() => {
    if (parts.current !== null) drawMarks(parts.current, latest.current);
  }, [marks, points, theme]);

  useEffect(() => {
    if (parts.current === null) return;
    const { line } = parts.current;
    const common = { lineStyle: LineStyle.Dashed, lineWidth: 1, axisLabelVisible: true } as const;
    const wanted = [
      { ...common, price: mark, color: colour('text-2'), title: '' },
      { ...common, price: liquidationPrice, color: colour('danger'), title: 'liquidation' },
    ];
    wanted.forEach(({ price, ...look }, i) => {
      const old = levels.current[i] ?? null;
      if (price === null) {
        if (old !== null) line.removePriceLine(old);
        levels.current[i] = null;
      } else if (old === null) levels.current[i] = line.createPriceLine({ ...look, price });
      else old.applyOptions({ ...look, price });
    });
  }, [mark, liquidationPrice, theme]);

  useEffect(() => {
    if (parts.current !== null) placeFuture(parts.current.chart, future.current, latest.current);
  }, [seq]);

  return (
    <div class="canvas" role="img" aria-label={summary}>
      <div ref={box} style={{ position: 'absolute', inset: 0 }} />
      <div ref={future} class="future" />
    </div>
  );
}

/** A sequence number stands for a time: the library wants ascending whole numbers. */
const timeOf = (seq: number): UTCTimestamp => seq as UTCTimestamp;

/** Above and below the prices, as shares of the height. */
const MARGINS = { top: 0.12, bottom: 0.1 };

const FIXED = {
  layout: { fontFamily: SANS, fontSize: 11, attributionLogo: false },
  grid: { vertLines: { visible: false } },
  rightPriceScale: {
    minimumWidth: 72,
    borderVisible: false,
    entireTextOnly: true,
    scaleMargins: MARGINS,
  },
  timeScale: { borderVisible: false, fixLeftEdge: true, fixRightEdge: true, timeVisible: true },
  handleScroll: false,
  handleScale: false,
};

function crosshairText(points: readonly PricePoint[], time: Time): string {
  const point = points[indexOf(points, Number(time))];
  return point === undefined ? '' : `#${String(point.seq)} ${clock(point.timeUs, 6)}`;
}

function tickText(points: readonly PricePoint[], time: Time): string {
  const at = indexOf(points, Number(time));
  const point = points[at];
  // A label at the left edge would be cut, and cover the next one.
  if (point === undefined || at === 0) return '';
  return axisFormat(evenPlaces(points))(point);
}

/** Index of the last point at or before a command. */
function indexOf(points: readonly PricePoint[], seq: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((points[middle]?.seq ?? Infinity) <= seq) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

function placeFuture(
  chart: IChartApi,
  element: HTMLDivElement | null,
  { points, seq }: { readonly points: readonly PricePoint[]; readonly seq: number },
): void {
  if (element === null) return;
  const [first, last] = [points[0], points.at(-1)];
  const width = chart.timeScale().width();
  let left = width;
  if (first !== undefined && last !== undefined && seq < last.seq) {
    const at = points[indexOf(points, seq)];
    const x = at === undefined ? null : chart.timeScale().timeToCoordinate(timeOf(at.seq));
    left = seq < first.seq ? 0 : (x ?? 0);
  }
  element.style.left = `${String(left)}px`;
  element.style.width = `${String(Math.max(0, width - left))}px`;
}

function drawMarks(
  { chart, marks: drawn }: Parts,
  {
    points,
    marks,
  }: { readonly points: readonly PricePoint[]; readonly marks: readonly ScanMark[] },
): void {
  const step = chart.timeScale().width() / Math.max(1, points.length);
  const last = points.length - 1;
  // A count at an edge of the chart would be cut.
  const room = Math.min(last / 2, COUNT_PX / step);
  const indexAt = (seq: number): number => indexOf(points, seq);
  const yOf = heightsOf(points, chart.paneSize().height);
  const thinned = last < 0 ? [] : thinMarks(marks, { indexOf: indexAt, step, yOf });
  const markers = thinned.map((mark) => {
    const inside = Math.round(Math.min(last - room, Math.max(room, mark.at)));
    const time = timeOf(points[mark.text === '' ? mark.at : inside]?.seq ?? 0);
    return markerOf(mark, time, points[mark.at]?.price ?? 0);
  });
  drawn.setMarkers(markers.sort((a, b) => Number(a.time) - Number(b.time)));
}

/** Vertical places of points in a pane that shows all of them. */
function heightsOf(points: readonly PricePoint[], height: number): (at: number) => number {
  let [low, high] = [Infinity, -Infinity];
  for (const { price } of points) {
    low = Math.min(low, price);
    high = Math.max(high, price);
  }
  const { top, bottom } = MARGINS;
  const scale = high > low ? (height * (1 - top - bottom)) / (high - low) : 0;
  return (at) => (high - (points[at]?.price ?? high)) * scale;
}

/** Half of the width of a count. */
const COUNT_PX = 14;

function markerOf(
  { kind, text }: ChartMark,
  time: UTCTimestamp,
  price: number,
): SeriesMarker<Time> {
  if (kind === 'liquidation') {
    const color = colour('danger');
    return { time, price, position: 'atPriceTop', shape: 'square', size: 0.6, color, text };
  }
  const isBuy = kind === 'buy';
  return {
    time,
    price,
    position: isBuy ? 'atPriceBottom' : 'atPriceTop',
    shape: isBuy ? 'arrowUp' : 'arrowDown',
    size: 0.8,
    color: colour(isBuy ? 'gain' : 'loss'),
    text,
  };
}
