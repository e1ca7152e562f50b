/** Breakpoints: expressions over the state; run on or back to the next instant that one holds. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { count } from '../exact-text.ts';
import { giveFocusBack, keepFocus } from './kept-focus.ts';
import { findViolations } from './violations.ts';
import { announcement, engine, seekTo, seq } from './store.ts';

export interface Breakpoint {
  readonly text: string;
  /** Commands after which it begins to hold; null until they are counted. */
  readonly hits: number | null;
  /** Why they cannot be counted; null if they can. */
  readonly fault: string | null;
}

export const breakpoints = signal<readonly Breakpoint[]>([]);
const adding = signal(false);
const problem = signal<string | null>(null);
/** Text of a run in progress; empty without one. */
const running = signal('');
/** Why the last run stopped early; null if it did not. */
const runFault = signal<string | null>(null);

const EXAMPLE = 'account("u1").equity < 1.2 * account("u1").maintenance';

export function setBreakpoints(texts: readonly string[]): void {
  breakpoints.value = texts.map((text) => ({ text, hits: null, fault: null }));
}

/** Each journal has other hits. */
export function countAllHits(): void {
  running.value = '';
  runFault.value = null;
  setBreakpoints(breakpoints.value.map(({ text }) => text));
  for (const { text } of breakpoints.value) void countHits(text);
}

async function countHits(text: string): Promise<void> {
  let counted: Breakpoint;
  try {
    const hits = await engine.countHits(text);
    // Another journal was opened meanwhile.
    if (hits === null) return;
    counted = { text, hits, fault: null };
  } catch (error) {
    counted = { text, hits: null, fault: (error as Error).message };
  }
  breakpoints.value = breakpoints.value.map((one) => (one.text === text ? counted : one));
}

function hitsText({ hits, fault }: Breakpoint): string {
  if (fault !== null) return `not counted: ${fault}`;
  if (hits === null) return 'counting …';
  return `${count(hits)} ${hits === 1 ? 'hit' : 'hits'}`;
}

/** Returns false if the expression is refused. */
async function add(text: string): Promise<boolean> {
  try {
    await engine.checkExpression(text);
  } catch (error) {
    problem.value = (error as Error).message;
    return false;
  }
  problem.value = null;
  if (!breakpoints.value.some((one) => one.text === text)) {
    breakpoints.value = [...breakpoints.value, { text, hits: null, fault: null }];
    void countHits(text);
  }
  return true;
}

/** Runs of this bar; another run may stop one. */
let runs = 0;

export async function runTo(direction: 'forward' | 'backward'): Promise<void> {
  if (breakpoints.value.length === 0) {
    adding.value = true;
    return;
  }
  runs += 1;
  const mine = runs;
  running.value = direction === 'forward' ? 'running on …' : 'running back …';
  runFault.value = null;
  try {
    const texts = breakpoints.value.map(({ text }) => text);
    const hit = await engine.runTo(texts, seq.value, direction);
    if (hit === 'stopped') {
      if (mine === runs) running.value = 'stopped by another run';
      return;
    }
    if (hit !== null && texts.some((text) => text.includes('violations'))) {
      await findViolations(hit);
    }
    if (hit !== null) seekTo(hit);
    else announcement.value = `no ${direction === 'forward' ? 'later' : 'earlier'} hit`;
    running.value = hit === null ? announcement.value : '';
  } catch (error) {
    running.value = '';
    runFault.value = (error as Error).message;
  }
}

const ADD_ID = 'add-breakpoint';

/** Shows the form of a breakpoint, which takes the focus. */
export function openForm(): void {
  if (!adding.value) keepFocus();
  adding.value = true;
}

export function BreakpointBar() {
  return (
    <section class="breaks" aria-label="Breakpoints">
      {breakpoints.value.map(({ text, ...counted }) => (
        <span key={text} class="chip">
          <span class="danger" aria-hidden="true">
            ●
          </span>
          <code title={text}>{text}</code>
          <span class={counted.fault === null ? '' : 'error'}>
            {hitsText({ text, ...counted })}
          </span>
          <button
            type="button"
            class="link"
            aria-label={`Remove the breakpoint ${text}`}
            onClick={() => {
              breakpoints.value = breakpoints.value.filter((one) => one.text !== text);
            }}
          >
            ✕
          </button>
        </span>
      ))}
      {breakpoints.value.length === 0 && !adding.value ? (
        <span class="soft wide">
          No breakpoint: add a condition, and run to where it begins to hold.
        </span>
      ) : null}
      {breakpoints.value.length === 0 ? null : (
        <>
          <button type="button" class="button plain" onClick={() => void runTo('backward')}>
            ◀ Run back
          </button>
          <button type="button" class="button plain" onClick={() => void runTo('forward')}>
            Run on ▶
          </button>
        </>
      )}
      <span class="small soft" role="status">
        {running.value}
      </span>
      {runFault.value === null ? null : (
        <span class="small error" role="alert">
          {runFault.value}
        </span>
      )}
      {adding.value ? <Form /> : <span class="space" />}
      {adding.value ? null : (
        <button id={ADD_ID} type="button" class="button plain" onClick={openForm}>
          + Breakpoint <kbd>B</kbd>
        </button>
      )}
    </section>
  );
}

function Form() {
  const field = useRef<HTMLInputElement>(null);
  // Before the next key: those of the page would act on what is typed.
  useLayoutEffect(() => {
    field.current?.focus();
  }, []);
  const close = (): void => {
    const { current } = field;
    adding.value = false;
    problem.value = null;
    // The button is there after the next rendering.
    requestAnimationFrame(() => {
      if (current !== null) giveFocusBack(current, ADD_ID);
    });
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await add(field.current?.value ?? '')) close();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label class="hidden" for="expression">
        Condition
      </label>
      <input
        id="expression"
        ref={field}
        placeholder={EXAMPLE}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={problem.value !== null}
        aria-describedby="expression-problem"
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
        }}
      />
      <button class="button primary">Add</button>
      <button type="button" class="button plain" onClick={close}>
        Cancel
      </button>
      <span id="expression-problem" class="error small" role="alert">
        {problem.value}
      </span>
    </form>
  );
}
