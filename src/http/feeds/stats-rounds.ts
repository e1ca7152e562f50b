/**
 * Stats of subscribed accounts, in slices of an event-loop turn. Any account may open subaccounts
 * of another one by transfers to it, and thousands of them must not hold the exchange.
 */
import type { ExchangeView } from '../../engine/read/views.ts';
import type { SubaccountId } from '../../num/units.ts';
import type { Held } from './watcher.ts';

const SLICE_MS = 2;

/** One record for one subscription. */
export interface StatsRecord {
  readonly held: Held;
  readonly id: SubaccountId;
}

interface Ports {
  readonly view: () => ExchangeView;
  /** Encodes and sends the records of a slice, which ends once its time is over. */
  readonly send: (records: Iterable<StatsRecord>) => void;
  readonly nowMs?: () => number;
}

type Round = Generator<StatsRecord, void>;

export class StatsRounds {
  private readonly ports: Ports;
  private readonly nowMs: () => number;
  /** They take turns, so that a short round does not wait for a long one. */
  private rounds: Round[] = [];
  private regular: Round | null = null;
  private isScheduled = false;

  constructor(ports: Ports) {
    this.ports = ports;
    this.nowMs = ports.nowMs ?? (() => performance.now());
  }

  /** The first records of a new subscription: the first slice at once. */
  first(held: Held): void {
    this.rounds.unshift(this.round([held]));
    this.runSlice();
  }

  /** Records of all subscriptions, unless those of the last time are not yet sent. */
  all(entries: Iterable<Held>): void {
    if (this.regular !== null && this.rounds.includes(this.regular)) return;
    this.regular = this.round(entries);
    this.rounds.push(this.regular);
    this.runSlice();
  }

  /** Ends all rounds: their subaccounts may be gone. */
  drop(): void {
    this.rounds = [];
  }

  private runSlice(): void {
    this.ports.send(this.slice());
    if (this.rounds.length === 0 || this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.runSlice();
    });
  }

  private *slice(): Generator<StatsRecord, void> {
    const untilMs = this.nowMs() + SLICE_MS;
    for (let round = this.rounds.shift(); round !== undefined; round = this.rounds.shift()) {
      const { value, done } = round.next();
      if (done === true) continue;
      this.rounds.push(round);
      yield value;
      if (this.nowMs() >= untilMs) return;
    }
  }

  /** A watcher gets the record of a subaccount once, also with several subscriptions to it. */
  private *round(entries: Iterable<Held>): Round {
    const shown = new Map<Held['watcher'], Set<SubaccountId>>();
    for (const held of entries) {
      const { watcher, subscription } = held;
      if (subscription.access !== 'private' || !watcher.allows(subscription)) continue;
      const seen = shown.get(watcher) ?? new Set();
      shown.set(watcher, seen);
      for (const { id, index } of this.ports.view().subaccountsOf(subscription.account)) {
        if (!held.active) break;
        if (seen.has(id) || subscription.indices?.includes(index) === false) continue;
        seen.add(id);
        yield { held, id };
      }
    }
  }
}
