/** New servers of a build, one for each attempt to shrink: the next one starts meanwhile. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { InputError } from '../cli-support.ts';

export interface NewServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface ServerCommand {
  /** Shell text of the build's command; null: this process's own. */
  readonly command: string | null;
  readonly configPath: string;
  readonly simToken: string;
}

const START_MS = 60_000;

export class NewServers {
  private readonly server: ServerCommand;
  private next: Promise<NewServer> | null = null;

  constructor(server: ServerCommand) {
    this.server = server;
  }

  async open(): Promise<NewServer> {
    const ready = this.next ?? start(this.server);
    const opened = await ready.finally(() => (this.next = null));
    this.next = start(this.server);
    // Its error is that of the next call.
    this.next.catch(() => undefined);
    return opened;
  }

  /** Ends the server that no one uses. */
  async close(): Promise<void> {
    const waiting = this.next;
    this.next = null;
    await waiting?.then(
      (server) => server.close(),
      () => undefined,
    );
  }
}

async function start({ command, configPath, simToken }: ServerCommand): Promise<NewServer> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-host-'));
  const args = ['serve', '--config', configPath, '--clock', 'virtual', '--sim-token', simToken];
  args.push('--trust-signatures', '--port', '0', '--data-dir', join(folder, 'data'));
  const child = spawned(command, args);
  const close = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { url: await urlOf(child), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** In a process group of its own, since a shell or npx starts further processes. */
function spawned(command: string | null, args: readonly string[]): ChildProcess {
  const options = {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'],
  };
  if (command === null) {
    const own = [...process.execArgv, process.argv[1] ?? ''];
    return spawn(process.execPath, [...own, ...args], options);
  }
  const quoted = args.map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(' ');
  return spawn('/bin/sh', ['-c', `exec ${command} ${quoted}`], options);
}

async function urlOf(child: ChildProcess): Promise<string> {
  const { stdout, stderr } = child;
  if (stdout === null) throw new Error('a server prints its address');
  let stderrText = '';
  stderr?.on('data', (chunk: Buffer) => {
    stderrText = `${stderrText}${chunk.toString()}`.slice(-2000);
  });
  child.once('error', (error) => {
    stderrText = error.message;
    stdout.destroy();
  });
  const timer = setTimeout(() => stdout.destroy(), START_MS);
  try {
    for await (const line of createInterface({ input: stdout })) {
      const [, url] = /^orrery listens on (\S+)/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
  } catch {
    // Ended below.
  } finally {
    clearTimeout(timer);
    stdout.resume();
  }
  throw new InputError(`a new server does not start: ${stderrText.trim()}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
  await closed;
}
