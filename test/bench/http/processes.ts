/**
 * Servers as separate processes, with their processor time (kernel accounting) and memory after a
 * collection.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const SIM_TOKEN = 'bench';
const SECRET = 's'.repeat(32);
/** Clock ticks per second of /proc. */
const TICKS = 100;

/** In MB: resident, and the part used by objects and buffers. */
export interface Memory {
  readonly rss: number;
  readonly used: number;
}

export class Server {
  readonly url: string;
  readonly folder: string | null;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, url: string, folder: string | null) {
    this.child = child;
    this.url = url;
    this.folder = folder;
  }

  static async start(args: readonly string[], folder: string | null = null): Promise<Server> {
    const probe = join(ROOT, 'test/bench/http/probe.mjs');
    const child = spawn(process.execPath, ['--expose-gc', '--import', probe, ...args], {
      cwd: ROOT,
      env: { ...process.env, ORRERY_SECRET: SECRET },
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        const found = /listens on (\S+)/.exec(chunk.toString())?.[1];
        if (found !== undefined) resolve(found);
      });
      child.on('exit', () => {
        reject(new Error(`a server ended: ${args.join(' ')}`));
      });
    });
    return new Server(child, url, folder);
  }

  /** An exchange in its own folder. */
  static exchange(
    signatures: 'trust' | 'verify' = 'trust',
    clock: 'virtual' | 'wall' = 'virtual',
    more: readonly string[] = [],
  ): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
    const cli = join(ROOT, 'dist/cli/main.js');
    const flags = [
      '--port',
      '0',
      '--data-dir',
      folder,
      '--sim-token',
      SIM_TOKEN,
      '--metrics-port',
      'api',
    ];
    const trust = signatures === 'trust' ? ['--trust-signatures'] : [];
    return Server.start([cli, 'serve', ...flags, '--clock', clock, ...trust, ...more], folder);
  }

  /** Processor seconds of the process so far. */
  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${String(this.child.pid)}/stat`, 'utf8');
    const [user = '0', system = '0'] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return (Number(user) + Number(system)) / TICKS;
  }

  /** Memory after a garbage collection. */
  async memory(): Promise<Memory> {
    this.child.send('memory');
    return new Promise((resolve) => {
      this.child.once('message', resolve as (message: unknown) => void);
    });
  }

  /**
   * Processor time of the main thread in each ms or turn of its event loop since the last call, in
   * ms. Unlike a latency it excludes the time for which other processes had the processor.
   */
  async turns(): Promise<readonly number[]> {
    this.child.send('turns');
    return new Promise((resolve) => {
      this.child.once('message', resolve as (message: unknown) => void);
    });
  }

  async sim(path: string, body: unknown): Promise<void> {
    const headers = { authorization: `Bearer ${SIM_TOKEN}`, 'content-type': 'application/json' };
    const answer = await fetch(`${this.url}/sim/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** Ends like a service; resolves with the exit code and keeps the folder. */
  end(): Promise<number | null> {
    return new Promise((resolve) => {
      this.child.once('exit', resolve);
      this.child.kill('SIGTERM');
    });
  }

  stop(): void {
    this.child.kill('SIGKILL');
    if (this.folder !== null) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A token like that of a login, valid at the exchange's virtual time. */
export function tokenOf(account: string): Promise<string> {
  return new SignJWT({ account, signer: account })
    .setProtectedHeader({ alg: 'HS512' })
    .setIssuedAt(1)
    .setExpirationTime(4_000_000_000)
    .sign(new TextEncoder().encode(SECRET));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
