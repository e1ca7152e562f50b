/** Where most questions begin: the first liquidation, fill, refusal or broken invariant. */
import { signal } from '@preact/signals';
import type { StepFlag } from '../../time-machine/index/step-flags.ts';
import { announcement, engine, jumpKind, lastSeq, opened, seekTo } from './store.ts';

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
  missing.value = found === null ? `This journal has no ${text}.` : '';
  announcement.value = missing.value;
  jumpKind.value = flag;
  if (found !== null) seekTo(found);
}

/** All commands are executed with all checks of the state, so this may take long. */
async function goToViolation(): Promise<void> {
  missing.value = 'checking all invariants after each command …';
  const base = opened.value?.baseSeq ?? 0;
  const found = await engine.runTo([VIOLATED], base, 'forward');
  missing.value =
    found === null
      ? 'No command of this journal breaks an invariant.'
      : (await engine.violationsAt(found)).join(' ');
  announcement.value = missing.value;
  if (found !== null) seekTo(found);
}

export function GoTo() {
  return (
    <div>
      <h3>Go to</h3>
      <div class="actions">
        {PLACES.map(([flag, end, text]) => (
          <button
            key={flag}
            type="button"
            class="button"
            onClick={() => void goTo(flag, end, text)}
          >
            {end === 'first' ? 'First' : 'Last'} {text}
          </button>
        ))}
        <button type="button" class="button" onClick={() => void goToViolation()}>
          First broken invariant
        </button>
      </div>
      {missing.value === '' ? null : <p class="small soft">{missing.value}</p>}
    </div>
  );
}
