/** Candles of the chosen market, with history on scroll, own orders, entry and liquidation price. */
import { signal } from '@preact/signals';
import {
  type AutoscaleInfo,
  CandlestickSeries,
  ColorType,
  createChart,
  HistogramSeries,
  LineStyle,
  type CandlestickData,
  type HistogramData,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type UTCTimestamp,
} from 'lightweight-charts';
import { useEffect, useRef } from 'preact/hooks';
import { CANDLE_INTERVALS } from '../../contract/words.ts';
import { SANS } from '../../design/tokens.ts';
import { axisText } from '../exact-text.ts';
import { colour } from '../theme.ts';
import { feedState, type Update } from './feeds.ts';
import { spread } from './frames.ts';
import { market, onMinute, price, symbol } from './markets.ts';
import { callPage } from './requests.ts';
import { decimalsOf } from './book-state.ts';
import { theme } from './theme-state.ts';

export type Interval = (typeof CANDLE_INTERVALS)[number];
export const interval = signal<Interval>('1m');

/** A line at a price, such as an order. */
export interface ChartLine {
  readonly id: string;
  readonly price: number;
  readonly title: string;
  readonly tone: 'buy' | 'sell' | 'accent' | 'danger' | 'text-2';
  readonly dashed: boolean;
  /** Set if the line can be dragged: called with the price where it is dropped. */
  readonly onDrop?: (price: number) => void;
}

interface Bar {
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

const PAGE = 500;
/** Time between two drawings of updates. */
const DRAW_MS = 50;
const UNIT_S: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };
const secondsOf = (of: Interval): number => Number.parseInt(of, 10) * (UNIT_S[of.slice(-1)] ?? 60);

const barOf = (candle: Update): Bar => ({
  time: Math.floor(Number(candle['time']) / 1000),
  open: Number(candle['open']),
  high: Number(candle['high']),
  low: Number(candle['low']),
  close: Number(candle['close']),
  volume: Number(candle['volume']),
});

/** Candles of one market and interval. */
class Bars {
  readonly symbol: string;
  readonly interval: Interval;
  bars: Bar[] = [];
  complete = false;
  private loading = false;

  constructor(of: string, interval: Interval) {
    this.symbol = of;
    this.interval = interval;
  }

  /** Reads the newest candles, or those before the first; false if there are none. */
  async load(older: boolean): Promise<boolean> {
    if (this.loading || (older && this.complete)) return false;
    this.loading = true;
    try {
      const first = this.bars[0];
      const { body } = await callPage('getCandles', {
        symbol: this.symbol,
        interval: this.interval,
        limit: PAGE,
        ...(older && first !== undefined ? { to: first.time * 1000 } : {}),
      });
      const read = body.map((candle) => barOf(candle as unknown as Update));
      if (older) {
        const known = first?.time ?? Infinity;
        const before = read.filter(({ time }) => time < known);
        this.complete = before.length === 0;
        this.bars = [...before, ...this.bars];
        return before.length > 0;
      }
      const begins = read[0]?.time ?? Infinity;
      this.bars = [...this.bars.filter(({ time }) => time < begins), ...read];
      return true;
    } catch {
      return false;
    } finally {
      this.loading = false;
    }
  }

  /** Merges a minute into the last bar. Returns the bar, or null if it is older. */
  take(minute: Bar): Bar | null {
    const time = Math.floor(minute.time / secondsOf(this.interval)) * secondsOf(this.interval);
    const last = this.bars.at(-1);
    if (last !== undefined && time < last.time) return null;
    if (last === undefined || time > last.time || this.interval === '1m') {
      const bar = { ...minute, time };
      if (last?.time === time) this.bars[this.bars.length - 1] = bar;
      else this.bars.push(bar);
      return bar;
    }
    last.high = Math.max(last.high, minute.high);
    last.low = Math.min(last.low, minute.low);
    last.close = minute.close;
    return last;
  }
}

interface Parts {
  readonly chart: IChartApi;
  readonly candles: ISeriesApi<'Candlestick'>;
  readonly volume: ISeriesApi<'Histogram'>;
}

const candleOf = ({ time, open, high, low, close }: Bar): CandlestickData => ({
  time: time as UTCTimestamp,
  open,
  high,
  low,
  close,
});
const volumeOf = ({ time, open, close, volume }: Bar): HistogramData => ({
  time: time as UTCTimestamp,
  value: volume,
  color: colour(close >= open ? 'gain-soft' : 'loss-soft'),
});

/** The bar under the crosshair, or the last one. */
export const shownBar = signal<Bar | null>(null);

