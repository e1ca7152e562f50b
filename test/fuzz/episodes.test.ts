/** Episodes reach the states for which they were written. */
import { afterEach, expect, test, vi } from 'vitest';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { EpisodeTurns } from '../../src/fuzz/generate/episodes/episodes.ts';
import { haltedQuotes, reducedAtLoss } from '../../src/fuzz/generate/episodes/edge-episodes.ts';
import {
  dayLater,
  manyMinutes,
  timedRecording,
} from '../../src/fuzz/generate/episodes/history-episodes.ts';
import { ruinedTogether, savedInPause } from '../../src/fuzz/generate/episodes/loss-episodes.ts';
import { frozenMarket } from '../../src/fuzz/generate/episodes/market-episodes.ts';
import { fundedAtNotice, smallOrders } from '../../src/fuzz/generate/episodes/quote-episodes.ts';
import { sweptLegs } from '../../src/fuzz/generate/episodes/order-episodes.ts';
import { tightenedUntilInstant } from '../../src/fuzz/generate/episodes/tie-episodes.ts';
import { nextSample } from '../../src/fuzz/generate/premium-samples.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import type { FuzzProfile, ProfileName } from '../../src/fuzz/profile.ts';

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
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
  sees: (events: readonly EngineEvent[], config: ExchangeConfig) => boolean,
  fits: (profile: FuzzProfile) => boolean = () => true,
): boolean {
  vi.spyOn(EpisodeTurns.prototype, 'next').mockImplementation(episode);
  for (let run = 0; run < runs; run += 1) {
    const name = names[run % names.length] ?? 'stress';
    const profile = drawProfile(`episode ${String(run)}`, { name, commands: 500 });
    if (!fits(profile)) continue;
    const events: EngineEvent[] = [];
    const configs: ExchangeConfig[] = [];
    runFuzz(profile, (used) => {
      configs.push(used);
      return { onEvent: (event) => events.push(event), after: () => null };
    });
    if (configs.some((config) => sees(events, config))) return true;
  }
  return false;
}

test('a position saved within a pause is in danger again before its end', () => {
  const isReached = (
    events: readonly EngineEvent[],
    { liquidationPauseUs: pauseUs }: ExchangeConfig,
  ): boolean => {
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

test('a position closes against a holder whom the same price has ruined', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    let parties = new Set<number>();
    let seq = 0;
    for (const event of events) {
      if (event.seq !== seq) parties = new Set();
      seq = event.seq;
      if (event.kind === 'positionTransferred' && event.reason === 'adl') parties.add(event.to);
      if (event.kind !== 'liquidationStep' || event.step !== 'adl') continue;
      if (event.equityQuanta < 0n && parties.has(event.subaccount)) return true;
    }
    return false;
  };
  expect(reaches(ruinedTogether, ['stress', 'swarm', 'money', 'crisis'], 24, isReached)).toBe(true);
});

test('a liquidation takes a leg off the book that has nothing left to protect', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    let sweeping = 0;
    for (const event of events) {
      if (event.kind === 'orderAccepted' && event.cause === 'liquidation') sweeping = event.orderId;
      if (event.kind !== 'orderEnded' || sweeping === 0) continue;
      if (event.orderId === sweeping) sweeping = 0;
      else if (event.reason === 'positionClosed') return true;
    }
    return false;
  };
  expect(reaches(sweptLegs, ['stress', 'swarm', 'groups', 'matching'], 24, isReached)).toBe(true);
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

test('the trades around the start of a minute have different prices', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    const last = new Map<number, number>();
    for (const event of events) {
      if (event.kind !== 'tradePrinted') continue;
      const before = last.get(event.market) ?? event.priceTicks;
      if (event.timeUs % MINUTE_US === 0 && event.priceTicks !== before) return true;
      last.set(event.market, event.priceTicks);
    }
    return false;
  };
  expect(reaches(dayLater, ['matching', 'money', 'swarm', 'groups'], 24, isReached)).toBe(true);
});

test('candles outgrow the room for 64 minutes after some were dropped', () => {
  const isReached = (events: readonly EngineEvent[], { retention }: ExchangeConfig): boolean => {
    const traded = new Map<number, number[]>();
    return events.some((event) => {
      if (event.kind !== 'tradePrinted') return false;
      const minutes = traded.get(event.market) ?? [];
      const minute = Math.floor(event.timeUs / MINUTE_US);
      if (minutes.at(-1) !== minute) minutes.push(minute);
      traded.set(event.market, minutes);
      const kept = minutes.filter((one) => one > minute - retention.candleMinutesPerMarket);
      return kept.length > 64 && kept.length < minutes.length;
    });
  };
  const keepsSome = (profile: FuzzProfile): boolean =>
    setUp(profile).config.retention.candleMinutesPerMarket === 70;
  expect(reaches(manyMinutes, ['matching', 'tape', 'swarm'], 150, isReached, keepsSome)).toBe(true);
});

