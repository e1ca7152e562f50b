/**
 * Counts of what runs reached: each event (with its reason or step), each rejection and each kind
 * of command. Counts of several runs can be added, so workers return theirs.
 */
import type { Command } from '../engine/commands.ts';
import type { EngineEvent } from '../engine/events.ts';
import { END_REASONS, REFUSALS, type Outcome } from '../engine/refusals.ts';
import type { Engine } from '../engine/read/views.ts';
import type { Checker } from './checker.ts';
import { mustBeCounts } from './fuzz-error.ts';

/** Count by key: `event orderEnded selfTrade`, `refusal nonce_used`, `command placeOrder`. */
export type Counts = Readonly<Record<string, number>>;

/** Codes that no run reaches: of removed rules, or of long runs. Codes are never reused. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'refusal inverse_market',
  'refusal too_many_markets',
  'refusal vault_not_priced',
  'refusal price_off_tick',
  'refusal quantity_off_lot',
  'refusal trailing_percent_off_step',
]);

export class ReachedCounts implements Checker {
  private readonly events = new Map<string, Counters>();
  private readonly commands: Counters = new Map();
  private readonly outcomes: Counters = new Map();

  readonly onEvent = (event: EngineEvent): void => {
    let counts = this.events.get(event.kind);
    if (counts === undefined) {
      counts = new Map();
      this.events.set(event.kind, counts);
    }
    bump(counts, distinction(event));
  };

  after(_engine: Engine, command: Command, outcome: Outcome): null {
    bump(this.commands, command.kind);
    if (outcome !== 'ok') bump(this.outcomes, outcome.code);
    return null;
  }

  counts(): Counts {
    const counts: Record<string, number> = {};
    for (const [kind, { count }] of this.commands) counts[`command ${kind}`] = count;
    for (const [refusal, { count }] of this.outcomes) counts[`refusal ${refusal}`] = count;
    for (const [kind, byWhat] of this.events) {
      for (const [what, { count }] of byWhat) {
        counts[what === '' ? `event ${kind}` : `event ${kind} ${what}`] = count;
      }
    }
    return counts;
  }
}

/** Rejections and order ends without a count. */
export function neverReached(counts: Counts): string[] {
  mustBeCounts('counts', counts);
  const ends = new Set(
    Object.keys(counts).flatMap((key) => {
      const [what, kind, reason] = key.split(' ');
      if (what !== 'event') return [];
      return kind === 'orderEnded' || kind === 'orderRejected' ? [reason] : [];
    }),
  );
  return [
    ...REFUSALS.map((refusal) => `refusal ${refusal}`).filter((key) => counts[key] === undefined),
    ...END_REASONS.filter((reason) => !ends.has(reason)).map((reason) => `end ${reason}`),
  ].filter((key) => !UNREACHABLE.has(key));
}

/** Throws `FuzzError`. */
export function addCounts(a: Counts, b: Counts): Counts {
  mustBeCounts('a', a);
  mustBeCounts('b', b);
  const sum: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
}

/** Subtype of an event. */
function distinction(event: EngineEvent): string {
  switch (event.kind) {
    case 'orderAccepted':
      return event.cause === 'command' ? '' : event.cause;
    case 'orderEnded':
    case 'orderRejected':
    case 'balanceChanged':
    case 'isolatedMarginChanged':
    case 'positionTransferred':
      return event.reason ?? 'filled';
    case 'liquidationStep':
      return event.step;
    case 'tapeApplied':
      return event.what;
    case 'marketFrozen':
      return event.frozen ? 'freezes' : 'thaws';
    case 'marketStatusChanged':
      return event.status;
    default:
      return '';
  }
}

/** Mutable counters, so that an event costs a lookup and no insertion. */
type Counters = Map<string, { count: number }>;

function bump(counters: Counters, key: string): void {
  const counter = counters.get(key);
  if (counter === undefined) counters.set(key, { count: 1 });
  else counter.count += 1;
}
