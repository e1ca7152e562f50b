/**
 * One seeded round on machines of its own: a primary and its synchronous standby, a leader, two
 * followers and eight clients. Each round loses the leader to kill -9, to a pause longer than its
 * lease and to a partition, and the primary of the database, in an order of its seed; then the
 * checker replays what the clients saw.
 */
import type { ChildProcess } from 'node:child_process';
import { PostgresStore } from '../../../src/postgres/postgres-store.ts';
import type { JournalRow } from '../../../src/replication/ports.ts';
import { Alea } from '../../../src/virtual-time/alea.ts';
import { contradictionOf } from '../../replication/observed.ts';
import { CLI, SIM_TOKEN, sleep, until } from '../server-process.ts';
import { Clients } from './clients.ts';
import { Database } from './database.ts';
import type { Machine, NetworkName } from './network.ts';

export const MACHINES = 5;
const LEASE_MS = 1500;
const PORT = 8080;
const SERVED_MS = 30_000;

/** Planted: the standby is asynchronous, and lacks the last commits when it is promoted. */
const LOSES_TAIL = process.env['ORRERY_ROUND_FLAW'] === 'lost tail';

const LOSSES = ['kill', 'pause', 'cut', 'promotion'] as const;
type Loss = (typeof LOSSES)[number];

export interface RoundResult {
  readonly seed: number;
  /** Null if all holds. */
  readonly contradiction: string | null;
  readonly losses: readonly string[];
  /** From kill -9 of the leader until another server leads. */
  readonly takeoverMs: number;
  /** From the loss of the primary until a client has an answer to a write. */
  readonly promotionMs: number;
  readonly writes: number;
  readonly answered: number;
  readonly reads: number;
  readonly epochs: number;
}

class Server {
  readonly machine: Machine;
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  log = '';

  constructor(machine: Machine, journal: string, flags: readonly string[]) {
    this.machine = machine;
    const host = machine.address('clients');
    const args = ['serve', '--host', host, '--port', String(PORT), '--journal', journal];
    const always = ['--trust-signatures', '--sim-token', SIM_TOKEN, '--clock', 'virtual'];
    const lease = ['--lease-ms', String(LEASE_MS), '--advertise', this.url];
    const line = [CLI, ...args, ...always, ...lease, ...flags];
    const env = { ...process.env, ORRERY_SECRET: 's'.repeat(32) };
    this.child = machine.start(process.execPath, line, env);
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    }
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
  }

  get url(): string {
    return `http://${this.machine.address('clients')}:${PORT}`;
  }

  async is(path: string): Promise<boolean> {
    const signal = AbortSignal.timeout(500);
    const answer = await fetch(this.url + path, { signal }).catch(() => null);
    await answer?.text().catch(() => '');
    return answer?.status === 200;
  }
}

export class Round {
  private readonly random: Alea;
  private readonly seed: number;
  private readonly servers: Server[] = [];
  private readonly databases: Database[] = [];
  private readonly machines: readonly Machine[];
  private journal = '';

  constructor(seed: number, machines: readonly Machine[]) {
    this.seed = seed;
    this.machines = machines;
    this.random = Alea.fromSeed(`round ${seed}`);
  }

  async run(): Promise<RoundResult> {
    const [first, second, ...others] = this.machines;
    const primary = Database.primary(first!);
    this.databases.push(primary);
    const standby = await Database.standby(primary, second!, !LOSES_TAIL);
    this.databases.push(standby);
    const hosts = `${primary.host}:5432,${standby.host}:5432`;
    this.journal = `postgres://postgres@${hosts}/postgres`;
    this.serve(others[0]!, []);
    await until(() => this.leader().then((one) => one !== null), SERVED_MS);
    for (const machine of others.slice(1)) this.serve(machine, ['--follow']);
    await this.serves(3);
    const clients = new Clients(this.servers.map(({ url }) => url));
    const losses: string[] = [];
    let [takeoverMs, promotionMs] = [NaN, NaN];
    for (const loss of this.shuffled()) {
      await sleep(200 + 600 * this.random.next());
      const lostMs = performance.now();
      if (loss === 'promotion') {
        const [text, isLostMs] = await this.losePrimary(primary, standby);
        losses.push(text);
        const answerMs = (): number => clients.answerSince(isLostMs);
        await until(() => Promise.resolve(!Number.isNaN(answerMs())), SERVED_MS);
        promotionMs = answerMs() - lostMs;
      } else {
        const [text, ms] = await this.loseLeader(loss);
        losses.push(text);
        if (loss === 'kill') takeoverMs = ms;
        const answerMs = (): number => clients.answerSince(lostMs + ms);
        await until(() => Promise.resolve(!Number.isNaN(answerMs())), SERVED_MS);
      }
      await this.serves(2);
    }
    await sleep(300);
    await clients.stop();
    const rows = await rowsOf(standby.address());
    const { writes, reads } = clients;
    const contradiction = contradictionOf({ writes, reads, rows });
    const epochs = new Set(rows.map(({ epoch }) => epoch)).size;
    return {
      ...{ seed: this.seed, contradiction, losses, takeoverMs, promotionMs, epochs },
      ...{ writes: writes.length, answered: clients.answered, reads: reads.length },
    };
  }

