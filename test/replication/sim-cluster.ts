/**
 * One seeded schedule: three servers on one database, clients, and faults. Servers are killed,
 * paused and cut off, their clocks run at different rates, commits are slow, answers are lost or
 * come twice, and the database fails over.
 */
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { StoreStopped } from '../../src/journal/store-stopped.ts';
import { address, quanta, timeUs, type TimeUs } from '../../src/num/units.ts';
import type { Ticker } from '../../src/replication/ports.ts';
import { ReplicatedExchange } from '../../src/replication/replicated-exchange.ts';
import { contradictionOf, type Read, type Write } from './observed.ts';
import { SimDatabase, SimStore, type Flaw, type Link } from './sim-database.ts';
import { World } from './sim-world.ts';

const CONFIG = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs(1_700_000_000_000_000) };
const LEASE_MS = 600;
const POLL_MS = 60;
const FAULTS_MS = 4000;
/** Time without faults and lost answers, after which a write must succeed. */
const CALM_MS = 8000;
const ACCOUNTS = [1, 2, 3].map((n) => address(`0x${n.toString(16).padStart(40, '0')}`));

export interface ScheduleResult {
  /** What is wrong; null if all holds. */
  readonly contradiction: string | null;
  readonly answered: number;
  readonly takeovers: number;
}

class Node implements Link {
  isAlive = true;
  cutUntilMs = 0;
  exchange: ReplicatedExchange | null = null;
  private pausedUntilMs = 0;
  private readonly world: World;
  private readonly rate: number;
  private readonly offsetMs: number;

  constructor(world: World) {
    this.world = world;
    this.rate = world.between(0.98, 1.02);
    this.offsetMs = world.between(0, 1e6);
  }

  readonly deliver = (run: () => void): void => {
    if (!this.isAlive) return;
    const waitMs = this.pausedUntilMs - this.world.nowMs;
    if (waitMs <= 0) run();
    else {
      this.world.after(waitMs, () => {
        this.deliver(run);
      });
    }
  };

  pause(ms: number): void {
    this.pausedUntilMs = Math.max(this.pausedUntilMs, this.world.nowMs + ms);
  }

  readonly ticker: Ticker = {
    nowMs: () => this.offsetMs + this.rate * this.world.nowMs,
    soon: (run) => {
      this.world.after(0, () => {
        this.deliver(run);
      });
    },
    after: (ms, run) => {
      let cancelled = false;
      this.world.after(ms / this.rate, () => {
        this.deliver(() => {
          if (!cancelled) run();
        });
      });
      return () => {
        cancelled = true;
      };
    },
  };

  get nowUs(): TimeUs {
    const wallUs = CONFIG.genesisTimeUs + Math.round(this.world.nowMs * 1000);
    return timeUs(Math.max(this.exchange?.engine.nowUs ?? 0, wallUs));
  }
}

