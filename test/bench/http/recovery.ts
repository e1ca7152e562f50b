/**
 * Recovery of a served folder against an in-memory replay of the same journal, interleaved. Also
 * the longest pause of the serving thread during a snapshot, written by itself or by the snapshot
 * worker.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replay } from '../../../src/journal/replay/replay.ts';
import { DataFolder } from '../../../src/journal-files/data-folder.ts';
import { DurableExchange } from '../../../src/journal-files/durable-exchange.ts';
import { openJournal } from '../../../src/journal-files/folder-journal.ts';
import { plainJournal } from '../../../src/journal-files/plain-journal.ts';
import { recover } from '../../../src/journal-files/recover.ts';
import { CONFIG, Flow, openingCommands } from '../engine-flow.ts';
import { makeMix } from '../mix.ts';
import { median } from './processes.ts';

const COMMANDS = Number(process.env['COMMANDS'] ?? 200_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const AT_ONCE = 500;
/** `signed`: with the digest of each order, as a server that verifies signatures writes it. */
const KINDS = ['unsigned', 'signed'] as const;
const digestOf = (nonce: bigint): string => nonce.toString(16).padStart(64, 'a5');

/** Milliseconds of a run, by the clock and of the processor, and its result. */
function timed<T>(run: () => T): {
  readonly ms: number;
  readonly cpuMs: number;
  readonly value: T;
} {
  const before = process.cpuUsage();
  const started = performance.now();
  const value = run();
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1000, value };
}

/** The longest event-loop pause of this thread until a promise resolves. */
async function longestPause(until: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = until.finally(() => (isDone = true));
  let last = performance.now();
  let longest = 0;
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  await done;
  return longest;
}

for (const kind of KINDS) await measure(kind);
process.exit(0);

async function measure(kind: (typeof KINDS)[number]): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
  try {
    const flow = new Flow(makeMix(COMMANDS));
    const exchange = await DurableExchange.open(await DataFolder.open(path), {
      config: CONFIG,
      fallback: CONFIG,
      opening: openingCommands(),
      durability: 'strict',
      snapshotEvery: 0,
      onProblem: (what) => {
        console.error(what);
      },
    });
    for (let from = 0; from < flow.mix.count; from += AT_ONCE) {
      for (const command of flow.commands(from, Math.min(flow.mix.count, from + AT_ONCE))) {
        exchange.submit(command);
        if (kind === 'signed' && command.kind === 'placeOrder') {
          exchange.recordOrderIds(exchange.engine.lastOrderId, [digestOf(command.nonce)]);
        }
      }
      await exchange.durable();
    }
    const chainHash = exchange.engine.chainHash();
    const plain = Buffer.concat([...plainJournal(openJournal(path))]);
    const rounds = Array.from({ length: ROUNDS + 1 }, () => {
      const inMemory = timed(() => replay(plain, { verify: true }));
      const fromDisk = timed(() => recover(path));
      for (const { engine } of [inMemory.value, fromDisk.value]) {
        if (engine.chainHash() !== chainHash)
          throw new Error('the replay diverges from the live run');
      }
      return { inMemory: inMemory.ms, fromDisk: fromDisk.ms, cpuMs: fromDisk.cpuMs };
    }).slice(1);
    const speed = COMMANDS / median(rounds.map(({ fromDisk }) => fromDisk / 1000));
    const ofProcessor = COMMANDS / median(rounds.map(({ cpuMs }) => cpuMs / 1000));
    const ratio = median(rounds.map(({ inMemory, fromDisk }) => inMemory / fromDisk));
    console.log(
      `recovery from segments, ${kind} orders: ${Math.round(speed).toLocaleString('en')} commands/s (${Math.round(ofProcessor).toLocaleString('en')} per second of the processor), ${ratio.toFixed(2)} of a replay in memory`,
    );

    if (kind === 'unsigned') await snapshots(exchange);
    await exchange.close();
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

/** The pause of the serving thread during a snapshot. */
async function snapshots(exchange: DurableExchange): Promise<void> {
  const itself: number[] = [];
  const byWorker: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    itself.push(timed(() => exchange.engine.snapshot()).ms);
    byWorker.push(await longestPause(exchange.snapshot()));
  }
  const state = exchange.engine.snapshot().length;
  console.log(
    `a snapshot of ${(state / 1e6).toFixed(1)} MB: the serving thread pauses for ${median(itself).toFixed(1)} ms if it writes it, ` +
      `for at most ${median(byWorker).toFixed(1)} ms if the snapshot worker does`,
  );
}
