import { expect, test } from 'vitest';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { NearScenes } from '../../src/web/time-machine/near-scenes.ts';
import { sceneOf, type SceneOptions } from '../../src/web/time-machine/scene.ts';
import { randomJournal } from '../time-machine/journals.ts';

const { bytes, commands } = randomJournal('near scenes', 400);
const OPTIONS: readonly SceneOptions[] = [
  { market: 0, focus: null, order: null, accounts: false },
  { market: 0, focus: 1, order: null, accounts: true },
];

/** The scene of a timeline that shows nothing else. */
function fresh(seq: number, options: SceneOptions) {
  const timeline = Timeline.open(bytes, { spacing: 64 });
  return sceneOf(timeline.seek(seq), options);
}

/** Scenes of a random walk that differ from those of a seek; `of` are the options that are used. */
function differences(of: (options: SceneOptions) => SceneOptions): number {
  const timeline = Timeline.open(bytes, { spacing: 64 });
  timeline.index();
  const near = new NearScenes(timeline);
  let state = 11;
  const below = (bound: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * bound);
  };
  let seq = commands;
  let count = 0;
  for (let i = 0; i < 150; i++) {
    const move = below(15) === 0 ? below(200) - 100 : below(7) - 4;
    seq = Math.min(commands, Math.max(1, seq + move));
    const options = OPTIONS[below(12) === 0 ? 1 : 0] ?? fail();
    if (!equals(near.show(seq, of(options)), fresh(seq, options))) count += 1;
    for (let idle = below(12); idle > 0; idle--) if (!timeline.prepare()) near.prepare();
  }
  return count;
}

const equals = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

test('scenes that are made in advance are those of a seek, in any order of steps', () => {
  expect(differences((options) => options)).toBe(0);
  // Planted: scenes are kept without regard to what the reader selected.
  const [only] = OPTIONS;
  expect(differences(() => only ?? fail())).toBeGreaterThan(0);
});

test('after some rest, the next steps back seek nothing', () => {
  const timeline = Timeline.open(bytes, { spacing: 64 });
  timeline.index();
  const near = new NearScenes(timeline);
  const options = OPTIONS[0] ?? fail();
  near.show(300, options);
  let prepared = 0;
  while (timeline.prepare() || near.prepare()) prepared += 1;
  expect(prepared).toBeLessThan(100);
  const seeks: number[] = [];
  const seek = timeline.seek.bind(timeline);
  timeline.seek = (seq) => {
    seeks.push(seq);
    return seek(seq);
  };
  for (let seq = 299; seq > 276; seq--) expect(near.show(seq, options).seq).toBe(seq);
  expect(seeks).toEqual([]);
  near.show(200, options);
  expect(seeks).toEqual([200]);
});

test('beside a shown command are the scenes before and after it', () => {
  const timeline = Timeline.open(bytes, { spacing: 64 });
  timeline.index();
  const near = new NearScenes(timeline);
  const options = OPTIONS[0] ?? fail();
  near.show(300, options);
  // The one before is not worth a seek that holds up the reader; it is made at rest.
  expect(near.beside(300, options).map(({ seq }) => seq)).toEqual([301]);
  while (timeline.prepare() || near.prepare());
  const scenes = near.beside(300, options);
  expect(scenes).toEqual([fresh(299, options), fresh(301, options)]);
  near.show(commands, options);
  expect(near.beside(commands, options)).toEqual([]);
});

function fail(): never {
  throw new Error('the option exists');
}
