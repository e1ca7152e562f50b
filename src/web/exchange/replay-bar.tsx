/** Controls of a replayed recording: where it is, and on the wall clock its speed. */
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { exchangeTime } from './markets.ts';
import { ask, messageOf, Refused } from './requests.ts';
import { simToken } from './session.ts';
import { timeText } from './text.ts';

interface ReplayState {
  readonly dataset: string;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly timeUs: number;
  /** null: the virtual clock moves it. */
  readonly speed: number | null;
  /** Of the system clock, or of the client that drives a virtual clock; null: unlimited. */
  readonly pace: number | null;
  /** A client, such as a strategy, moves the virtual clock. */
  readonly driven: boolean;
  readonly paused: boolean;
  readonly ended: boolean;
}

const READ_MS = 1000;
const SPEEDS = [0.1, 1, 10, 100, 1000] as const;
const STEPS = [
  ['+1 s', 1000],
  ['+1 min', 60_000],
] as const;

/** null: this server has no replay, or its token is not entered. */
export const replay = signal<ReplayState | null>(null);
const problem = signal<string | null>(null);

/** Whether the bar sets the pace: otherwise the controls of the virtual clock move it. */
export const isPaced = computed(
  () => replay.value !== null && (replay.value.speed !== null || replay.value.driven),
);

async function read(): Promise<void> {
  if (simToken.value === null) return;
  try {
    const { body } = await ask<ReplayState>('GET', '/sim/replay', { token: simToken.value });
    replay.value = body;
    if (body.speed === null) exchangeTime.value = { ms: body.timeUs / 1000, atMs: Date.now() };
  } catch (error) {
    if (error instanceof Refused) replay.value = null;
  }
}

async function change(body: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await ask('POST', '/sim/replay', { body, token: simToken.value });
    problem.value = null;
  } catch (error) {
    problem.value = messageOf(error);
  }
  await read();
}

export function ReplayBar() {
  useEffect(() => {
    void read();
    const timer = setInterval(() => {
      if (replay.peek() !== null) void read();
    }, READ_MS);
    return () => {
      clearInterval(timer);
    };
  }, [simToken.value]);
  const { value: now } = replay;
  if (now === null) return null;
  const part = (now.timeUs - now.firstUs) / (now.lastUs - now.firstUs || 1);
  const done = Math.min(1, Math.max(0, part));
  return (
    <div class="clock" id="replay">
      <span class="chip warn">replay of {now.dataset}</span>
      <progress aria-label="Part of the recording that was played" max={1} value={done} />
      <span class="small">
        {timeText(now.timeUs / 1000)} UTC, {(done * 100).toFixed(1)} % of the recording
        {now.ended || done === 1 ? ', ended' : ''}
      </span>
      {isPaced.value ? <Pace of={now} /> : null}
      {problem.value === null ? null : (
        <span class="danger small" role="alert">
          {problem.value}
        </span>
      )}
    </div>
  );
}

function Pace({ of: now }: { readonly of: ReplayState }) {
  const speeds = [...new Set([...SPEEDS, now.pace ?? 1])].sort((a, b) => a - b);
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={now.ended}
        onClick={() => void change({ paused: !now.paused })}
      >
        {now.paused ? '▶ Continue' : '❚❚ Pause'}
      </button>
      {STEPS.map(([label, stepMs]) => (
        <button
          key={label}
          type="button"
          class="button"
          disabled={now.ended}
          title="Plays so much of the recording, and pauses"
          onClick={() => void change({ stepMs })}
        >
          {label}
        </button>
      ))}
      <select
        aria-label="Speed of the replay"
        value={now.pace === null ? 'max' : String(now.pace)}
        onChange={({ currentTarget: { value } }) => void change({ speed: Number(value) })}
      >
        {now.pace === null ? <option value="max">unlimited</option> : null}
        {speeds.map((one) => (
          <option key={one} value={String(one)}>
            {one}×
          </option>
        ))}
      </select>
    </>
  );
}