  end(): void {
    for (const { child } of this.servers) child.kill('SIGKILL');
    for (const machine of this.machines) for (const one of NETWORKS) machine.heal(one);
    for (const database of this.databases) database.remove();
  }

  private serve(machine: Machine, flags: readonly string[]): void {
    const at = this.servers.findIndex((one) => one.machine === machine);
    const server = new Server(machine, this.journal, flags);
    if (at < 0) this.servers.push(server);
    else this.servers[at] = server;
  }

  private async leader(): Promise<Server | null> {
    for (const server of this.servers) if (await server.is('/leaderz')) return server;
    return null;
  }

  /** On a busy machine a lease may run out, and another server lead. */
  private async someLeader(): Promise<Server> {
    const startedMs = performance.now();
    for (;;) {
      const one = await this.leader();
      if (one !== null) return one;
      if (performance.now() - startedMs > SERVED_MS) throw new Error('no server leads');
      await sleep(20);
    }
  }

  /** Waits until one leads and so many serve; another one may still start. */
  private async serves(least: number): Promise<void> {
    await until(async () => {
      const ready = await Promise.all(this.servers.map((server) => server.is('/readyz')));
      return ready.filter(Boolean).length >= least && (await this.leader()) !== null;
    }, SERVED_MS);
  }

  private shuffled(): Loss[] {
    const left = [...LOSSES];
    const order: Loss[] = [];
    while (left.length > 0) {
      order.push(...left.splice(Math.floor(this.random.next() * left.length), 1));
    }
    return order;
  }

  /** Returns what was done, and the ms until another server leads. */
  private async loseLeader(loss: Loss): Promise<[text: string, ms: number]> {
    const old = await this.someLeader();
    const others = this.servers.filter((server) => server !== old);
    const apart: readonly NetworkName[] = this.random.next() < 0.5 ? NETWORKS : ['data'];
    if (loss === 'kill') old.child.kill('SIGKILL');
    else if (loss === 'pause') old.child.kill('SIGSTOP');
    else for (const network of apart) old.machine.cut(network);
    const ms = await until(async () => {
      return (await Promise.all(others.map((one) => one.is('/leaderz')))).includes(true);
    }, SERVED_MS);
    await sleep(300 * this.random.next());
    if (loss === 'pause') old.child.kill('SIGCONT');
    if (loss === 'cut') for (const network of apart) old.machine.heal(network);
    // A leader that was replaced ends by itself.
    await old.ended;
    this.serve(old.machine, ['--follow']);
    return [loss === 'cut' ? `cut from ${apart.join(' and ')}` : loss, ms];
  }

  /**
   * The primary is lost, and is not back: whoever promotes a standby must see to that. Returns what
   * was done, and a time after which the primary answers nothing.
   */
  private async losePrimary(
    primary: Database,
    standby: Database,
  ): Promise<[text: string, isLostMs: number]> {
    const isCut = !LOSES_TAIL && this.random.next() < 0.5;
    if (LOSES_TAIL) {
      standby.machine.cut('data');
      await sleep(500);
      primary.kill();
      standby.machine.heal('data');
    } else if (isCut) {
      primary.machine.cut('data');
      await sleep(500 * this.random.next());
    } else primary.kill();
    const isLostMs = performance.now();
    standby.promote();
    if (!isCut) return ['primary killed, standby promoted', isLostMs];
    primary.kill();
    primary.machine.heal('data');
    return ['primary cut off, standby promoted', isLostMs];
  }
}

const NETWORKS: readonly NetworkName[] = ['data', 'clients'];

async function rowsOf(address: string): Promise<JournalRow[]> {
  const store = new PostgresStore({ address, answerMs: 10_000 });
  const rows: JournalRow[] = [];
  for (;;) {
    const poll = await store.poll(rows.at(-1)?.lastSeq ?? 0);
    if (poll.rows.length === 0) break;
    rows.push(...poll.rows);
  }
  await store.close();
  return rows;
}
