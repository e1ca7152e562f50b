/**
 * An exchange whose journal is shared by several servers. One leads: it appends commands and
 * answers once they are committed. The others follow: they replay the rows, verify each chain hash,
 * answer reads with their lag, and take over when the lease of the leader runs out.
 *
 * A leader that is deposed, or that finds another journal than it wrote, stops for good: its state
 * may contain commands that were never committed. `onStopped` closes its server; a restart follows.
 *
 * While the store is out of reach, a leader keeps its commands and repeats the append. It answers
 * nothing after its lease, and goes on if its epoch is still in force once the store is back.
 */
import type { Command } from '../engine/commands.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/refusals.ts';
import type {
  OrderDigest,
  ReplicaStatus,
  ServedExchange,
  SnapshotHealth,
} from '../journal/served-exchange.ts';
import { mustOpen } from '../journal/opening.ts';
import { StoreStopped } from '../journal/store-stopped.ts';
import type { OrderId } from '../num/units.ts';
import { GroupCommit } from './group-commit.ts';
import { Lease } from './lease.ts';
import {
  load,
  sleep,
  type ReplicaRecovery,
  type ReplicatedOptions,
  type Started,
} from './load-journal.ts';
import { EMPTY, type Leadership, type Poll } from './ports.ts';
import { ReplicationError } from './replication-error.ts';
import { Tail } from './tail.ts';

/** Share of a lease; a follower that had no answer for longer begins to wait again. */
const MOST_GAP = 0.5;

interface Leading {
  readonly epoch: number;
  readonly lease: Lease;
  readonly commits: GroupCommit;
}

export class ReplicatedExchange implements ServedExchange {
  readonly recovery: ReplicaRecovery;
  readonly recordedIds: OrderDigest[];
  readonly snapshots: SnapshotHealth;
  orderIds: () => Iterable<OrderDigest> = () => [];
  private readonly options: ReplicatedOptions;
  private readonly tail: Tail;
  private leading: Leading | null = null;
  /** Reason for which this server answers nothing. */
  private stopped: string | null = null;
  private seen: Leadership;
  /** When `seen` was first seen, or was seen again after the store was out of reach. */
  private seenMs: number;
  /** When the store last answered. */
  private polledMs: number;
  /** Everything committed before this time is in the state. */
  private freshMs: number;
  private following: Promise<void> = Promise.resolve();
  private wake: () => void = () => undefined;
  private closing = false;
  private isSnapshotting = false;
  private snapshotAskedSeq: number;
  private readonly sinks: EventSink[] = [];
  private readonly idListeners: ((first: number, digests: readonly string[]) => void)[] = [];
  private readonly stopListeners: ((reason: string) => void)[] = [];
  private readonly emit = (event: EngineEvent): void => {
    for (const sink of this.sinks) sink(event);
  };

  private constructor(options: ReplicatedOptions, started: Started) {
    this.options = options;
    this.tail = started.tail;
    this.recovery = started.recovery;
    this.recordedIds = started.orderIds;
    this.seen = started.seen;
    this.seenMs = options.ticker.nowMs();
    this.polledMs = this.seenMs;
    this.freshMs = started.freshMs;
    const { snapshotSeq } = started.recovery;
    this.snapshotAskedSeq = snapshotSeq;
    this.snapshots = { seq: snapshotSeq, seconds: 0, failures: 0, mismatch: false };
  }

  /**
   * Opens the journal, or creates it if this server may lead. Throws `ReplicationError` if another
   * server leads, and an error of the store if it is out of reach.
   */
  static async open(options: ReplicatedOptions): Promise<ReplicatedExchange> {
    const { start, ticker, pollMs } = options;
    let isWaiting = false;
    for (;;) {
      const started = await load(options);
      if (started !== null) {
        const exchange = new ReplicatedExchange(options, started);
        if (start === 'lead') await exchange.mustTakeLead();
        exchange.following = exchange.run();
        return exchange;
      }
      if (start === 'lead') {
        const created = await ReplicatedExchange.begin(options);
        if (created !== null) return created;
        // Another server has created it meanwhile.
        continue;
      }
      if (!isWaiting)
        options.onProblem('the journal is empty; this server waits for a leader', 'leader_awaited');
      isWaiting = true;
      await sleep(ticker, pollMs);
    }
  }

