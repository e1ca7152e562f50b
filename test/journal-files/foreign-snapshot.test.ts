/** Files of a data folder that are not those of its exchange, or no files at all. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkJournal } from '../../src/cli/doctor/folder-checks.ts';
import type { DurableOptions } from '../../src/journal-files/durable-exchange.ts';
import { CONFIG, deposit, depositGroups, openIn, useFolder } from './folder.ts';

const folder = useFolder();
const here = (): string => join(folder(), 'here');
const other = (): string => join(folder(), 'other');

/** Five deposits, from the n-th on; the exchange ends with a snapshot. */
async function stopped(
  path: string,
  n: number,
  options: Partial<DurableOptions> = {},
): Promise<string> {
  const exchange = await openIn(path, { snapshotEvery: 1000, ...options });
  for (let i = n; i < n + 5; i++) exchange.submit(deposit(i));
  await exchange.durable();
  const hash = exchange.engine.stateHash();
  await exchange.close();
  return hash;
}

const snapshotOf = (path: string): string =>
  join(path, readdirSync(path).find((name) => name.endsWith('.bin')) ?? 'no snapshot');

async function restarted(): Promise<{ readonly hash: string; readonly passedOver: string }> {
  const exchange = await openIn(here(), { config: null });
  const { stateHash: hash, passedOver } = exchange.recovery;
  await exchange.close();
  return { hash, passedOver: passedOver.join() };
}

const isFolder = (path: string): boolean => statSync(path).isDirectory();

const snapshotsOf = (path: string): string | undefined =>
  checkJournal(path, false).findings.find(({ check }) => check === 'snapshots')?.found;

const ROWS: readonly (readonly [string, Partial<DurableOptions>, string])[] = [
  ['another configuration', { config: { ...CONFIG, name: 'Other' } }, 'different configuration'],
  ['the same configuration', {}, 'hash after command'],
];

test.each(ROWS)(
  'a snapshot of another exchange with %s is not used',
  async (_name, options, why) => {
    const hash = await stopped(here(), 1);
    const foreign = await stopped(other(), 100, options);
    expect(foreign).not.toBe(hash);
    copyFileSync(snapshotOf(other()), snapshotOf(here()));
    expect(snapshotsOf(here())).toMatch(
      /^snapshot-\d+\.bin: of another exchange than the journal, or of another release$/,
    );
    const found = await restarted();
    expect(found.hash).toBe(hash);
    expect(found.passedOver).toContain(why);
  },
);

test('a snapshot with later commands behind it is still checked at its own command', async () => {
  await stopped(here(), 1);
  await stopped(other(), 100);
  const exchange = await openIn(here());
  await depositGroups(exchange, [1]);
  const hash = exchange.engine.stateHash();
  await exchange.close();
  copyFileSync(snapshotOf(other()), snapshotOf(here()));
  expect((await restarted()).hash).toBe(hash);
});

test('a folder or a named pipe in place of a snapshot is passed over, as it cannot be read', async () => {
  const hash = await stopped(here(), 1);
  const path = snapshotOf(here());
  for (const make of [() => mkdirSync(path), () => execFileSync('mkfifo', [path])]) {
    rmSync(path, { recursive: true });
    make();
    expect(snapshotsOf(here())).toMatch(/: not a file that can be read$/);
    const problems: string[] = [];
    const exchange = await openIn(here(), {
      config: null,
      onProblem: (what) => problems.push(what),
    });
    expect(exchange.recovery).toMatchObject({ stateHash: hash });
    expect(exchange.recovery.passedOver.join()).toMatch(/\.bin is unreadable$/);
    await exchange.close();
    expect(problems).toEqual(isFolder(path) ? [expect.stringMatching(/^no snapshot: /)] : []);
  }
});

test('a named pipe in place of the journal is an error', async () => {
  await stopped(here(), 1);
  const [journal = ''] = readdirSync(here()).filter((name) => name.startsWith('journal-'));
  rmSync(snapshotOf(here()));
  rmSync(join(here(), journal));
  execFileSync('mkfifo', [join(here(), journal)]);
  await expect(openIn(here())).rejects.toThrow('is not a regular file');
  const [finding] = checkJournal(here(), false).findings.filter(({ check }) => check === 'journal');
  expect(finding).toMatchObject({ verdict: 'fail' });
});
