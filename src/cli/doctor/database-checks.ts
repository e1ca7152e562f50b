/** Checks of a journal in PostgreSQL: server, schema, rights, journal. Changes nothing. */
import { countText } from '../../base/count-text.ts';
import { shownAddress } from '../../postgres/address.ts';
import { inspectDatabase, replayRows, type DatabaseFacts } from '../../postgres/inspect.ts';
import { PostgresStore } from '../../postgres/postgres-store.ts';
import type { SharedJournal } from '../serve-settings.ts';
import { fail, ok, warn, type Finding } from './finding.ts';
import { checkClock } from './folder-checks.ts';

const ANSWER_MS = 10_000;
const OLDEST = 15;
/** Clocks of a time server differ by less. */
const MOST_APART_MS = 1000;

export async function checkDatabase(
  { address, follow }: SharedJournal,
  isFull: boolean,
  hasWallClock: boolean,
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
    const { lastMs, ...rows } = await checkRows(store, facts, isFull);
    findings.push(...rows.findings);
    if (!hasWallClock) return findings;
    const clock = lastMs === null ? null : checkClock(lastMs, Date.now());
    return [...findings, clock?.verdict === 'fail' ? clock : checkClocks(facts.clockAheadMs)];
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

/** The time of the exchange is the clock of its leader, which may be any server next. */
export function checkClocks(aheadMs: number): Finding {
  const apartMs = Math.abs(aheadMs);
  if (apartMs <= MOST_APART_MS) return ok('clock', 'agrees with the database');
  return warn(
    'clock',
    `${(apartMs / 1000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database`,
    'synchronize the clocks of all servers (timedatectl, chronyc makestep)',
  );
}

interface RowFacts {
  readonly findings: readonly Finding[];
  /** Time of the last command in ms, after a full replay. */
  readonly lastMs: number | null;
}

async function checkRows(
  store: PostgresStore,
  { journal }: DatabaseFacts,
  isFull: boolean,
): Promise<RowFacts> {
  if (journal === null) return { findings: [], lastMs: null };
  const { end, lead } = journal;
  if (end.seq === 0) return { findings: [ok('journal', 'a new exchange')], lastMs: null };
  const by = lead.holder === '' ? 'no leader' : `last led by ${lead.holder}`;
  const found = `${countText(end.seq, 'command')}, epoch ${String(lead.epoch)}, ${by}`;
  if (!isFull) return { findings: [ok('journal', found)], lastMs: null };
  try {
    const last = await replayRows(store);
    const text = `${found}; ${countText(last?.seq ?? 0, 'command')} replayed`;
    return {
      findings: [ok('journal', text)],
      lastMs: last === null ? null : Math.floor(last.timeUs / 1000),
    };
  } catch (error) {
    const advice = 'restore a backup (docs/SCALING.md)';
    return { findings: [fail('journal', (error as Error).message, advice)], lastMs: null };
  }
}