  /** null if another server was faster. */
  private static async begin(options: ReplicatedOptions): Promise<ReplicatedExchange | null> {
    const { store, self, ticker, leaseMs } = options;
    const { config, opening } = options.create();
    const { lead } = await store.poll(0);
    // Another server is creating the journal, or has ended while it did.
    if (lead.holder !== '') await sleep(ticker, leaseMs);
    const sentMs = ticker.nowMs();
    const epoch = await store.takeLead(lead, self);
    if (epoch === null || (await store.base()) !== null) return null;
    const engine = new Exchange(config);
    const exchange = new ReplicatedExchange(options, {
      tail: new Tail(engine, EMPTY),
      recovery: { isNew: true, snapshotSeq: 0, replayed: 0, stateHash: '' },
      orderIds: [],
      seen: { epoch, beat: 0, ...self },
      freshMs: sentMs,
    });
    exchange.lead(epoch, sentMs);
    // A journal begins with a row, so an exchange without markets begins with a time.
    const first: Command = { kind: 'advanceTime', timeUs: config.genesisTimeUs };
    for (const command of opening.length > 0 ? opening : [first]) {
      mustOpen(command, exchange.submit(command));
    }
    await exchange.durable();
    exchange.mustRun();
    return exchange;
  }

  get engine(): Exchange {
    return this.tail.engine;
  }

  get failure(): Error | null {
    const reason = this.refusal();
    return reason === null ? null : new StoreStopped(reason);
  }

  get waiting(): number {
    return this.leading?.commits.waiting ?? 0;
  }

  get path(): string {
    return this.options.path;
  }

  /** Bytes that this server has appended. */
  get journalBytes(): number {
    return this.leading?.commits.bytesWritten ?? 0;
  }

  get durableSeq(): number {
    return this.leading?.commits.end.seq ?? this.tail.end.seq;
  }

  get lastSyncSeconds(): number {
    return (this.leading?.commits.lastSyncMs ?? 0) / 1000;
  }

  get replica(): ReplicaStatus {
    const { leading, seen, stopped } = this;
    if (stopped !== null) return { role: 'stopped', epoch: seen.epoch, lagMs: 0, leader: '' };
    if (leading !== null) {
      return {
        role: 'leader',
        epoch: leading.epoch,
        lagMs: leading.lease.lapsedMs,
        leader: this.options.self.address,
      };
    }
    const lagMs = this.options.ticker.nowMs() - this.freshMs;
    return { role: 'follower', epoch: seen.epoch, lagMs, leader: seen.address };
  }

  onEvent(sink: EventSink): void {
    this.sinks.push(sink);
  }

  /** The exchange is never replaced: a server that loses its state stops. */
  onReset(): void {
    // No listener is ever called.
  }

  onOrderIds(listener: (first: number, digests: readonly string[]) => void): void {
    this.idListeners.push(listener);
  }

  /** Called once with the reason when this server stops for good. */
  onStopped(listener: (reason: string) => void): void {
    if (this.stopped === null) this.stopListeners.push(listener);
    else listener(this.stopped);
  }

  submit(command: Command): Outcome {
    const refusal = this.refusal();
    const { leading } = this;
    if (refusal !== null || leading === null) throw new StoreStopped(refusal ?? 'it follows');
    leading.commits.add(command);
    try {
      return this.engine.apply(command, this.sinks.length > 0 ? this.emit : undefined);
    } catch (error) {
      this.stop(`the engine failed: ${(error as Error).message}`);
      throw error;
    } finally {
      this.snapshotIfDue();
    }
  }

  recordOrderIds(first: OrderId, digests: readonly string[]): void {
    this.leading?.commits.addOrderIds(first, digests);
  }

  durable(): Promise<void> | null {
    const { leading, stopped } = this;
    // A commit would prove that no other server leads, but it may never come.
    if (stopped === null && leading !== null) {
      const reason = this.refusal();
      if (reason !== null) return Promise.reject(new StoreStopped(reason));
    }
    return this.committed();
  }

  committed(): Promise<void> | null {
    const { leading, stopped } = this;
    if (stopped !== null) return Promise.reject(new StoreStopped(stopped));
    return leading?.commits.settled() ?? null;
  }

  /** Reason for which a command is refused. */
  private refusal(): string | null {
    const { leading, stopped, seen } = this;
    if (stopped !== null) return stopped;
    if (leading === null) {
      const leader = seen.address === '' ? 'another server' : seen.address;
      return `this server follows ${leader}, which takes commands`;
    }
    if (!leading.lease.isValid) return LAPSED;
    if (leading.commits.takesNone) return 'the database takes no commands';
    return null;
  }