/** Runs the schedule of a seed. */
export async function runSchedule(seed: string, flaw: Flaw | null = null): Promise<ScheduleResult> {
  const world = new World(seed);
  const database = new SimDatabase(world, flaw);
  const loss = world.pick([0, 0.005, 0.03]);
  const nodes: Node[] = [];
  const writes: Write[] = [];
  const reads: Read[] = [];
  let calm = false;
  let opened = 0;

  const start = (at: number): void => {
    const node = new Node(world);
    nodes[at] = node;
    const restart = (): void => {
      node.isAlive = false;
      world.after(world.between(50, 1500), () => {
        if (nodes[at] === node) start(at);
      });
    };
    opened += 1;
    ReplicatedExchange.open({
      store: new SimStore(database, node, () => (calm ? 0 : loss)),
      ticker: node.ticker,
      self: { holder: `server ${opened}`, address: '' },
      path: 'the journal',
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      start: database.rows.length === 0 || world.chance(0.1) ? 'lead' : 'follow',
      checkConfig: () => undefined,
      create: () => ({ config: CONFIG, opening: [] }),
      snapshotEvery: 0,
      rehearse: () => Promise.resolve(),
      onProblem: () => undefined,
    }).then((exchange) => {
      node.exchange = exchange;
      if (flaw === 'stale read of a leader') keepsLease(exchange);
      exchange.onStopped(restart);
    }, restart);
  };

  const write = (node: Node): void => {
    const one: Write = {
      amount: BigInt(1000 + writes.length),
      invokedMs: world.nowMs,
      answer: null,
      refused: false,
    };
    writes.push(one);
    const kind = world.chance(0.7) ? 'deposit' : 'withdraw';
    const account = world.pick(ACCOUNTS);
    world.after(world.between(0, 3), () => {
      node.deliver(() => {
        const { exchange } = node;
        if (exchange === null) return;
        try {
          const command = { kind, timeUs: node.nowUs, account, subaccountIndex: 0 } as const;
          const outcome = exchange.submit({ ...command, amount: quanta(one.amount) });
          const place = exchange.engine.seq;
          const answer = (): void => {
            world.after(world.between(0, 3), () => {
              one.answer = { atMs: world.nowMs, place, outcome };
            });
          };
          const durable = flaw === 'answer before commit' ? null : exchange.committed();
          if (durable === null) answer();
          else durable.then(answer, () => undefined);
        } catch (error) {
          if (!(error instanceof StoreStopped)) throw error;
          one.refused = true;
        }
      });
    });
  };

  const read = (node: Node): void => {
    const invokedMs = world.nowMs;
    world.after(world.between(0, 3), () => {
      node.deliver(() => {
        const { exchange } = node;
        if (exchange === null) return;
        const { role, lagMs } = exchange.replica;
        const made = {
          invokedMs,
          role,
          place: exchange.engine.seq,
          chainHash: exchange.engine.chainHash(),
          lagMs: flaw === 'stale read of a follower' ? 0 : lagMs,
          madeMs: world.nowMs,
        };
        const answer = (): void => {
          world.after(world.between(0, 3), () => {
            reads.push({ ...made, answeredMs: world.nowMs });
          });
        };
        const durable = exchange.durable();
        if (durable === null) answer();
        else durable.then(answer, () => undefined);
      });
    });
  };

  const client = (): void => {
    // Most clients know the leader; a leader that is deposed may still believe that it leads.
    const leaders = nodes.filter(({ exchange, isAlive }) => {
      return isAlive && exchange?.replica.role === 'leader';
    });
    const node = leaders.length > 0 && world.chance(0.8) ? world.pick(leaders) : world.pick(nodes);
    if (world.chance(0.6)) write(node);
    else read(node);
    world.after(world.between(1, 120), client);
  };

  const fault = (): void => {
    if (calm) return;
    const node = world.pick(nodes);
    const at = nodes.indexOf(node);
    const kind = world.between(0, 1);
    if (kind < 0.25) {
      node.isAlive = false;
      world.after(world.between(50, 2000), () => {
        if (nodes[at] === node) start(at);
      });
    } else if (kind < 0.55) node.pause(world.between(50, 3 * LEASE_MS));
    else if (kind < 0.85) node.cutUntilMs = world.nowMs + world.between(50, 3 * LEASE_MS);
    else database.promote(world.between(20, 2 * LEASE_MS));
    world.after(world.between(50, 1000), fault);
  };

  start(0);
  await world.runUntil(300);
  start(1);
  start(2);
  world.after(world.between(0, 400), fault);
  for (let i = 0; i < 3; i++) client();
  await world.runUntil(FAULTS_MS);
  calm = true;
  const countBefore = answeredOf(writes);
  await world.runUntil(FAULTS_MS + 200);
  const isLive = await becomesLive();
  for (const node of nodes) node.isAlive = false;
  const contradiction =
    contradictionOf({ writes, reads, rows: database.rows }) ??
    twoLeaders(database) ??
    (isLive ? null : 'no write succeeds after the faults');
  return { contradiction, answered: answeredOf(writes), takeovers: database.leaders.size };

  async function becomesLive(): Promise<boolean> {
    for (let i = 1; i <= 20; i++) {
      if (answeredOf(writes) > countBefore + 3) return true;
      await world.runUntil(FAULTS_MS + 200 + (i * CALM_MS) / 20);
    }
    return answeredOf(writes) > countBefore;
  }
}

function answeredOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { answer }) => sum + (answer === null ? 0 : 1), 0);
}

function twoLeaders({ leaders }: SimDatabase): string | null {
  for (const [epoch, holders] of leaders) {
    if (holders.size > 1) return `epoch ${epoch} has two leaders`;
  }
  return null;
}

/** Plants a leader that ignores its lease. */
function keepsLease(exchange: ReplicatedExchange): void {
  exchange.durable = () => exchange.committed();
}

/** A fresh exchange of the configuration of all schedules. */
export const freshExchange = (): Exchange => new Exchange(CONFIG);