export function Chart({ lines }: { readonly lines: readonly ChartLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const parts = useRef<Parts | null>(null);
  const held = useRef<Bars | null>(null);
  const drawn = useRef(new Map<string, IPriceLine>());
  /** Looks of the lines as they were drawn last. */
  const looks = useRef(new Map<string, string>());
  const latest = useRef(lines);
  latest.current = lines;
  const decimals = decimalsOf(market.value?.tickSize ?? '0.1');

  const draw = (): void => {
    const { current: bars } = held;
    if (parts.current === null || bars === null) return;
    parts.current.candles.setData(bars.bars.map(candleOf));
    parts.current.volume.setData(bars.bars.map(volumeOf));
    shownBar.value = bars.bars.at(-1) ?? null;
  };

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const chart = createChart(element, FIXED);
    const askLabels = spread(() => {
      labelLines(parts.current, drawn.current);
    }, DRAW_MS);
    const candles = chart.addSeries(CandlestickSeries, {
      priceLineVisible: true,
      autoscaleInfoProvider: (original: () => AutoscaleInfo | null) => {
        askLabels();
        return withLines(original(), latest.current);
      },
    });
    const volume = chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceLineVisible: false,
      lastValueVisible: false,
      priceFormat: { type: 'volume' },
    });
    chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.86, bottom: 0 } });
    parts.current = { chart, candles, volume };
    const lineMap = drawn.current;
    chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      const { current: bars } = held;
      if (range === null || bars === null || range.from > 20 || bars.bars.length === 0) return;
      void bars.load(true).then((more) => {
        if (more && held.current === bars) draw();
      });
    });
    chart.subscribeCrosshairMove(({ time }) => {
      // A scale that is dragged is not found automatically.
      askLabels();
      const bars = held.current?.bars ?? [];
      shownBar.value =
        (time === undefined ? undefined : bars.find((one) => one.time === time)) ??
        bars.at(-1) ??
        null;
    });
    const stop = dragging(element, parts, latest, lineMap);
    return () => {
      stop();
      lineMap.clear();
      parts.current = null;
      chart.remove();
    };
  }, []);

  useEffect(() => {
    if (parts.current === null) return;
    const { chart, candles } = parts.current;
    chart.applyOptions({
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
    // Rising candles are hollow, so that colour is not the only difference.
    candles.applyOptions({
      upColor: colour('surface'),
      downColor: colour('loss'),
      borderUpColor: colour('gain'),
      borderDownColor: colour('loss'),
      wickUpColor: colour('gain'),
      wickDownColor: colour('loss'),
    });
    draw();
  }, [theme.value]);

  useEffect(() => {
    parts.current?.candles.applyOptions({
      priceFormat: { type: 'price', precision: decimals, minMove: 1 / 10 ** decimals },
    });
    parts.current?.chart.applyOptions({
      localization: { priceFormatter: (value: number) => axisText(value, decimals) },
    });
  }, [decimals]);

  useEffect(() => {
    const bars = new Bars(symbol.value, interval.value);
    held.current = bars;
    draw();
    if (bars.symbol === '') return;
    void bars.load(false).then(() => {
      if (held.current !== bars) return;
      draw();
      parts.current?.chart.timeScale().scrollToRealTime();
    });
    // By time, oldest first.
    const changed = new Map<number, Bar>();
    const show = spread(() => {
      for (const bar of changed.values()) {
        if (held.current !== bars || parts.current === null) return;
        parts.current.candles.update(candleOf(bar));
        parts.current.volume.update(volumeOf(bar));
        shownBar.value = { ...bar };
      }
      changed.clear();
    }, DRAW_MS);
    const take = (candle: Update): void => {
      const bar = bars.take(barOf(candle));
      if (bar === null) return;
      changed.set(bar.time, bar);
      show();
    };
    onMinute.add(take);
    return () => {
      onMinute.delete(take);
    };
  }, [symbol.value, interval.value]);

  // Candles of the time without a connection.
  useEffect(() => {
    const { current: bars } = held;
    if (feedState.value !== 'live' || bars === null || bars.symbol === '') return;
    void bars.load(false).then((read) => {
      if (read && held.current === bars) draw();
    });
  }, [feedState.value]);

  useEffect(() => {
    if (parts.current === null) return;
    const { candles } = parts.current;
    const known = new Set(lines.map(({ id }) => id));
    let isChanged = false;
    for (const [id, line] of drawn.current) {
      if (known.has(id)) continue;
      candles.removePriceLine(line);
      drawn.current.delete(id);
      isChanged = true;
    }
    for (const { id, price: at, title, tone, dashed } of lines) {
      const look = {
        price: at,
        title,
        color: colour(tone),
        lineWidth: 1,
        lineStyle: dashed ? LineStyle.Dashed : LineStyle.Solid,
      } as const;
      const line = drawn.current.get(id);
      const text = JSON.stringify(look);
      if (line !== undefined && looks.current.get(id) === text) continue;
      looks.current.set(id, text);
      isChanged = true;
      if (line !== undefined) line.applyOptions(look);
      else drawn.current.set(id, candles.createPriceLine({ ...look, axisLabelVisible: false }));
    }
    // The scale follows the lines.
    if (isChanged) candles.priceScale().applyOptions({ autoScale: true });
  }, [lines, theme.value]);

  const mark = price.value?.mark;
  return (
    <div
      class="chart-canvas"
      role="img"
      aria-label={`Candles of ${symbol.value}, ${interval.value}${mark === null || mark === undefined ? '' : `, mark ${mark}`}`}
    >
      <div ref={box} class="fill" />
    </div>
  );
}

/** Lines within this part of the middle of the candles widen the scale, so that they are seen. */
const SCALED = 0.06;

function withLines(info: AutoscaleInfo | null, lines: readonly ChartLine[]): AutoscaleInfo | null {
  if (info?.priceRange == null) return info;
  let { minValue, maxValue } = info.priceRange;
  const middle = (minValue + maxValue) / 2;
  for (const { price: at } of lines) {
    if (Math.abs(at - middle) > SCALED * middle) continue;
    minValue = Math.min(minValue, at);
    maxValue = Math.max(maxValue, at);
  }
  return { ...info, priceRange: { minValue, maxValue } };
}

/** Shows the labels of lines in sight. The chart would move other labels over these. */
function labelLines(parts: Parts | null, drawn: ReadonlyMap<string, IPriceLine>): void {
  if (parts === null) return;
  const { height } = parts.chart.paneSize();
  for (const line of drawn.values()) {
    const { price: at, axisLabelVisible } = line.options();
    const y = parts.candles.priceToCoordinate(at);
    const isSeen = y !== null && y >= 0 && y <= height;
    if (isSeen !== axisLabelVisible) line.applyOptions({ axisLabelVisible: isSeen });
  }
}

/** Distance at which a line is taken by the pointer. */
const NEAR_PX = 6;

/** Lines with `onDrop` follow the pointer. */
function dragging(
  element: HTMLElement,
  parts: { readonly current: Parts | null },
  lines: { readonly current: readonly ChartLine[] },
  drawn: ReadonlyMap<string, IPriceLine>,
): () => void {
  let taken: ChartLine | null = null;
  const at = (event: PointerEvent): number => event.clientY - element.getBoundingClientRect().top;
  const near = (y: number): ChartLine | null =>
    lines.current.find((line) => {
      const shown = parts.current?.candles.priceToCoordinate(line.price);
      return (
        line.onDrop !== undefined && typeof shown === 'number' && Math.abs(shown - y) < NEAR_PX
      );
    }) ?? null;
  const down = (event: PointerEvent): void => {
    taken = near(at(event));
    if (taken === null) return;
    event.stopPropagation();
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    parts.current?.chart.applyOptions({ handleScroll: false, handleScale: false });
  };
  const move = (event: PointerEvent): void => {
    const y = at(event);
    element.style.cursor = taken !== null || near(y) !== null ? 'ns-resize' : '';
    const to = taken === null ? null : parts.current?.candles.coordinateToPrice(y);
    if (taken !== null && typeof to === 'number') drawn.get(taken.id)?.applyOptions({ price: to });
  };
  const up = (event: PointerEvent): void => {
    if (taken === null) return;
    const to = parts.current?.candles.coordinateToPrice(at(event));
    const { id, price, onDrop } = taken;
    taken = null;
    // The line stands where its order is, until the order has moved.
    drawn.get(id)?.applyOptions({ price });
    parts.current?.chart.applyOptions({ handleScroll: true, handleScale: true });
    if (typeof to === 'number') onDrop?.(to);
  };
  element.addEventListener('pointerdown', down, true);
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', up);
  return () => {
    element.removeEventListener('pointerdown', down, true);
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', up);
  };
}

const FIXED = {
  autoSize: true,
  layout: { fontFamily: SANS, fontSize: 11, attributionLogo: false },
  grid: { vertLines: { visible: false } },
  rightPriceScale: {
    minimumWidth: 72,
    borderVisible: false,
    entireTextOnly: true,
    scaleMargins: { top: 0.12, bottom: 0.18 },
  },
  timeScale: { borderVisible: false, timeVisible: true, secondsVisible: false, rightOffset: 4 },
};
