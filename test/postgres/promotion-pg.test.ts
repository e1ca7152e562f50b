/** Loss of the database's primary: a synchronous standby is promoted, and no answer is lost. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { migrate } from '../../src/postgres/migrations.ts';
import { PostgresNonces } from '../../src/postgres/postgres-nonces.ts';
import { PostgresStore } from '../../src/postgres/postgres-store.ts';
import { Session } from '../../src/postgres/session.ts';
import { EMPTY, type JournalRow } from '../../src/replication/ports.ts';
import { contradictionOf } from '../replication/observed.ts';
import { Cluster } from './cluster.ts';
import { ServerProcess, sleep, until } from './server-process.ts';

const ACCOUNT = `0x${'b'.repeat(40)}`;
const started: { stop: () => unknown }[] = [];
afterEach(() => {
  for (const one of started.reverse()) one.stop();
});

/** A primary whose commits wait for a standby. */
async function pair(): Promise<[primary: Cluster, standby: Cluster]> {
  const primary = await Cluster.start();
  started.push(primary);
  const standby = await primary.addStandby();
  started.push(standby);
  const client = new pg.Client({ connectionString: primary.address() });
  await client.connect();
  await client.query("alter system set synchronous_standby_names = '*'");
  await client.query('select pg_reload_conf()');
  await client.end();
  return [primary, standby];
}

const TIMES = { answerMs: 5000, connectMs: 5000 };
const addressOf = (...clusters: Cluster[]): string =>
  `postgres://postgres@${clusters.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`;

async function rowsOf(address: string): Promise<JournalRow[]> {
  const store = new PostgresStore({ address, answerMs: 10_000 });
  const rows: JournalRow[] = [];
  for (;;) {
    const poll = await store.poll(rows.at(-1)?.lastSeq ?? 0);
    if (poll.rows.length === 0) break;
    rows.push(...poll.rows);
  }
  await store.close();
  return rows;
}

test('a leader goes on with the promoted standby, and answered commands are there', async () => {
  const [primary, standby] = await pair();
  const server = await ServerProcess.start(addressOf(primary, standby), [
    '--lease-ms',
    '1500',
    '--clock',
    'virtual',
  ]);
  started.push({ stop: () => server.child.kill('SIGKILL') });
  const answered = new Set<bigint>();
  let next = 1;
  let stopped = false;
  const client = async (): Promise<void> => {
    while (!stopped) {
      const amount = next++;
      const status = await server.deposit(ACCOUNT, String(amount)).catch(() => 0);
      if (status === 200) answered.add(BigInt(amount) * 1_000_000n);
      else await sleep(20);
    }
  };
  const clients = [client(), client(), client()];
  await expect.poll(() => answered.size).toBeGreaterThan(5);
  const before = answered.size;
  primary.stopServer('immediate');
  standby.promote();
  // From the loss of the primary to the first answer.
  expect(await until(() => Promise.resolve(answered.size > before + 6))).toBeLessThan(10_000);
  stopped = true;
  await Promise.all(clients);
  const rows = await rowsOf(standby.address());
  expect(contradictionOf({ writes: [], reads: [], rows })).toBeNull();
  const { sequenceNumber, chainHash } = await server.hash();
  expect(rows.at(-1)).toMatchObject({ lastSeq: sequenceNumber, chainHash });
  const found = amountsOf(rows);
  expect(new Set(found).size).toBe(found.length);
  expect([...answered].filter((amount) => !found.includes(amount))).toEqual([]);
});

test('a former primary that is back is not used, in either order of the hosts', async () => {
  const [primary, standby] = await pair();
  const before = new Session({ address: addressOf(primary, standby), ...TIMES });
  const port = 'select inet_server_port() as port';
  expect(await before.query('port', port)).toEqual([{ port: primary.port }]);
  primary.stopServer('immediate');
  standby.promote();
  primary.startServer();
  for (const hosts of [addressOf(primary, standby), addressOf(standby, primary)]) {
    const session = new Session({ address: hosts, ...TIMES });
    expect(await session.query('port', port)).toEqual([{ port: standby.port }]);
    await session.close();
  }
  // The former primary is alone, but this process has seen a later one.
  standby.stopServer('immediate');
  const alone = new Session({ address: addressOf(primary, standby), ...TIMES });
  await expect(alone.query('port', port)).rejects.toThrow(
    /: a former primary: another server was promoted in its place; connect ECONNREFUSED/,
  );
  for (const session of [before, alone]) await session.close();
});

test('a server does not follow a standby, whose delay it could not name', async () => {
  const [primary, standby] = await pair();
  const leader = await ServerProcess.start(primary.address(), []);
  started.push({ stop: () => leader.child.kill('SIGKILL') });
  await expect(ServerProcess.start(standby.address(), ['--follow'])).rejects.toThrow(
    /exit code 2: [^]*: the server is a standby/,
  );
  // A copy of the journal may be of any moment.
  expect((await rowsOf(standby.address())).length).toBeGreaterThan(0);
});

test('while the standby is away, repeated writes keep few connections', async () => {
  const [primary, standby] = await pair();
  const address = primary.address();
  const answerMs = 300;
  const store = new PostgresStore({ address, answerMs });
  await migrate(store.reads);
  const self = { holder: 'one', address: '' };
  const { lead } = await store.poll(0);
  expect(await store.takeLead(lead, self)).toBe(1);
  const nonces = new PostgresNonces(store.logins);
  expect(await nonces.use(randomUUID(), 1, 0)).toBe(true);
  standby.stopServer('immediate');
  const bytes = new Uint8Array([1, 2, 3]);
  const row: JournalRow = {
    ...{ firstSeq: 1, lastSeq: 2, epoch: 1, checksum: 7, chainHash: 'aa', bytes },
    header: bytes,
  };
  for (let i = 0; i < 15; i++) {
    const login = nonces.use(randomUUID(), 1, 0);
    const writes = [store.append(row, EMPTY), store.beat(1, EMPTY), login];
    const poll = store.poll(0).then(() => 'poll');
    expect(await Promise.race([login.catch(() => 'login'), poll])).toBe('poll');
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  }
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::integer from pg_stat_activity where application_name = 'orrery'",
  );
  await client.end();
  // Each kind of write has one that waits for the standby, and at most two behind it.
  expect(rows[0]?.count).toBeLessThan(14);
  standby.startServer();
  await until(() => store.beat(1, EMPTY).catch(() => false));
  await store.close();
});

function amountsOf(rows: readonly JournalRow[]): bigint[] {
  const reader = new JournalReader(
    Buffer.concat([rows[0]!.header!, ...rows.map(({ bytes }) => bytes)]),
  );
  const amounts: bigint[] = [];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command' && frame.command.kind === 'deposit') {
      amounts.push(frame.command.amount);
    }
  }
  return amounts;
}
