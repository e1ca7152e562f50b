/** Controls of a replayed recording: where it is, and on the wall clock its speed. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { feedState } from './feeds.ts';
import { isPaced, readReplay, replay, type ReplayState } from './replay-state.ts';
import { ask, messageOf } from './requests.ts';
import { simToken } from './session.ts';
import { timeText } from './text.ts';

const READ_MS = 1000;
const SPEEDS = [0.1, 1, 10, 100, 1000] as const;
const STEPS = [
  ['+1 s', 1000],
  ['+1 min', 60_000],
] as const;

const problem = signal<string | null>(null);

async function change(body: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await ask('POST', '/sim/replay', { body, token: simToken.value });
    problem.value = null;
  } catch (error) {
    problem.value = messageOf(error);
  }
  await readReplay();
}

export function ReplayBar() {
  useEffect(() => {
    let isOn = true;
    const next = (): void => {
      if (!isOn) return;
      void readReplay().then((is) => {
        isOn = is;
      });
    };
    next();
    const timer = setInterval(next, READ_MS);
    return () => {
      clearInterval(timer);
    };
    // Each connection begins again.
  }, [simToken.value, feedState.value]);
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
