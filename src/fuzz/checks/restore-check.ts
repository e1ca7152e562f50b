/**
 * A twin of the exchange is saved and restored again and again. It must stay equal to the exchange:
 * the same chain hash after each command; at each restore the same next timer, the same state hash,
 * the same bytes, and the same answers to every read. After steps of liquidations, freezes and
 * changes of terms it is restored early: pauses, debts, sources of prices and margin rates are
 * derived from the state that they leave.
 */
import type { ExchangeConfig } from '../../engine/config.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Engine } from '../../engine/read/views.ts';
import { allOf, type Checker, type Violation } from '../checker.ts';
import { firstDifference } from './view-rows.ts';

/** Snapshot bytes per command until the next comparison: bounds its cost on large exchanges. */
const BYTES_PER_COMMAND = 1024;
const MAX_GAP = 400;
/** The same until the next restore, which costs less than a comparison. */
const BYTES_PER_RESTORE = 1024;
const LEAST_GAP = 16;
/** Commands between two early restores at least: a pause may end soon. */
const EARLY_GAP = 4;
const EARLY_AFTER: ReadonlySet<EngineEvent['kind']> = new Set([
  'liquidationStep',
  'marketFrozen',
  'marketTermsChanged',
]);

/** Commands between two comparisons of the twin that is restored now and then. */
const SELDOM = 64;

interface RestoreOptions {
  /** Commands between two comparisons at least; 1: one after each command. */
  readonly every: number;
}

/**
 * With `every` of 1 there is a second twin, restored now and then: what each restore derives again
 * can hide that an earlier one lost it.
 */
export function restoreCheck(config: ExchangeConfig, { every }: RestoreOptions): Checker {
  const twin = twinCheck(config, { every });
  return every === 1 ? allOf(twin, twinCheck(config, { every: SELDOM })) : twin;
}

function twinCheck(config: ExchangeConfig, { every }: RestoreOptions): Checker {
  let twin: Engine = new Exchange(config);
  let restoreAt = 1;
  let earlyAt = 1;
  let compareAt = 1;
  let isEarly = false;
  const restore = (engine: Engine): Violation | null => {
    const bytes = twin.snapshot();
    twin = Exchange.restore(bytes);
    const timerUs = engine.nextTimerUs();
    if (twin.nextTimerUs() !== timerUs) {
      return broken(`its next timer is at ${twin.nextTimerUs()}, not at ${timerUs} µs`, engine);
    }
    const gap = every === 1 ? 1 : LEAST_GAP + Math.ceil(bytes.length / BYTES_PER_RESTORE);
    restoreAt = engine.seq + gap + (every === 1 ? 0 : engine.nowUs % 7);
    earlyAt = engine.seq + EARLY_GAP;
    isEarly = false;
    if (engine.seq < compareAt) return null;
    const wait = every === 1 ? 1 : 4 * every + Math.ceil(bytes.length / BYTES_PER_COMMAND);
    compareAt = engine.seq + Math.min(MAX_GAP, wait);
    if (twin.stateHash() !== engine.stateHash()) return broken('the state hash differs', engine);
    if (!isSame(bytes, twin.snapshot())) return broken('its snapshot has other bytes', engine);
    return compare(engine, twin);
  };
  return {
    onEvent: ({ kind }) => {
      isEarly ||= EARLY_AFTER.has(kind);
    },
    after: (engine, command) => {
      twin.apply(command);
      if (twin.chainHash() !== engine.chainHash()) {
        return broken(`${command.kind} has another outcome or other events`, engine);
      }
      const isDue = engine.seq >= (isEarly ? earlyAt : restoreAt);
      return isDue ? restore(engine) : null;
    },
    end: (engine) => {
      compareAt = engine.seq;
      return restore(engine);
    },
  };
}

function compare(engine: Engine, twin: Engine): Violation | null {
  const found = firstDifference(engine, twin);
  if (found === null) return null;
  return broken(`${found.subject}: ${found.other}, not ${found.one}`, engine);
}

function broken(what: string, { seq }: Engine): Violation {
  return {
    invariant: 'restore',
    rule: 'docs/DETERMINISM.md',
    says: 'an exchange restored from a snapshot is equal to the one that it was taken of',
    detail: `after command ${String(seq)}: ${what}`,
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