test('a market thaws in the instant of a sample of its premium', () => {
  const isReached = (events: readonly EngineEvent[], { samplingSeed }: ExchangeConfig): boolean => {
    const listed = events.filter((event) => event.kind === 'marketListed');
    return events.some((event) => {
      if (event.kind !== 'marketFrozen' || event.frozen) return false;
      const of = listed.find(({ market }) => market === event.market);
      if (of === undefined) return false;
      const from = event.timeUs - of.spec.funding.sampleIntervalUs;
      return nextSample(samplingSeed, { id: of.market, spec: of.spec }, from) === event.timeUs;
    });
  };
  expect(reaches(frozenMarket, ['stress', 'money', 'swarm', 'matching'], 12, isReached)).toBe(true);
});

test('new margin endangers a position at midnight, and the vault takes it over', () => {
  const isReached = (events: readonly EngineEvent[]): boolean =>
    events.some(
      (event) =>
        event.kind === 'liquidationStep' &&
        event.step === 'takeover' &&
        event.timeUs % DAY_US === 0,
    );
  expect(reaches(tightenedUntilInstant, ['stress', 'money', 'swarm'], 24, isReached)).toBe(true);
});

test('a reduce-only order ends because of the margin of others of its side', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    const closing = new Set<number>();
    return events.some((event) => {
      if (event.kind === 'orderAccepted' && event.reduceOnly) closing.add(event.orderId);
      return (
        event.kind === 'orderEnded' &&
        event.reason === 'insufficientMargin' &&
        closing.has(event.orderId)
      );
    });
  };
  expect(reaches(reducedAtLoss, ['stress', 'money', 'swarm'], 12, isReached)).toBe(true);
});

test('a halt begins less than a second after a change of the book, and ends', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    const changed = new Map<number, number>();
    const halted = new Set<number>();
    return events.some((event) => {
      if (event.kind === 'orderRested') changed.set(event.market, event.timeUs);
      if (event.kind !== 'marketFrozen') return false;
      const { market, frozen, timeUs } = event;
      if (!frozen) return halted.has(market);
      if (timeUs - (changed.get(market) ?? -SECOND_US) < SECOND_US) halted.add(market);
      return false;
    });
  };
  expect(reaches(haltedQuotes, ['matching', 'stress', 'swarm', 'money'], 12, isReached)).toBe(true);
});

test('a trade comes exactly a second after a decrease, and a level exactly a half-life later', () => {
  const isReached = (events: readonly EngineEvent[], { half }: { readonly half: number }) => {
    const tape = events.filter((event) => event.kind === 'tapeApplied');
    const follows = (what: string, us: number): boolean =>
      tape.some(
        ({ timeUs, market, ...event }, i) =>
          event.what === what &&
          tape
            .slice(Math.max(0, i - 2), i)
            .some(
              (one) => one.what === 'depth' && one.market === market && timeUs - one.timeUs === us,
            ),
      );
    return follows('trade', SECOND_US) && follows('depth', half);
  };
  const halves = [100_000, SECOND_US, MINUTE_US];
  for (const half of halves) {
    const sees = (events: readonly EngineEvent[]): boolean => isReached(events, { half });
    expect(
      reaches(timedRecording, ['tape', 'matching', 'swarm', 'money'], 24, sees),
      `${half}`,
    ).toBe(true);
  }
});

test('a rate above the old maintenance rate is settled when a higher one takes effect', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    const ends = new Map<string, number>();
    return events.some((event) => {
      if (event.kind === 'marketTermsChanged' && event.effectiveUs !== null) {
        const inForce = event.spec.tiers.map((tier) => tier.maintenanceMarginPpm);
        ends.set(`${String(event.market)} ${String(event.effectiveUs)}`, Math.min(...inForce));
      }
      if (event.kind !== 'fundingSettled') return false;
      const rate = ends.get(`${String(event.market)} ${String(event.timeUs)}`);
      // The bound of the old rate is above half of it, since the mark is close to the index.
      return rate !== undefined && Math.abs(event.ratePpb) > rate * 500;
    });
  };
  expect(reaches(fundedAtNotice, ['stress', 'swarm', 'matching'], 36, isReached)).toBe(true);
});

test('a premium is sampled beside more levels than a walk takes', () => {
  const isReached = (events: readonly EngineEvent[]): boolean => {
    const resting = new Map<number, string>();
    return events.some((event) => {
      if (event.kind === 'orderRested') {
        resting.set(event.orderId, `${String(event.market)} ${String(event.priceTicks)}`);
      } else if (event.kind === 'orderEnded') resting.delete(event.orderId);
      if (event.kind !== 'fundingSampled' || event.premiumPpb === 0) return false;
      const levels = [...new Set(resting.values())];
      return levels.filter((level) => level.startsWith(`${String(event.market)} `)).length > 257;
    });
  };
  expect(reaches(smallOrders, ['stress', 'swarm', 'matching'], 36, isReached)).toBe(true);
});
