/** Eight clients of a replicated exchange, and what they saw of it. */
import type { Read, Write } from '../../replication/observed.ts';
import { SIM_TOKEN, sleep } from '../server-process.ts';

const CLIENTS = 8;
const ACCOUNT = `0x${'c'.repeat(40)}`;
const QUANTA = 1_000_000n;
const TIMEOUT_MS = 2500;
/** Pause of a client between two requests. */
const PAUSE_MS = 15;

export class Clients {
  readonly writes: Write[] = [];
  readonly reads: Read[] = [];
  /** URLs of all servers; the leader's is found by trying. */
  urls: readonly string[];
  private isOver = false;
  private readonly running: Promise<void>[];

  constructor(urls: readonly string[]) {
    this.urls = urls;
    this.running = Array.from({ length: CLIENTS }, (_, i) => this.client(i));
  }

  /** Time of the first answer to a write that was begun after this; NaN if there is none. */
  answerSince(ms: number): number {
    const times = this.writes.flatMap(({ invokedMs, answer }) =>
      invokedMs > ms && answer !== null ? [answer.atMs] : [],
    );
    return times.length === 0 ? NaN : Math.min(...times);
  }
  get answered(): number {
    return this.writes.filter(({ answer }) => answer !== null).length;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running);
  }

  private async client(number: number): Promise<void> {
    let at = number;
    for (let turn = number; !this.isOver; turn++) {
      const url = this.urls[at % this.urls.length] ?? '';
      const other = this.urls[Math.floor(turn / 3) % this.urls.length] ?? '';
      if (turn % 3 === 0) await this.read(other);
      else if (!(await this.write(url))) at += 1;
      await sleep(PAUSE_MS);
    }
  }

  /** False if it was not answered. */
  private async write(url: string): Promise<boolean> {
    const whole = 1000n + BigInt(this.writes.length);
    const one: Write = {
      amount: whole * QUANTA,
      invokedMs: performance.now(),
      ...{ answer: null, refused: false },
    };
    this.writes.push(one);
    const reply = await request(`${url}/sim/deposit`, {
      method: 'POST',
      body: JSON.stringify({ account: ACCOUNT, amount: String(whole) }),
    });
    if (reply?.status !== 200) return false;
    one.answer = { atMs: performance.now(), place: reply.place, outcome: 'ok' };
    return true;
  }

  private async read(url: string): Promise<void> {
    const invokedMs = performance.now();
    const reply = await request(`${url}/sim/hash`, {});
    if (reply?.status !== 200) return;
    if (reply.role === '') throw new Error('a reply names no role');
    const { sequenceNumber, chainHash } = JSON.parse(reply.text) as Record<string, unknown>;
    this.reads.push({
      ...{ invokedMs, answeredMs: performance.now(), role: reply.role, lagMs: reply.lagMs },
      ...{ place: Number(sequenceNumber), chainHash: String(chainHash) },
      // It is made after this, so its lag reaches back at least as far as from here.
      madeMs: invokedMs,
    });
  }
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly role: string;
  readonly place: number;
  readonly lagMs: number;
}

async function request(url: string, init: RequestInit): Promise<Reply | null> {
  try {
    const answer = await fetch(url, {
      ...init,
      headers: { authorization: `Bearer ${SIM_TOKEN}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, headers } = answer;
    const role = headers.get('x-orrery-role') ?? '';
    const place = Number(headers.get('x-orrery-place') ?? NaN);
    const lagMs = Number(headers.get('x-orrery-lag-ms') ?? NaN);
    return { status, text: await answer.text(), role, place, lagMs };
  } catch {
    return null;
  }
}
