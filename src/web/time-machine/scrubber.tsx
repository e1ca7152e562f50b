/** The whole journal in one strip: density of commands, liquidations, price, window, playhead. */
import { useEffect, useRef } from 'preact/hooks';
import { axisLabels, count } from '../exact-text.ts';
import { colour } from '../theme.ts';

/** Equal parts of the journal by sequence number. */
export interface Strip {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly timesUs: readonly number[];
  readonly commands: readonly number[];
  readonly liquidations: readonly number[];
  /** Last mark of each part; null before the first. */
  readonly prices: readonly (number | null)[];
}

interface ScrubberProps {
  readonly strip: Strip;
  readonly seq: number;
  /** Visible range of the charts. */
  readonly window: readonly [number, number];
  readonly bookmarks: readonly number[];
  readonly valueText: string;
  readonly theme: string;
  readonly onSeek: (seq: number) => void;
}

export function Scrubber(props: ScrubberProps) {
  const { strip, seq, window: range, bookmarks, valueText, theme, onSeek } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useRef<Size>([0, 0]);
  const latest = useRef<[Strip, Marks]>([strip, { seq, range, bookmarks }]);
  latest.current = [strip, { seq, range, bookmarks }];
  const span = Math.max(1, strip.toSeq - strip.fromSeq);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    draw(element, size.current, strip, { seq, range, bookmarks });
  }, [strip, seq, range, bookmarks, theme]);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    // Reading the size of an element forces a layout, so it is kept.
    const sizes = new ResizeObserver(() => {
      size.current = [element.clientWidth, element.clientHeight];
      draw(element, size.current, ...latest.current);
    });
    sizes.observe(element);
    return () => {
      sizes.disconnect();
    };
  }, []);
  const seekAt = (event: PointerEvent): void => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return;
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    onSeek(Math.round(strip.fromSeq + share * span));
  };
  const { length } = strip.timesUs;
  const labels = axisLabels(
    Array.from({ length: LABELS }, (_, i) => {
      const part = Math.round((i / (LABELS - 1)) * (length - 1));
      return {
        seq: Math.round(strip.fromSeq + (part / Math.max(1, length - 1)) * span),
        timeUs: strip.timesUs[part] ?? 0,
      };
    }),
  );
  return (
    <div class="scrub">
      <canvas
        ref={canvas}
        role="slider"
        tabIndex={0}
        aria-label="Position in the journal"
        aria-valuemin={strip.fromSeq}
        aria-valuemax={strip.toSeq}
        aria-valuenow={seq}
        aria-valuetext={valueText}
        title={`${count(strip.fromSeq)} to ${count(strip.toSeq)}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          seekAt(event);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) seekAt(event);
        }}
        onKeyDown={(event) => {
          const pages = { PageUp: -1, PageDown: 1 }[event.key] ?? 0;
          if (pages === 0) return;
          event.preventDefault();
          onSeek(seq + pages * Math.ceil(span / 20));
        }}
      />
      <div class="times" aria-hidden="true">
        {labels.map((label, i) => (
          <span key={i}>{label}</span>
        ))}
      </div>
    </div>
  );
}

const LABELS = 6;

type Size = readonly [width: number, height: number];

interface Marks {
  readonly seq: number;
  readonly range: readonly [number, number];
  readonly bookmarks: readonly number[];
}

function draw(
  canvas: HTMLCanvasElement,
  [width, height]: Size,
  strip: Strip,
  { seq, range, bookmarks }: Marks,
): void {
  const scale = devicePixelRatio;
  if (width === 0) return;
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const span = Math.max(1, strip.toSeq - strip.fromSeq);
  const x = (at: number): number => ((at - strip.fromSeq) / span) * width;
  const parts = strip.commands.length;
  const xOf = (part: number): number => ((part + 0.5) / parts) * width;
  const bars = Math.round(height * 0.3);

  pen.fillStyle = colour('s5');
  const most = Math.max(1, ...strip.commands);
  for (const [i, commands] of strip.commands.entries()) {
    const size = commands === 0 ? 0 : Math.max(1, (commands / most) * (bars - 2));
    pen.fillRect((i / parts) * width, bars - size, Math.max(1, width / parts - 1), size);
  }
  pen.fillStyle = colour('danger');
  for (const [i, liquidations] of strip.liquidations.entries()) {
    if (liquidations > 0) pen.fillRect(Math.round(xOf(i)), bars + 2, 1.5, 7);
  }
  drawPrices(pen, strip.prices, { xOf, top: bars + 12, bottom: height - 3 });

  const [head, left, right] = [x(seq), x(range[0]), x(range[1])];
  pen.globalAlpha = 0.55;
  pen.fillStyle = colour('surface');
  pen.fillRect(head, 0, width - head, height);
  if (range[0] > strip.fromSeq || range[1] < strip.toSeq) {
    pen.globalAlpha = 0.1;
    pen.fillStyle = colour('accent');
    pen.fillRect(left, 0, Math.max(2, right - left), height);
    pen.globalAlpha = 1;
    pen.fillRect(left, 0, 1, height);
    pen.fillRect(right - 1, 0, 1, height);
  }
  pen.globalAlpha = 1;
  pen.fillStyle = colour('warn');
  for (const mark of bookmarks) {
    pen.beginPath();
    pen.moveTo(x(mark), height);
    pen.lineTo(x(mark) - 5, height - 8);
    pen.lineTo(x(mark) + 5, height - 8);
    pen.fill();
  }
  pen.fillStyle = colour('text');
  pen.fillRect(head - 1, 0, 2, height);
  pen.beginPath();
  pen.moveTo(head - 6, 0);
  pen.lineTo(head + 6, 0);
  pen.lineTo(head, 8);
  pen.fill();
}

interface PriceArea {
  readonly xOf: (part: number) => number;
  readonly top: number;
  readonly bottom: number;
}

function drawPrices(
  pen: CanvasRenderingContext2D,
  prices: readonly (number | null)[],
  { xOf, top, bottom }: PriceArea,
): void {
  const known = prices.filter((price) => price !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  pen.strokeStyle = colour('s1');
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const [i, price] of prices.entries()) {
    if (price === null) continue;
    const share = high === low ? 0.5 : (price - low) / (high - low);
    pen.lineTo(xOf(i), bottom - share * (bottom - top));
  }
  pen.stroke();
}
