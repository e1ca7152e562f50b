/** `orrery/journal`: record an exchange, then replay, verify and export its journal. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressOfName, DEFAULT_EXCHANGE_CONFIG, quanta } from 'orrery';
import {
  exportJournal,
  openJournal,
  RecordedExchange,
  replayJournal,
  verifyJournal,
} from 'orrery/journal';

const recorded = new RecordedExchange(DEFAULT_EXCHANGE_CONFIG);
for (const name of ['alice', 'bob']) {
  recorded.submit({
    kind: 'deposit',
    timeUs: DEFAULT_EXCHANGE_CONFIG.genesisTimeUs,
    account: addressOfName(name),
    subaccountIndex: 0,
    amount: quanta(1_000_000n),
  });
}

const folder = await mkdtemp(join(tmpdir(), 'orrery-'));
try {
  const file = join(folder, 'run.orrery');
  await writeFile(file, recorded.finish());

  const { engine, mismatch } = replayJournal(file);
  assert.equal(mismatch, null);
  assert.equal(engine.stateHash(), recorded.engine.stateHash());
  assert.ok(verifyJournal(file).isWhole);

  const journal = openJournal(file);
  for (let frame = journal.next(); frame !== null; frame = journal.next()) {
    console.log(frame.seq, frame.kind);
  }
  const lines = join(folder, 'run.jsonl');
  const { commands } = await exportJournal(file, lines, { format: 'jsonl' });
  console.log(commands, 'commands');
  console.log((await readFile(lines, 'utf8')).split('\n')[0]);
} finally {
  await rm(folder, { recursive: true });
}
