/** Checks of a journal in PostgreSQL: server, schema, rights, journal. Changes nothing. */
import { countText } from '../../base/count-text.ts';
import { shownAddress } from '../../postgres/address.ts';
import { inspectDatabase, replayRows, type DatabaseFacts } from '../../postgres/inspect.ts';
import { PostgresStore } from '../../postgres/postgres-store.ts';
import type { SharedJournal } from '../serve-settings.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const ANSWER_MS = 10_000;
const OLDEST = 15;

export async function checkDatabase(
  { address, follow }: SharedJournal,
  isFull: boolean,
): Promise<Finding[]> {
  const store = new PostgresStore({ address, answerMs: ANSWER_MS });
  try {
    const facts = await inspectDatabase(store);
    const findings = [
      checkServer(facts, shownAddress(address), follow),
      ...facts.unsafe.map((name) =>
        warn('durability', `${name} is off`, 'set it on: a crash loses answered commands'),
      ),
      checkSchema(facts),
    ];
    if (facts.missing.length > 0) {
      findings.push(fail('rights', `no ${facts.missing.join(', ')}`, 'see docs/SCALING.md'));
    }
    return [...findings, ...(await checkRows(store, facts, isFull))];
  } catch (error) {
    const advice = 'see that it runs there, and that user, password, database and rights are right';
    return [fail('database', (error as Error).message, advice)];
  } finally {
    await store.close();
  }
}

function checkServer(
  { version, major, takesWrites }: DatabaseFacts,
  shown: string,
  follow: boolean,
): Finding {
  if (major < OLDEST) {
    return fail('database', `${shown}: PostgreSQL ${version}`, `use ${String(OLDEST)} or newer`);
  }
  if (takesWrites) return ok('database', `${shown}: PostgreSQL ${version}`);
  const found = `${shown}: takes no writes`;
  if (!follow) return fail('database', found, 'name the primary, and end its read-only mode');
  return warn('database', found, 'name the primary: this follower could not take over');
}

function checkSchema({ schema, newestSchema, mayCreate }: DatabaseFacts): Finding {
  if (schema === newestSchema) return ok('schema', `version ${String(schema)}`);
  if (schema > newestSchema) {
    const known = `this program knows ${String(newestSchema)}`;
    return fail('schema', `version ${String(schema)}, ${known}`, 'use the release that made it');
  }
  if (mayCreate) return ok('schema', 'the start creates it');
  return fail('schema', 'none, and this role may not create it', 'start once as its owner');
}

async function checkRows(
  store: PostgresStore,
  { journal }: DatabaseFacts,
  isFull: boolean,
): Promise<Finding[]> {
  if (journal === null) return [];
  const { end, lead } = journal;
  if (end.seq === 0) return [ok('journal', 'a new exchange')];
  const by = lead.holder === '' ? 'no leader' : `last led by ${lead.holder}`;
  const found = `${countText(end.seq, 'command')}, epoch ${String(lead.epoch)}, ${by}`;
  if (!isFull) return [ok('journal', found)];
  try {
    const replayed = await replayRows(store);
    return [ok('journal', `${found}; ${countText(replayed?.seq ?? 0, 'command')} replayed`)];
  } catch (error) {
    return [fail('journal', (error as Error).message, 'restore a backup (docs/SCALING.md)')];
  }
}
