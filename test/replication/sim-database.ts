/**
 * The store of a replicated exchange in a simulation: one database behind a network that loses,
 * delays and repeats requests and answers. Appends and take-overs wait for each other, as they do
 * for the lock on the row of the epoch; a commit takes time.
 */
import type {
  Candidate,
  JournalBase,
  JournalEnd,
  JournalRow,
  JournalStore,
  Leadership,
  Poll,
} from '../../src/replication/ports.ts';
import { EMPTY } from '../../src/replication/ports.ts';
import type { World } from './sim-world.ts';

/** Bugs of replication; each must be found. */
export type Flaw =
  /** A server answers before the commit. */
  | 'answer before commit'
  /** An append does not check the epoch. */
  | 'no epoch in the append'
  /** A leader answers reads after its lease, without saying so. */
  | 'stale read of a leader'
  /** A follower says that it has no lag. */
  | 'stale read of a follower'
  /** A take-over does not compare with what it has seen. */
  | 'double take-over'
  /** A new leader does not read what the one before has left. */
  | 'lost tail at take-over'
  /** A standby of the database that lacks the last commits is promoted. */
  | 'lost tail at promotion'
  /** An append with an unknown outcome is repeated as a new one. */
  | 'repeated append';

interface State {
  readonly rows: readonly JournalRow[];
  readonly lead: Leadership;
}

const ROWS_A_POLL = 4;
const TIMEOUT_MS = 1000;

export class SimDatabase {
  readonly world: World;
  readonly flaw: Flaw | null;
  private state: State = { rows: [], lead: { epoch: 0, beat: 0, holder: '', address: '' } };
  /** States by the time of their commit, for a promotion without the last of them. */
  private readonly past: { readonly atMs: number; readonly state: State }[] = [];
  /** End of the last write that holds the lock. */
  private lockedMs = 0;
  private downMs = 0;
  /** Counts failures: writes in progress at one of them are lost. */
  private incarnation = 0;
  /** Holders of each epoch. */
  readonly leaders = new Map<number, Set<string>>();

  constructor(world: World, flaw: Flaw | null) {
    this.world = world;
    this.flaw = flaw;
  }

  get rows(): readonly JournalRow[] {
    return this.state.rows;
  }
  get isDown(): boolean {
    return this.world.nowMs < this.downMs;
  }

  /** The primary is lost and a standby takes its place. */
  promote(downMs: number): void {
    this.downMs = this.world.nowMs + downMs;
    this.lockedMs = this.downMs;
    this.incarnation += 1;
    if (this.flaw !== 'lost tail at promotion') return;
    const knownMs = this.world.nowMs - this.world.between(20, 400);
    while (this.past.length > 1 && this.past.at(-1)!.atMs > knownMs) this.past.pop();
    this.state = this.past.at(-1)?.state ?? this.state;
  }

  poll(afterSeq: number): Poll {
    const { rows, lead } = this.state;
    let first = rows.length;
    while (first > 0 && rows[first - 1]!.firstSeq > afterSeq) first -= 1;
    return { lead, end: endOf(rows), rows: rows.slice(first, first + ROWS_A_POLL) };
  }

  takeLead(seen: Leadership, { holder, address }: Candidate): number | null {
    const { rows, lead } = this.state;
    if (this.flaw !== 'double take-over') {
      if (lead.epoch !== seen.epoch || lead.beat !== seen.beat) return null;
    }
    const epoch = seen.epoch + 1;
    this.commit({ rows, lead: { epoch, beat: 0, holder, address } });
    const holders = this.leaders.get(epoch) ?? new Set();
    this.leaders.set(epoch, holders.add(holder));
    return epoch;
  }

  beat(epoch: number, end: JournalEnd): boolean {
    const { rows, lead } = this.state;
    const has = rows.some(
      ({ lastSeq, chainHash }) => lastSeq === end.seq && chainHash === end.chainHash,
    );
    if (end.seq > 0 && !has) return false;
    if (lead.epoch !== epoch || lead.holder === '') return false;
    this.commit({ rows, lead: { ...lead, beat: lead.beat + 1 } });
    return true;
  }

  resign(epoch: number): void {
    const { rows, lead } = this.state;
    if (lead.epoch !== epoch) return;
    this.commit({ rows, lead: { ...lead, beat: lead.beat + 1, holder: '', address: '' } });
  }

  append(row: JournalRow, after: JournalEnd): boolean {
    const { rows, lead } = this.state;
    if (lead.epoch !== row.epoch && this.flaw !== 'no epoch in the append') return false;
    const end = endOf(rows);
    if (end.seq !== after.seq || end.chainHash !== after.chainHash) return false;
    this.commit({ rows: [...rows, row], lead });
    return true;
  }