  /** Takes over without waiting for a follower's turn; fails if a leader renews its lease. */
  private async mustTakeLead(): Promise<void> {
    const { ticker, leaseMs, pollMs } = this.options;
    const firstMs = ticker.nowMs();
    let { beat, epoch } = this.seen;
    // A lease that is never renewed is that of a leader that has ended.
    while (!this.isLeading()) {
      await this.step();
      if (this.isLeading()) return;
      if (this.seen.epoch !== epoch || this.seen.beat !== beat) {
        ({ beat, epoch } = this.seen);
        if (ticker.nowMs() - firstMs > leaseMs) {
          throw new ReplicationError(
            `${this.options.path}: epoch ${String(epoch)} is led by ${this.seen.holder}; start this server with --follow`,
          );
        }
      }
      await sleep(ticker, pollMs);
    }
  }

  private isLeading(): boolean {
    return this.leading !== null;
  }

  /** Follows until this server leads, stops or closes. */
  private async run(): Promise<void> {
    const { ticker, pollMs, onProblem } = this.options;
    /** The last failure, and the leadership that was seen then. */
    let failed = null as { readonly isRead: boolean; readonly seen: Leadership } | null;
    while (this.leading === null && !this.hasEnded()) {
      let isMore = false;
      const sentMs = ticker.nowMs();
      try {
        isMore = await this.step();
        // The lead may fail again at the next attempt, so a poll in between proves nothing.
        if (failed !== null && (failed.isRead || !isSame(failed.seen, this.seen))) {
          const what = failed.isRead ? 'the journal is read again' : 'the lead is renewed again';
          onProblem(what, 'reads_resumed');
          failed = null;
        }
      } catch (error) {
        if (error instanceof ReplicationError) {
          this.stop(error.message);
          return;
        }
        // A role or a database that cannot be written may still be read.
        const isRead = this.polledMs < sentMs;
        const what = isRead ? 'the journal is not read' : 'the lead is not taken';
        if (failed?.isRead !== isRead) {
          onProblem(`${what}: ${(error as Error).message}`, 'reads_delayed');
        }
        failed = { isRead, seen: this.seen };
      }
      if (isMore)
        await new Promise<void>((resolve) => {
          ticker.soon(resolve);
        });
      else await this.pause(pollMs);
    }
  }

