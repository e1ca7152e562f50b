import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { tooLargeForPage } from '../../src/cli/time-machine/journal-source.ts';
import { command } from '../../src/cli/commands/inspect.ts';
import { World } from './journals.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-large-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('writes a page without the journal if one page cannot hold it', async () => {
  const journal = join(folder, 'large.orrery');
  writeFileSync(journal, new World().bytes());
  expect(tooLargeForPage(journal)).toBeNull();
  // Without blocks on the disk; more than Node reads as one file.
  truncateSync(journal, 3 * 2 ** 30);
  expect(tooLargeForPage(journal)).toEqual([journal]);
  const html = join(folder, 'page.html');
  const options = {
    journal,
    from: 1,
    to: 1,
    limit: 1,
    json: true,
    open: false,
    html,
    _: [],
    $0: '',
  };
  await command.handler({ ...options, seq: undefined, mask: false });
  expect(statSync(html).size).toBeGreaterThan(100_000);
  await expect(command.handler({ ...options, seq: 3, mask: false })).rejects.toThrow(
    '--mask and --seq need a journal of at most 256 MiB',
  );
});
