/**
 * Proves that a scenario's run is determined by its journal (DETERMINISM). The plain run's hashes
 * are compared with those of three other runs: a replay of the journal; a run restored from a
 * snapshot every few commands; and a journal cut at some byte, recovered, and continued with the
 * lost commands.
 */
import type { Command } from '../engine/commands.ts';
import { Exchange } from '../engine/exchange.ts';
import { JournalReader } from '../journal/format/frames.ts';
import { replay } from '../journal/replay/replay.ts';
import type { Difference } from './match-expectation.ts';
import type { ScenarioResult } from './run-scenario.ts';

/** Min commands between snapshots; small and odd, so that snapshots are taken at all positions. */
const SNAPSHOT_EVERY = 3;
/**
 * Snapshot bytes per command until the next snapshot: bounds the cost per command for large
 * exchanges.
 */
const SNAPSHOT_BYTES = 4096;

/**
 * Differences of hashes from the plain run by method; empty if all agree. The journal is cut once
 * per seed.
 */
export function proveScenario(plain: ScenarioResult, ...seeds: readonly number[]): Difference[] {
  const commands = commandsOf(plain.journal);
  return [
    ...compare('replayed', plain, replay(plain.journal, { verify: true }).engine),
    ...compare('restored', plain, runRestored(plain.journal, commands)),
    ...seeds.flatMap((seed) =>
      compare('recovered', plain, runRecovered(plain.journal, commands, seed)),
    ),
  ];
}

function commandsOf(journal: Uint8Array): Command[] {
  const reader = new JournalReader(journal);
  const commands: Command[] = [];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command') commands.push(frame.command);
  }
  return commands;
}

function runRestored(journal: Uint8Array, commands: readonly Command[]): Exchange {
  let engine = new Exchange(new JournalReader(journal).header.config);
  let dueAt = 0;
  for (const [i, command] of commands.entries()) {
    if (i >= dueAt) {
      const snapshot = engine.snapshot();
      engine = Exchange.restore(snapshot);
      dueAt = i + Math.max(SNAPSHOT_EVERY, Math.ceil(snapshot.length / SNAPSHOT_BYTES));
    }
    engine.apply(command);
  }
  return engine;
}

function runRecovered(journal: Uint8Array, commands: readonly Command[], seed: number): Exchange {
  const cut = journal.subarray(0, cutPlace(journal, seed));
  const { engine } = replay(cut, { verify: true, recover: true });
  for (const command of commands.slice(engine.seq)) engine.apply(command);
  return engine;
}

/** A byte offset after the header, spread over the journal by a multiplicative hash of the seed. */
function cutPlace(journal: Uint8Array, seed: number): number {
  const headerEnd = new JournalReader(journal).offset;
  const spread = (Math.imul(seed, 0x9e3779b1) >>> 0) / 2 ** 32;
  return headerEnd + Math.floor(spread * (journal.length - headerEnd));
}

function compare(way: string, plain: ScenarioResult, engine: Exchange): Difference[] {
  const pairs: readonly [string, string, string][] = [
    ['chainHash', plain.chainHash, engine.chainHash()],
    ['stateHash', plain.stateHash, engine.stateHash()],
  ];
  return pairs
    .filter(([, expected, actual]) => expected !== actual)
    .map(([hash, expected, actual]) => ({ path: `${way}.${hash}`, expected, actual }));
}
