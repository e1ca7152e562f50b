/** Where most questions begin: the first liquidation, fill, refusal or broken invariant. */
import { signal } from '@preact/signals';
import { count } from '../exact-text.ts';
import type { StepFlag } from '../../time-machine/index/step-flags.ts';
import {
  about,
  announcement,
  engine,
  jumpKind,
  lastSeq,
  opened,
  progress,
  seekTo,
} from './store.ts';
import { sideTab } from './side-tab.ts';
import { findViolations } from './violations.ts';

const PLACES: readonly (readonly [flag: StepFlag, end: 'first' | 'last', text: string])[] = [
  ['liquidation', 'first', 'liquidation'],
  ['fill', 'last', 'fill'],
  ['refusal', 'first', 'refusal'],
];

const VIOLATED = 'violations.length > 0';

const missing = signal('');

/** Shows the first or last command of a kind; the arrow keys with Shift then go on from there. */
async function goTo(flag: StepFlag, end: 'first' | 'last', text: string): Promise<void> {
  const from = end === 'first' ? (opened.value?.baseSeq ?? 0) : lastSeq.value + 1;
  const found = await engine.jump(from, flag, end === 'first' ? 1 : -1);
  missing.value = found === null ? noneText(text) : '';
  if (found !== null && end === 'last' && !isWhole()) {
    missing.value = `The last ${text} of the first ${count(lastSeq.value)} commands.`;
  }
  announcement.value = missing.value;
  jumpKind.value = flag;
  if (found !== null) seekTo(found);
}

const isWhole = (): boolean => progress.value?.complete === true;

/** The index grows while the journal is executed, so the rest may have what its part lacks. */
const noneText = (text: string): string =>
  isWhole()
    ? `This journal has no ${text}.`
    : `The first ${count(lastSeq.value)} commands have no ${text}; the rest is not executed yet.`;

/** All commands are executed with all checks of the state, so this may take long. */
async function goToViolation(): Promise<void> {
  missing.value = CHECKING;
  const base = opened.value?.baseSeq ?? 0;
  const before = await findViolations(base);
  const found = before.length > 0 ? base : await checkedRun(base);
  if (found === 'stopped') missing.value = 'The check was stopped by another run.';
  else if (before.length > 0) {
    missing.value = 'An invariant is broken before the first command of this journal.';
  } else if (found === null) missing.value = 'No command of this journal breaks an invariant.';
  else missing.value = `Command ${count(found)} is the first that breaks an invariant.`;
  const texts = typeof found === 'number' ? await findViolations(found) : [];
  announcement.value = [missing.value, ...texts].join(' ');
  if (typeof found === 'number') seekTo(found);
}

const CHECKING = 'checking all invariants after each command …';
const REPORT_MS = 500;

/** Reports its progress while it takes long. */
async function checkedRun(base: number): Promise<number | 'stopped' | null> {
  const report = async (): Promise<void> => {
    const at = await engine.runSoFar();
    if (!missing.value.startsWith(CHECKING)) return;
    missing.value = `${CHECKING} ${count(at)} of ${count(lastSeq.value)}`;
  };
  const timer = setInterval(() => void report(), REPORT_MS);
  try {
    return await engine.runTo([VIOLATED], base, 'forward');
  } finally {
    clearInterval(timer);
  }
}

/** Questions by number, in the order of their buttons. */
export async function ask(
  question: 'liquidation' | 'fill' | 'refusal' | 'violation',
): Promise<void> {
  sideTab.value = 'why';
  const place = PLACES.find(([flag]) => flag === question);
  if (place === undefined) await goToViolation();
  else await goTo(...place);
}

export function GoTo() {
  const { failure } = about.value;
  return (
    <div>
      <h3>Go to</h3>
      <div class="actions">
        {failure === null ? null : (
          <button type="button" class="button" onClick={() => seekTo(failure.seq)}>
            Failure of the fuzzer
          </button>
        )}
        {PLACES.map(([flag, end, text], i) => (
          <button
            key={flag}
            type="button"
            class="button"
            onClick={() => void goTo(flag, end, text)}
          >
            {end === 'first' ? 'First' : 'Last'} {text} <kbd aria-hidden="true">{i + 1}</kbd>
          </button>
        ))}
        <button type="button" class="button" onClick={() => void goToViolation()}>
          First broken invariant <kbd aria-hidden="true">{PLACES.length + 1}</kbd>
        </button>
      </div>
      {missing.value === '' ? null : (
        <p class="small soft" role="status">
          {missing.value}
        </p>
      )}
    </div>
  );
}
