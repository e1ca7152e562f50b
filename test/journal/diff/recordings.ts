/** Journals of random runs, in memory. */
import type { Command } from '../../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../../src/engine/config.ts';
import type { NamedJournal } from '../../../src/journal/diff/journal-cursor.ts';
import { JournalReader } from '../../../src/journal/format/frames.ts';
import { RecordedExchange } from '../../../src/journal/replay/recorded-exchange.ts';

export function record(
  commands: readonly Command[],
  config: ExchangeConfig,
  checkpointEvery = 50,
): Uint8Array {
  const recorded = new RecordedExchange(config, { checkpointEvery });
  for (const command of commands) recorded.submit(command);
  return recorded.finish();
}

export function journal(name: string, bytes: Uint8Array): NamedJournal {
  return { name, open: () => new JournalReader(bytes) };
}
