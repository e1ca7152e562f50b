/** Workers and commands of campaigns as child processes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from './server-process.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class Command {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  err = '';

  constructor(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    this.child = spawn(process.execPath, [CLI, ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    this.child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.err += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code) => {
        resolve({ code, out, err: this.err });
      });
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** SHA-256 by name of each file of a folder and its folders. */
export function hashesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    names.map((name) => [
      name.slice(folder.length + 1),
      createHash('sha256').update(readFileSync(name)).digest('hex'),
    ]),
  );
}
