/** Controls of a replayed recording: where it is, and on the wall clock its speed. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
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
  readonly paused: boolean;
  readonly ended: boolean;
}

const READ_MS = 1000;
const SPEEDS = [0.1, 1, 10, 100, 1000] as const;

/** null: this server has no replay, or its token is not entered. */
export const replay = signal<ReplayState | null>(null);
const problem = signal<string | null>(null);

async function read(): Promise<void> {
  if (simToken.value === null) return;
  try {
    replay.value = (await ask<ReplayState>('GET', '/sim/replay', { token: simToken.value })).body;
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
      {now.speed === null ? null : (
        <>
          <button
            type="button"
            class="button"
            disabled={now.ended}
            onClick={() => void change({ paused: !now.paused })}
          >
            {now.paused ? '▶ Continue' : '❚❚ Pause'}
          </button>
          <select
            aria-label="Speed of the replay"
            value={String(now.speed)}
            onChange={({ currentTarget }) => void change({ speed: Number(currentTarget.value) })}
          >
            {[...new Set([...SPEEDS, now.speed])]
              .sort((a, b) => a - b)
              .map((one) => (
                <option key={one} value={String(one)}>
                  {one}×
                </option>
              ))}
          </select>
        </>
      )}
      {problem.value === null ? null : (
        <span class="danger small" role="alert">
          {problem.value}
        </span>
      )}
    </div>
  );
}
