/** Files of `orrery serve` are for its user alone, whatever mask the process inherits. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServe } from './serve-process.ts';

test('files of the data folder have mode 0600, and the folder 0700', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-'));
  try {
    const data = join(folder, 'data');
    const server = await startServe(['--data-dir', data]);
    await server.stop();
    expect(statSync(data).mode & 0o777).toBe(0o700);
    const modes = readdirSync(data).map((name) => statSync(join(data, name)).mode & 0o777);
    expect(modes.length).toBeGreaterThan(2);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
