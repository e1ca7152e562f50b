/**
 * What runs have reached: how often each event (with its reason or step), each refusal and each kind of command came. Counts of
 * several runs add up, so that workers hand in theirs.
 */
import type { Command } from '../engine/commands.ts';
import type { EngineEvent } from '../engine/events.ts';
import { END_REASONS, REFUSALS, type Outcome } from '../engine/refusals.ts';
import type { Engine } from '../engine/read/views.ts';
import type { Checker } from './checker.ts';

/** `event orderEnded selfTrade`, `refusal nonce_used`, `command placeOrder`: how often. */
export type Counts = Readonly<Record<string, number>>;

/** No code is used again: these belong to rules that are gone, or to what no run is long enough for. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'refusal inverse_market',
  'refusal too_many_markets',
  'refusal vault_not_priced',
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
    if (outcome !== 'ok') bump(this.outcomes, outcome);
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

/** Refusals and ends of orders that these counts do not hold. */
export function neverReached(counts: Counts): string[] {
  const ends = new Set(
    Object.keys(counts).flatMap((key) => {
      const [, kind, reason] = key.split(' ');
      return kind === 'orderEnded' || kind === 'orderRejected' ? [reason] : [];
    }),
  );
  return [
    ...REFUSALS.map((refusal) => `refusal ${refusal}`).filter((key) => counts[key] === undefined),
    ...END_REASONS.filter((reason) => !ends.has(reason)).map((reason) => `end ${reason}`),
  ].filter((key) => !UNREACHABLE.has(key));
}

export function addCounts(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
}

/** What tells events of one kind apart. */
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

/** Cells that count, so that an event costs a look-up and no insertion. */
type Counters = Map<string, { count: number }>;

function bump(counters: Counters, key: string): void {
  const counter = counters.get(key);
  if (counter === undefined) counters.set(key, { count: 1 });
  else counter.count += 1;
}