  private hasEnded(): boolean {
    return this.closing || this.stopped !== null;
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.options.ticker.after(ms, resolve);
      this.wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /** One poll: applies rows, and takes over if the lease has run out. True if more rows follow. */
  private async step(): Promise<boolean> {
    const { store, ticker, leaseMs, self } = this.options;
    const sentMs = ticker.nowMs();
    const poll = await store.poll(this.tail.end.seq);
    if (this.hasEnded()) return false;
    const isMore = this.applyPoll(poll);
    if (!isMore) this.freshMs = sentMs;
    const nowMs = ticker.nowMs();
    const isRenewed = !isSame(poll.lead, this.seen);
    // The leader could not reach the store either, so it gets a whole lease to renew.
    if (isRenewed || nowMs - this.polledMs > MOST_GAP * leaseMs) {
      this.seen = poll.lead;
      this.seenMs = nowMs;
    }
    this.polledMs = nowMs;
    if (isMore) return true;
    // A take-over whose answer was lost.
    if (poll.lead.holder === self.holder) {
      const renewedMs = ticker.nowMs();
      if (await store.beat(poll.lead.epoch, this.tail.end))
        await this.takeOver(poll.lead.epoch, renewedMs);
    } else if (poll.lead.holder === '' || nowMs - this.seenMs >= leaseMs) {
      const takenMs = ticker.nowMs();
      const epoch = await store.takeLead(this.seen, self);
      if (epoch !== null) await this.takeOver(epoch, takenMs);
    }
    return false;
  }

  /** Throws `ReplicationError` if the journal is not the one that was applied so far. */
  private applyPoll({ rows, end, lead }: Poll): boolean {
    const { tail } = this;
    if (lead.epoch < this.seen.epoch || end.seq < tail.end.seq) {
      throw new ReplicationError(
        `the journal ends with command ${String(end.seq)} in epoch ${String(lead.epoch)}, but this server has read ` +
          `command ${String(tail.end.seq)} and epoch ${String(this.seen.epoch)}: the database has lost committed rows`,
      );
    }
    tail.apply(rows, {
      onEvent: this.sinks.length > 0 ? this.emit : undefined,
      onOrderIds: (first, digests) => {
        // A server that waits for the lead at its start has no listeners yet.
        if (this.idListeners.length === 0) {
          digests.forEach((digest, i) => this.recordedIds.push([first + i, digest]));
        }
        for (const listener of this.idListeners) listener(first, digests);
      },
    });
    if (end.seq === tail.end.seq && end.chainHash !== tail.end.chainHash) {
      throw new ReplicationError(
        `the journal has another chain hash after command ${String(end.seq)} than the one that this server has read`,
      );
    }
    return end.seq > tail.end.seq;
  }

  /** Reads the rows that the leader before has left, then leads. */
  private async takeOver(epoch: number, sentMs: number): Promise<void> {
    const { store, onProblem } = this.options;
    for (;;) {
      const poll = await store.poll(this.tail.end.seq);
      if (this.hasEnded()) return;
      const isMore = this.applyPoll(poll);
      this.seen = poll.lead;
      this.seenMs = this.options.ticker.nowMs();
      if (poll.lead.epoch !== epoch) return;
      if (!isMore) break;
    }
    this.lead(epoch, sentMs);
    onProblem(
      `this server leads from command ${String(this.tail.end.seq)} on, epoch ${String(epoch)}`,
      'lead_taken',
    );
  }

  private lead(epoch: number, sentMs: number): void {
    const { store, ticker, leaseMs, onProblem } = this.options;
    const onLost = (reason: string): void => {
      this.stop(`leadership is lost: ${reason}`);
    };
    const shared = { store, ticker, epoch, leaseMs, onLost, onProblem };
    const commits = new GroupCommit({
      ...shared,
      engine: this.engine,
      end: this.tail.end,
      position: this.tail.position,
    });
    const lease = new Lease({ ...shared, sentMs, end: () => commits.end });
    this.leading = { epoch, lease, commits };
    this.wake();
  }

  private mustRun(): void {
    if (this.stopped !== null) throw new ReplicationError(this.stopped);
  }

  private stop(reason: string): void {
    if (this.stopped !== null) return;
    this.stopped = reason;
    this.leading?.lease.stop();
    this.leading?.commits.stop(reason);
    this.wake();
    for (const listener of this.stopListeners) listener(reason);
  }

  private snapshotIfDue(): void {
    const { snapshotEvery } = this.options;
    const due = this.durableSeq - this.snapshotAskedSeq >= snapshotEvery;
    if (snapshotEvery === 0 || !due || this.isSnapshotting) return;
    this.snapshot().catch(() => undefined);
  }

  async snapshot(): Promise<string> {
    const { leading, options } = this;
    if (leading === null) throw new StoreStopped('the leader writes the snapshots');
    this.isSnapshotting = true;
    const startedMs = options.ticker.nowMs();
    try {
      const waits = this.durable();
      if (waits !== null) await waits;
      // The end of a row, where a replay can start.
      const { seq, chainHash } = leading.commits.end;
      this.snapshotAskedSeq = seq;
      await options.rehearse(seq, chainHash);
      this.snapshots.seq = seq;
      this.snapshots.seconds = (options.ticker.nowMs() - startedMs) / 1000;
      return `snapshot of command ${String(seq)}`;
    } catch (error) {
      if (!this.closing) {
        this.snapshots.failures += 1;
        options.onProblem(`no snapshot: ${(error as Error).message}`, 'snapshot_failed');
      }
      throw error;
    } finally {
      this.isSnapshotting = false;
    }
  }

  /** Commits pending commands, for at most a lease, and gives up the lead. */
  async close(): Promise<void> {
    this.closing = true;
    this.wake();
    const { leading, options } = this;
    const { store, ticker, leaseMs } = options;
    await this.following;
    if (leading !== null && this.stopped === null) {
      const pending = leading.commits.settled();
      if (pending !== null) {
        await Promise.race([pending.catch(() => undefined), sleep(ticker, leaseMs)]);
      }
      leading.lease.stop();
      leading.commits.stop('this server has ended');
      await store.resign(leading.epoch).catch(() => undefined);
    }
    await store.close();
  }
}

/** Whether no renewal and no take-over is between two polls. */
const isSame = (a: Leadership, b: Leadership): boolean => a.epoch === b.epoch && a.beat === b.beat;

const LAPSED = 'the lease of this leader has run out; the database is out of reach';