  /** Runs a write while it holds the lock; `done` gets its result once it is committed. */
  locked<T>(run: () => T, done: (result: T) => void): void {
    const { world } = this;
    // A slow disk, or a standby that is slow to answer.
    const commitMs = world.chance(0.03) ? world.between(50, 900) : world.between(0.2, 4);
    this.lockedMs = Math.max(this.lockedMs, world.nowMs) + commitMs;
    const { incarnation } = this;
    world.after(this.lockedMs - world.nowMs, () => {
      if (incarnation === this.incarnation) done(run());
    });
  }

  private commit(state: State): void {
    this.state = state;
    this.past.push({ atMs: this.world.nowMs, state });
  }
}

/** A node as the network sees it, with its own faults beside those of all. */
export interface Link {
  isAlive: boolean;
  cutUntilMs: number;
  /** Runs a function on the node once it is not paused. */
  readonly deliver: (run: () => void) => void;
}

/** The connection of one node. */
export class SimStore implements JournalStore {
  private readonly database: SimDatabase;
  private readonly link: Link;
  /** Share of requests and of answers that are lost, delayed or come twice. */
  private readonly loss: () => number;
  /** For `lost tail at take-over`: what the node has seen of the journal. */
  private hidesTail = false;
  private seenSeq = 0;

  constructor(database: SimDatabase, link: Link, loss: () => number) {
    this.database = database;
    this.link = link;
    this.loss = loss;
  }

  base(): Promise<JournalBase | null> {
    return this.call(() => {
      const header = this.database.rows[0]?.header ?? null;
      return header === null ? null : { header, snapshot: null };
    });
  }

  async poll(afterSeq: number): Promise<Poll> {
    const poll = await this.call(() => this.database.poll(afterSeq));
    if (this.hidesTail) {
      this.hidesTail = false;
      const end = this.database.rows.find(({ lastSeq }) => lastSeq === afterSeq);
      if (end !== undefined) return { ...poll, rows: [], end: endOf([end]) };
    }
    this.seenSeq = Math.max(this.seenSeq, poll.rows.at(-1)?.lastSeq ?? 0);
    return poll;
  }

  async takeLead(seen: Leadership, by: Candidate): Promise<number | null> {
    const epoch = await this.callLocked(() => this.database.takeLead(seen, by));
    this.hidesTail = epoch !== null && this.database.flaw === 'lost tail at take-over';
    return epoch;
  }

  beat(epoch: number, end: JournalEnd): Promise<boolean> {
    return this.call(() => this.database.beat(epoch, end));
  }

  resign(epoch: number): Promise<void> {
    return this.call(() => {
      this.database.resign(epoch);
    });
  }

  async append(row: JournalRow, after: JournalEnd): Promise<boolean> {
    const run = (): boolean => this.database.append(row, after);
    if (this.database.flaw !== 'repeated append') return this.callLocked(run);
    // Lets go of the commands of an append whose answer is lost, as if it had been rolled back.
    return this.callLocked(run).catch(() => true);
  }

  saveSnapshot(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }

  private call<T>(run: () => T): Promise<T> {
    return this.send((answer) => {
      answer(run());
    });
  }

  private callLocked<T>(run: () => T): Promise<T> {
    return this.send((answer) => {
      this.database.locked(run, answer);
    });
  }

  /** A request over the network; an answer that does not come is a rejection after a time. */
  private send<T>(handle: (answer: (result: T) => void) => void): Promise<T> {
    const { database, link } = this;
    const { world } = database;
    return new Promise((resolve, reject) => {
      const fail = (text: string): void => {
        link.deliver(() => {
          reject(new Error(text));
        });
      };
      world.after(TIMEOUT_MS, () => {
        fail('no answer in time');
      });
      const arrive = (): void => {
        if (world.nowMs < link.cutUntilMs) return;
        if (database.isDown) {
          fail('connection refused');
          return;
        }
        handle((result) => {
          if (world.chance(this.loss()) || world.nowMs < link.cutUntilMs) return;
          world.after(this.delayMs(), () => {
            link.deliver(() => {
              resolve(result);
            });
          });
        });
      };
      if (!world.chance(this.loss())) world.after(this.delayMs(), arrive);
      // Arrives twice, once perhaps long after the node has given up.
      if (world.chance(this.loss())) world.after(world.between(0, 3 * TIMEOUT_MS), arrive);
    });
  }

  private delayMs(): number {
    const { world } = this.database;
    return world.chance(this.loss()) ? world.between(10, 1500) : world.between(0.1, 3);
  }
}

function endOf(rows: readonly JournalRow[]): JournalEnd {
  const last = rows.at(-1);
  return last === undefined ? EMPTY : { seq: last.lastSeq, chainHash: last.chainHash };
}
