/** Where most questions begin: the first liquidation, the last fill, the first refusal. */
import { signal } from '@preact/signals';
import type { StepFlag } from '../../time-machine/index/step-flags.ts';
import { announcement, engine, jumpKind, lastSeq, opened, seekTo } from './store.ts';

const PLACES: readonly (readonly [flag: StepFlag, end: 'first' | 'last', text: string])[] = [
  ['liquidation', 'first', 'liquidation'],
  ['fill', 'last', 'fill'],
  ['refusal', 'first', 'refusal'],
];

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
      </div>
      {missing.value === '' ? null : <p class="small soft">{missing.value}</p>}
    </div>
  );
}
