/** Controls of a test server: its virtual clock, prices and deposits (/sim). */
import { signal } from '@preact/signals';
import { isVirtual } from './market-bar.tsx';
import { exchangeTime, price, symbol } from './markets.ts';
import { ReplayBar } from './replay-bar.tsx';
import { isPaced, replay } from './replay-state.ts';
import { ask, messageOf, Refused } from './requests.ts';
import { account, simToken, subaccountIndex } from './session.ts';
import { timeText, UNKNOWN } from './text.ts';

/** Time between two steps while it plays. */
const PLAY_MS = 250;
const SPEEDS = [1, 10, 60, 600] as const;

const typed = signal('');
const problem = signal<string | null>(null);
const playing = signal(false);
const speed = signal<number>(1);
const oracle = signal('');
const deposit = signal('10000');

async function sim<T>(path: string, body: unknown): Promise<T | null> {
  try {
    const answer = await ask<T>('POST', `/sim/${path}`, { body, token: simToken.value });
    problem.value = null;
    return answer.body;
  } catch (error) {
    problem.value = messageOf(error);
    playing.value = false;
    if (error instanceof Refused && error.status === 401) simToken.value = null;
    return null;
  }
}

async function move(
  body: { readonly advanceMs: number } | { readonly toMs: number },
): Promise<void> {
  const moved = await sim<{ readonly time: number }>('clock', body);
  if (moved !== null) exchangeTime.value = { ms: moved.time, atMs: Date.now() };
}

/** Steps until it is paused; the next step begins after the last one. */
async function play(): Promise<void> {
  playing.value = true;
  while (playing.peek()) {
    const beganMs = performance.now();
    await move({ advanceMs: PLAY_MS * speed.value });
    const restMs = PLAY_MS - (performance.now() - beganMs);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, restMs)));
  }
}

async function enter(): Promise<void> {
  simToken.value = typed.value.trim();
  typed.value = '';
  const answer = await sim('clock', { advanceMs: 0 });
  if (answer !== null) isVirtual.value = true;
  else if (simToken.peek() !== null) {
    // The token is right, and the server has the wall clock.
    isVirtual.value = false;
    problem.value = null;
  }
}

const Step = ({ label, ms }: { readonly label: string; readonly ms: number }) => (
  <button type="button" class="button" onClick={() => void move({ advanceMs: ms })}>
    {label}
  </button>
);

export function ClockBar() {
  if (simToken.value === null) {
    return (
      <form
        class="clock"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.value.trim() !== '') void enter();
        }}
      >
        {isVirtual.value ? <span class="chip warn">virtual clock</span> : null}
        <input
          type="password"
          autocomplete="off"
          class="short"
          aria-label="Simulation token"
          placeholder="simulation token"
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
          }}
        />
        <button type="submit" class="button">
          Test controls
        </button>
        <Problem />
      </form>
    );
  }
  return (
    <div class="clock" role="group" aria-label="Test controls">
      {isVirtual.value && !isPaced.value ? (
        <VirtualClock />
      ) : replay.value === null ? (
        <span class="chip">wall clock</span>
      ) : null}
      <ReplayBar />
      {replay.value === null ? <OracleForm /> : null}
      <form
        class="clock"
        onSubmit={(event) => {
          event.preventDefault();
          void sim('deposit', {
            account: account.value,
            subaccountIndex: subaccountIndex.value,
            amount: deposit.value.trim(),
          });
        }}
      >
        <input
          class="short"
          inputMode="decimal"
          aria-label="Deposit in USD"
          value={deposit.value}
          onInput={({ currentTarget }) => {
            deposit.value = currentTarget.value;
          }}
        />
        <button
          type="submit"
          class="button"
          disabled={account.value === null}
          title={account.value === null ? 'Log in first' : ''}
        >
          Deposit
        </button>
      </form>
      <Problem />
    </div>
  );
}

/** A replay has the prices of its recording. */
function OracleForm() {
  return (
    <form
      class="clock"
      onSubmit={(event) => {
        event.preventDefault();
        void sim('oracle', { symbol: symbol.value, price: oracle.value.trim() });
      }}
    >
      <input
        class="short"
        inputMode="decimal"
        aria-label={`Oracle price of ${symbol.value}`}
        placeholder={`oracle ${price.value?.index ?? ''}`}
        value={oracle.value}
        onInput={({ currentTarget }) => {
          oracle.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button" disabled={oracle.value.trim() === ''}>
        Set oracle
      </button>
    </form>
  );
}

const Problem = () =>
  problem.value === null ? null : (
    <span class="danger small" role="alert">
      {problem.value}
    </span>
  );

function VirtualClock() {
  const next = price.value?.nextFundingTime ?? null;
  return (
    <>
      <span class="chip warn">virtual clock</span>
      <strong id="exchange-time">
        {exchangeTime.value === null ? UNKNOWN : `${timeText(exchangeTime.value.ms)} UTC`}
      </strong>
      <button
        type="button"
        class="button"
        onClick={() => {
          if (playing.value) playing.value = false;
          else void play();
        }}
      >
        {playing.value ? '❚❚ Pause' : '▶ Play'}
      </button>
      <select
        aria-label="Speed"
        value={String(speed.value)}
        onChange={({ currentTarget }) => {
          speed.value = Number(currentTarget.value);
        }}
      >
        {SPEEDS.map((times) => (
          <option key={times} value={String(times)}>
            {times}×
          </option>
        ))}
      </select>
      <Step label="+1 s" ms={1000} />
      <Step label="+1 min" ms={60_000} />
      <button
        type="button"
        class="button"
        disabled={next === null}
        onClick={() => {
          if (next !== null) void move({ toMs: next });
        }}
      >
        To funding
      </button>
    </>
  );
}
