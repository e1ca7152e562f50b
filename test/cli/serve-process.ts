/** `orrery serve` as a child process, for tests of its clients. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface ServeProcess {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts it with these flags on a free port; rejects with its output if it ends instead of
 * listening.
 */
export function startServe(flags: readonly string[], cwd?: string): Promise<ServeProcess> {
  const child: ChildProcess = spawn(process.execPath, [CLI, 'serve', '--port', '0', ...flags], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let emitted = '';
  let stdout = '';
  child.stderr?.on('data', (chunk: Buffer) => (emitted += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('exit', () => {
      reject(new Error(emitted));
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const url = /listens on (\S+)/.exec(stdout)?.[1];
      if (url === undefined) return;
      resolve({
        url,
        stop: () =>
          new Promise((done) => {
            child.on('exit', () => {
              done();
            });
            child.kill('SIGTERM');
          }),
      });
    });
  });
}
