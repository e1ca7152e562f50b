/** Episodes reach the states for which they were written. */
import { afterEach, expect, test, vi } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { EpisodeTurns } from '../../src/fuzz/generate/episodes/episodes.ts';
import { dayLater } from '../../src/fuzz/generate/episodes/history-episodes.ts';
import { savedInPause } from '../../src/fuzz/generate/episodes/loss-episodes.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';

const MINUTE_US = 60_000_000;
const DAY_US = 1440 * MINUTE_US;

afterEach(() => {
  vi.restoreAllMocks();
});

type Episode = typeof savedInPause;

/** Runs of these profiles whose only episode is this one, until `sees` returns true. */
function reaches(
  episode: Episode,
  names: readonly ProfileName[],
  runs: number,
  sees: (events: readonly EngineEvent[], pauseUs: number) => boolean,
): boolean {
  vi.spyOn(EpisodeTurns.prototype, 'next').mockImplementation(episode);
  for (let run = 0; run < runs; run += 1) {
    const name = names[run % names.length] ?? 'stress';
    const profile = drawProfile(`episode ${String(run)}`, { name, commands: 500 });
    const events: EngineEvent[] = [];
    let pauseUs = 0;
    runFuzz(profile, (config) => {
      pauseUs = config.liquidationPauseUs;
      return { onEvent: (event) => events.push(event), after: () => null };
    });
    if (sees(events, pauseUs)) return true;
  }
  return false;
}

test('a position saved within a pause is in danger again before its end', () => {
  const isReached = (events: readonly EngineEvent[], pauseUs: number): boolean => {
    const sold = new Map<string, { readonly atUs: number; readonly saved: boolean }>();
    for (const event of events) {
      if (event.kind !== 'liquidationStep') continue;
      const key = `${String(event.subaccount)} ${String(event.market)}`;
      const last = sold.get(key);
      if (event.step === 'safe' && last !== undefined) {
        // Money or a price saved it; the sale itself would have ended it at once.
        sold.set(key, { ...last, saved: event.timeUs > last.atUs });
      }
      if (event.step !== 'order') continue;
      if (last?.saved === true && event.timeUs < last.atUs + pauseUs) return true;
      sold.set(key, { atUs: event.timeUs, saved: false });
    }
    return false;
  };
  expect(reaches(savedInPause, ['stress', 'swarm', 'money', 'matching'], 24, isReached)).toBe(true);
});

test('something happens to the microsecond a day after a minute with a trade began', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    const minutes = new Set<number>();
    for (const { kind, timeUs } of events) {
      if (minutes.has(timeUs - DAY_US) && (timeUs - DAY_US) % MINUTE_US === 0) return true;
      if (kind === 'tradePrinted') minutes.add(timeUs - (timeUs % MINUTE_US));
    }
    return false;
  };
  expect(reaches(dayLater, ['matching', 'money', 'swarm', 'groups'], 24, isReached)).toBe(true);
});
