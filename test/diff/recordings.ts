/** Journals of random lives, in memory. */
import fc from 'fast-check';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import { timeUs } from '../../src/num/units.ts';
import type { NamedJournal } from '../../src/sim/diff/journal-cursor.ts';
import { JournalReader } from '../../src/sim/journal/frames.ts';
import { RecordedExchange } from '../../src/sim/recorded-exchange.ts';
import { anyStep, newExchange, OPENING, START } from '../risk/lives.ts';

/** The commands of a random life, opening included. */
export function randomLife(seed: number, length: number): Command[] {
  const random = fc.sample(fc.array(anyStep, { minLength: length, maxLength: length }), {
    seed,
    numRuns: 1,
  })[0]!;
  let atUs: number = START;
  let nonce = 100n;
  return [...OPENING, ...random].map(({ waitUs, command }) => {
    atUs += waitUs;
    nonce += 1n;
    return command(timeUs(atUs), nonce);
  });
}

export function record(
  commands: readonly Command[],
  config: ExchangeConfig = newExchange().config,
  checkpointEvery = 50,
): Uint8Array {
  const recorded = new RecordedExchange(config, { checkpointEvery });
  for (const command of commands) recorded.submit(command);
  return recorded.finish();
}

export function journal(name: string, bytes: Uint8Array): NamedJournal {
  return { name, open: () => new JournalReader(bytes) };
}
