/** A served exchange with accounts and orders, one kind of attack on it, and the others' latency. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Server, tokenOf } from '../http/processes.ts';
import { batch, type Login } from './attacks.ts';
import { measure, type Latency } from './victim.ts';

const ATTACKER = fileURLToPath(new URL('attacker.ts', import.meta.url));
const VICTIM = `0x${'2'.repeat(40)}`;
const ACCOUNTS = 64;

export interface AttackOptions {
  readonly connections: number;
  readonly ms: number;
  /** Time from the start of the attacker until the measurement. */
  readonly warmUpMs: number;
  /** Program that starts the attacker with another priority. */
  readonly wrapper?: readonly string[];
}

export interface Attacked {
  readonly latency: Latency;
  /** Cores that the server uses. */
  readonly cores: number;
  /** Durations of the server's turns in ms, sorted. */
  readonly turns: readonly number[];
}

export class Siege {
  readonly server: Server;
  private readonly logins: readonly Login[];
  private readonly victimToken: string;

  private constructor(server: Server, logins: readonly Login[], victimToken: string) {
    this.server = server;
    this.logins = logins;
    this.victimToken = victimToken;
  }

  /** Accounts with 200 open orders each, on a wall clock, so that all limits are on. */
  static async start(): Promise<Siege> {
    const server = await Server.exchange('trust', 'wall');
    const logins: Login[] = [];
    for (let i = 0; i < ACCOUNTS; i++) {
      const account = `0x${i.toString(16).padStart(40, 'b')}`;
      logins.push({ account, token: await tokenOf(account) });
    }
    await server.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
    for (const { account } of [...logins, { account: VICTIM }]) {
      await server.sim('deposit', { account, amount: '1000000' });
    }
    for (const login of logins) for (const round of [0, 1]) await placeBatch(server, login, round);
    return new Siege(server, logins, await tokenOf(VICTIM));
  }

  /** The worse of a health probe and a read with a token. */
  async observe(ms: number): Promise<Latency> {
    const { url } = this.server;
    const all = await Promise.all([
      measure(url, '/healthz', '', ms),
      measure(url, `/account/balance?account=${VICTIM}`, this.victimToken, ms),
    ]);
    return {
      p50: Math.max(...all.map((one) => one.p50)),
      p99: Math.max(...all.map((one) => one.p99)),
      max: Math.max(...all.map((one) => one.max)),
      count: all.reduce((sum, one) => sum + one.count, 0),
      refused: all.reduce((sum, one) => sum + one.refused, 0),
    };
  }

  /** Latency of others during an attack, and the cores that the server uses. */
  async attack(
    name: string,
    { connections, ms, warmUpMs, wrapper = [] }: AttackOptions,
  ): Promise<Attacked> {
    const { server, logins } = this;
    const [file, ...args] = [...wrapper, process.execPath, '--import', 'tsx', ATTACKER];
    const child = spawn(file, [...args, name, server.url, String(connections)], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    child.stdin.end(JSON.stringify(logins));
    try {
      await new Promise((resolve) => setTimeout(resolve, warmUpMs));
      await server.turns();
      const before = server.cpuSeconds();
      const latency = await this.observe(ms);
      const cores = (server.cpuSeconds() - before) / (ms / 1000);
      const turns = [...(await server.turns())].sort((a, b) => a - b);
      return { latency, cores, turns };
    } finally {
      child.kill('SIGKILL');
    }
  }
}

async function placeBatch(server: Server, login: Login, round: number): Promise<void> {
  const [, body = ''] = batch(login, round).toString().split('\r\n\r\n');
  const answer = await fetch(`${server.url}/account/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${login.token}`, 'content-type': 'application/json' },
    body,
  });
  if (!answer.ok) throw new Error(await answer.text());
}
