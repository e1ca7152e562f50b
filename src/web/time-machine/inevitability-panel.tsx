/** From which command on a liquidation was certain: share of resampled futures that bring it. */
import { signal } from '@preact/signals';
import type { InevitabilityCurve } from '../../time-machine/what-if/inevitability.ts';
import { count } from '../exact-text.ts';
import { SeqLink } from './names.tsx';
import { engine, startHelper } from './store.ts';

interface Asked {
  readonly subaccount: number;
  readonly name: string;
  readonly futures: 'resampled' | 'recorded';
}

const asked = signal<Asked | null>(null);
const curve = signal<InevitabilityCurve | null>(null);
const problem = signal<string | null>(null);

export async function showInevitability(
  subaccount: number,
  name: string,
  liquidationSeq: number,
): Promise<void> {
  for (const futures of ['resampled', 'recorded'] as const) {
    asked.value = { subaccount, name, futures };
    curve.value = null;
    problem.value = null;
    const mine = asked.value;
    const timer = setInterval(() => void showSoFar(mine), SO_FAR_MS);
    try {
      await startHelper();
      const made = await engine.inevitability({ subaccount, liquidationSeq, futures });
      if (asked.value === mine) curve.value = made;
      return;
    } catch (error) {
      if (asked.value !== mine) return;
      // A journal with few prices has the recorded future only.
      problem.value = (error as Error).message;
    } finally {
      clearInterval(timer);
    }
  }
}

const SO_FAR_MS = 300;

async function showSoFar(of: Asked): Promise<void> {
  const made = await engine.curveSoFar();
  if (asked.value === of && curve.value?.done !== true) curve.value = made;
}

const [WIDTH, HEIGHT] = [1000, 48];

export function InevitabilityPanel() {
  const of = asked.value;
  if (of === null) return null;
  const made = curve.value;
  return (
    <section class="inevitability" aria-label="Inevitability">
      <p class="small">
        <b class="strong">Inevitability</b>{' '}
        <span class="soft">
          {of.futures === 'resampled'
            ? `share of resampled futures that liquidate ${of.name}`
            : `whether the recorded future liquidates ${of.name} if it does nothing more`}
          {made === null
            ? ''
            : `, horizon ${count(made.horizon)} price moves, ${count(made.forks)} forks`}
        </span>{' '}
        <Verdict />{' '}
        <button
          type="button"
          class="link"
          aria-label="Close the inevitability curve"
          onClick={() => {
            asked.value = null;
          }}
        >
          ✕
        </button>
      </p>
      {made === null ? null : <Curve of={made} />}
    </section>
  );
}

function Verdict() {
  const made = curve.value;
  if (made === null || !made.done) {
    return <span role="status">{problem.value ?? 'executing futures …'}</span>;
  }
  if (made.decisiveSeq === null) return <span>not certain before it came</span>;
  return (
    <span class="danger">
      certain from <SeqLink seq={made.decisiveSeq} />
    </span>
  );
}

function Curve({ of }: { readonly of: InevitabilityCurve }) {
  const { points, windowFromSeq: from, liquidationSeq: to } = of;
  const x = (seq: number): number => ((seq - from) / Math.max(1, to - from)) * WIDTH;
  const y = (share: number): number => HEIGHT - 2 - share * (HEIGHT - 4);
  const places = points.map(({ seq, liquidated, futures }) => ({
    seq,
    share: liquidated / Math.max(1, futures),
  }));
  const line = places
    .map(({ seq, share }, i) => `${i === 0 ? 'M' : 'L'}${x(seq).toFixed(1)} ${y(share).toFixed(1)}`)
    .join('');
  const last = places.at(-1);
  const text = last === undefined ? '' : `; ${(last.share * 100).toFixed(0)} % just before it`;
  return (
    <>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Share of futures with the liquidation, commands ${String(from)} to ${String(to)}${text}`}
      >
        {line === '' ? null : (
          <path
            d={`${line}L${String(WIDTH)} ${String(HEIGHT)}L0 ${String(HEIGHT)}Z`}
            fill="var(--danger-soft)"
          />
        )}
        <path
          d={line}
          fill="none"
          stroke="var(--danger)"
          stroke-width="1.5"
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <p class="axis small quiet">
        <span>{count(from)}</span>
        <span>0 to 100 %</span>
        <span>liquidated at {count(to)}</span>
      </p>
    </>
  );
}
