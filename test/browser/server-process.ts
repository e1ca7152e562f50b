/** `orrery serve` as a process of its own, which a test can kill. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Wallet } from 'ethers';
import { HttpMatcherClient } from '../../src/http-client/index.ts';

export const SIM = 'sim-token';
export const OPERATOR = 'operator-token';
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export class ServerProcess {
  private readonly folder = mkdtempSync(join(tmpdir(), 'orrery-screen-'));
  private child: ChildProcess | null = null;
  private port = 0;

  private readonly options: readonly string[];

  private constructor(options: readonly string[]) {
    this.options = options;
  }

  /** `options`: further ones of `orrery serve`. */
  static async start(options: readonly string[] = []): Promise<ServerProcess> {
    const server = new ServerProcess(options);
    writeFileSync(join(server.folder, 'secret'), 's'.repeat(64));
    await server.restart();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** Starts on the data of the last process, on its port. */
  async restart(): Promise<void> {
    const child = spawn(
      process.execPath,
      [
        ...[MAIN, 'serve', '--port', String(this.port)],
        ...(this.options.includes('--clock') ? [] : ['--clock', 'virtual']),
        ...['--sim-token', SIM, '--operator-token', OPERATOR, '--metrics-port', 'off'],
        ...['--data-dir', join(this.folder, 'var')],
        ...['--secret-file', join(this.folder, 'secret')],
        ...this.options,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (bytes: Buffer) => {
        text += bytes.toString('utf8');
        const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
        if (port === undefined) return;
        this.port = Number(port);
        resolve();
      });
      child.once('exit', (code) => {
        reject(new Error(`the server ended with ${String(code)}`));
      });
    });
  }

  /** The next process has this secret: tokens of the last one are not valid. */
  changeSecret(): void {
    writeFileSync(join(this.folder, 'secret'), 't'.repeat(64));
  }

  /** Ends the process without a chance to write. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Where the replay is, µs. */
  async replayUs(): Promise<number> {
    const headers = { authorization: `Bearer ${SIM}` };
    const response = await fetch(`${this.url}/sim/replay`, { headers });
    return ((await response.json()) as { timeUs: number }).timeUs;
  }

  sim(path: string, body: unknown): Promise<void> {
    return this.post(`/sim/${path}`, SIM, body);
  }

  operate(path: string, body: unknown): Promise<void> {
    return this.post(`/operator/${path}`, OPERATOR, body);
  }

  private async post(path: string, token: string, body: unknown): Promise<void> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  }

  /** Places a limit order of another wallet. */
  async place(signer: Wallet, terms: Readonly<Record<string, unknown>>): Promise<void> {
    const client = new HttpMatcherClient({ url: this.url, signer });
    await client.send('submitOrder', {
      account: signer.address,
      subaccountIndex: 0,
      symbol: 'BTC-USD-PERP',
      orderType: 'limit',
      price: '60000',
      quantity: '1',
      expiresAt: 9_007_199_254_740_991,
      originator: `0x${'0'.repeat(40)}`,
      originatorFee: 0,
      flags: { ioc: false, postOnly: false, reduceOnly: false },
      ...terms,
    });
  }
}
