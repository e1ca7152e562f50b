/** `orrery serve` on a shared journal as a child process, and a client of it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const SIM_TOKEN = 'dev';
const SECRET = 's'.repeat(32);

export class ServerProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  url = '';
  /** Standard error. */
  log = '';

  private constructor(child: ChildProcess) {
    this.child = child;
    child.stderr?.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    this.ended = new Promise((resolve) => {
      child.on('exit', resolve);
    });
  }

  /** Rejects with its output if it ends instead of listening. */
  static start(journal: string, flags: readonly string[]): Promise<ServerProcess> {
    const args = [CLI, 'serve', '--port', '0', '--journal', journal, '--trust-signatures'];
    const child = spawn(process.execPath, [...args, '--sim-token', SIM_TOKEN, ...flags], {
      env: { ...process.env, ORRERY_SECRET: SECRET },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const server = new ServerProcess(child);
    return new Promise((resolve, reject) => {
      void server.ended.then((code) => {
        reject(new Error(`exit code ${String(code)}: ${server.log}`));
      });
      let stdout = '';
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
        const url = /listens on (\S+)/.exec(stdout)?.[1];
        if (url === undefined) return;
        server.url = url;
        resolve(server);
      });
    });
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return this.ended;
  }

  get(path: string): Promise<Response> {
    return fetch(this.url + path, {
      headers: { authorization: `Bearer ${SIM_TOKEN}` },
      signal: AbortSignal.timeout(4000),
    });
  }

  /** A command of the simulation; the status of its answer. */
  async deposit(account: string, amount: string): Promise<number> {
    const answer = await fetch(`${this.url}/sim/deposit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SIM_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ account, amount }),
      signal: AbortSignal.timeout(4000),
    });
    await answer.text();
    return answer.status;
  }

  async leads(): Promise<boolean> {
    const answer = await this.get('/leaderz').catch(() => null);
    return answer?.status === 200;
  }

  async hash(): Promise<{ sequenceNumber: number; chainHash: string }> {
    return (await (await this.get('/sim/hash')).json()) as {
      sequenceNumber: number;
      chainHash: string;
    };
  }
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms));

/** Waits until something holds; the time that it took. */
export async function until(holds: () => Promise<boolean>, limitMs = 60_000): Promise<number> {
  const startedMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedMs > limitMs) throw new Error('it did not happen in time');
    await sleep(20);
  }
  return performance.now() - startedMs;
}
