/** Step buttons, speed, and the strip of the whole journal. */
import { dateText } from '../../base/date-text.ts';
import type { StepFlag } from '../../time-machine/index/step-flags.ts';
import { clock, count } from '../exact-text.ts';
import { bookmarks } from './bookmarks.ts';
import { giveFocusBack } from './kept-focus.ts';
import { play, playing, speed, SPEEDS } from './playing.ts';
import { Scrubber } from './scrubber.tsx';
import {
  jump,
  jumpKind,
  lastSeq,
  opened,
  progress,
  range,
  scene,
  seekTo,
  seq,
  strip,
  theme,
} from './store.ts';

const KINDS: readonly (readonly [StepFlag | 'event', string])[] = [
  ['event', 'any event'],
  ['fill', 'fill'],
  ['orderPlaced', 'order'],
  ['orderEnded', 'order’s end'],
  ['trigger', 'trigger'],
  ['rejection', 'rejection'],
  ['refusal', 'refusal'],
  ['price', 'price'],
  ['liquidation', 'liquidation'],
  ['transferredPosition', 'take-over, ADL'],
  ['deficit', 'deficit'],
  ['funding', 'funding'],
  ['money', 'transfer'],
];

const SHAPES = {
  jumpBack: 'M1 1h2v10H1zM13 1v10L4 6z',
  back: 'M11 1v10L3 6z',
  play: 'M3 1v10l9-5z',
  pause: 'M3 1h3v10H3zM8 1h3v10H8z',
  on: 'M3 1v10l8-5z',
  jumpOn: 'M11 1h2v10h-2zM1 1v10l9-5z',
} as const;

interface IconProps {
  readonly label: string;
  readonly shape: keyof typeof SHAPES;
  readonly primary?: boolean;
  readonly onPress: () => void;
}

function Icon({ label, shape, primary = false, onPress }: IconProps) {
  return (
    <button
      type="button"
      class={`button icon${primary ? ' primary' : ''}`}
      aria-label={label}
      title={label}
      onClick={onPress}
    >
      <svg width="14" height="12" viewBox="0 0 14 12" fill="currentColor" aria-hidden="true">
        <path d={SHAPES[shape]} />
      </svg>
    </button>
  );
}

export function Transport() {
  const now = scene.value;
  const kind = KINDS.find(([flag]) => flag === jumpKind.value)?.[1] ?? '';
  const made = strip.value;
  const valueText =
    now === null
      ? ''
      : `command ${count(now.seq)} of ${count(lastSeq.value)}, ${clock(now.timeUs)} UTC`;
  return (
    <section class="transport" aria-label="Moving">
      <div class="controls">
        <div class="now">
          seq {count(seq.value)} <span class="small quiet">of {count(lastSeq.value)}</span>
        </div>
        <div class="small soft">{now === null ? '–' : `${dateText(now.timeUs)} UTC`}</div>
        <div class="row" role="toolbar" aria-label="Step">
          <Icon label={`Previous ${kind}`} shape="jumpBack" onPress={() => void jump(-1)} />
          <Icon
            label="One command back"
            shape="back"
            onPress={() => {
              seekTo(seq.value - 1);
            }}
          />
          <Icon
            label={playing.value === 0 ? 'Play' : 'Pause'}
            shape={playing.value === 0 ? 'play' : 'pause'}
            primary
            onPress={() => {
              play(playing.value === 0 ? 1 : 0);
            }}
          />
          <Icon
            label="One command on"
            shape="on"
            onPress={() => {
              seekTo(seq.value + 1);
            }}
          />
          <Icon label={`Next ${kind}`} shape="jumpOn" onPress={() => void jump(1)} />
        </div>
        <div class="row choices small soft">
          <label>
            By{' '}
            <select
              id="jump-kind"
              value={jumpKind.value}
              onKeyDown={(event) => {
                if (event.key === 'Escape' || event.key === 'Enter')
                  giveFocusBack(event.currentTarget);
              }}
              onChange={(event) => {
                jumpKind.value = event.currentTarget.value as StepFlag;
              }}
            >
              {KINDS.map(([flag, text]) => (
                <option key={flag} value={flag}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span class="hidden">Speed</span>
            <select
              title="Speed of playing"
              value={speed.value}
              onChange={(event) => {
                speed.value = Number(event.currentTarget.value);
              }}
            >
              {SPEEDS.map((times) => (
                <option key={times} value={times}>
                  {times} ×
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      {made === null || made.timesUs.length === 0 ? (
        <p class="note">
          {opened.value === null
            ? ''
            : progress.value?.complete === true
              ? 'The journal has no commands.'
              : 'Reading the journal …'}
        </p>
      ) : (
        <Scrubber
          strip={made}
          seq={seq.value}
          window={range.value}
          bookmarks={bookmarks.value.map((one) => one.seq)}
          valueText={valueText}
          theme={theme.value}
          onSeek={seekTo}
        />
      )}
    </section>
  );
}
