/** A follower accepts only the rows that the leader wrote. */
import { expect, test } from 'vitest';
import { isRepeated } from '../../src/gateway/operator-requests.ts';
import { headerBytes } from '../../src/journal/format/header.ts';
import { JournalWriter } from '../../src/journal/format/frames.ts';
import { address, orderId, quanta, seq } from '../../src/num/units.ts';
import { TICKER } from '../../src/postgres/open-exchange.ts';
import { EMPTY, type JournalRow, type JournalStore } from '../../src/replication/ports.ts';
import { ReplicatedExchange } from '../../src/replication/replicated-exchange.ts';
import { checksumOf, Tail } from '../../src/replication/tail.ts';
import { freshExchange } from './sim-cluster.ts';

const ACCOUNT = address(`0x${'7'.repeat(40)}`);
const SINKS = { onEvent: undefined, onOrderIds: () => undefined };

/** Rows of one deposit each, by leaders of these epochs. `more`: of the commands. */
function rowsOf(epochs: readonly number[], more: object = {}): JournalRow[] {
  const engine = freshExchange();
  const begins = { seq: engine.seq, timeUs: engine.nowUs };
  const writer = new JournalWriter(begins);
  return epochs.map((epoch, i) => {
    const command = {
      ...({ kind: 'deposit', timeUs: engine.config.genesisTimeUs, account: ACCOUNT } as const),
      ...{ subaccountIndex: 0, amount: quanta(BigInt(i + 1)) },
      ...more,
    };
    writer.append(seq(engine.seq + 1), command);
    engine.apply(command);
    writer.orderIds(engine.seq, engine.nowUs, orderId(i + 1), ['ab'.repeat(32)]);
    const { bytes, after, last } = writer.takeGroup()!;
    return {
      ...{ firstSeq: after.seq + 1, lastSeq: last.seq, epoch, bytes },
      ...{ checksum: checksumOf(bytes), chainHash: engine.chainHash() },
      header: i === 0 ? headerBytes(engine.config, begins) : null,
    };
  });
}

const fresh = (): Tail => new Tail(freshExchange(), EMPTY);
const changed = (bytes: Uint8Array): Uint8Array => {
  const copy = bytes.slice();
  copy[copy.length - 1]! ^= 1;
  return copy;
};

test('rows are applied with their order ids, and the chain hash is that of the leader', () => {
  const tail = fresh();
  const ids: number[] = [];
  const rows = rowsOf([1, 1, 2]);
  tail.apply(rows, { ...SINKS, onOrderIds: (first) => ids.push(first) });
  expect(tail.end).toEqual({ seq: 3, chainHash: rows[2]!.chainHash });
  expect(ids).toEqual([1, 2, 3]);
});

test('a server that waits for the lead at its start keeps the order ids of the time (R-2.10)', async () => {
  const rows = rowsOf([1, 1]);
  const { config } = freshExchange();
  let polls = 0;
  const store: JournalStore = {
    base: () => Promise.resolve({ header: rows[0]!.header!, snapshot: null }),
    poll: (afterSeq) => {
      polls += 1;
      // The leader appends a row after the start of this server, and then resigns.
      const found = rows.slice(0, Math.min(polls, 2));
      const { lastSeq, chainHash } = found.at(-1)!;
      return Promise.resolve({
        lead: {
          epoch: polls > 3 ? 2 : 1,
          beat: polls,
          holder: polls < 3 ? 'old' : '',
          address: '',
        },
        end: { seq: lastSeq, chainHash },
        rows: found.filter(({ firstSeq }) => firstSeq > afterSeq),
      });
    },
    takeLead: () => Promise.resolve(2),
    beat: () => Promise.resolve(true),
    resign: () => Promise.resolve(),
    append: () => Promise.resolve(true),
    saveSnapshot: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const exchange = await ReplicatedExchange.open({
    ...{ store, ticker: TICKER, start: 'lead', leaseMs: 10_000, pollMs: 1, snapshotEvery: 0 },
    ...{ self: { holder: 'new', address: '' }, path: 'memory', checkConfig: () => undefined },
    create: () => ({ config, opening: [] }),
    rehearse: () => Promise.resolve(),
    onProblem: () => undefined,
  });
  expect(exchange.replica.role).toBe('leader');
  const digest = 'ab'.repeat(32);
  expect(exchange.recordedIds).toEqual([
    [1, digest],
    [2, digest],
  ]);
  await exchange.close();
});

test('a follower knows the references of the operator, and answers a repeated request (R-13.3)', () => {
  const tail = fresh();
  tail.apply(rowsOf([1], { reference: 'wire-17' }), SINKS);
  const amount = quanta(1n);
  const { nowUs: timeUs } = tail.engine;
  const again = {
    ...({ kind: 'deposit', timeUs, account: ACCOUNT, subaccountIndex: 0, amount } as const),
    reference: 'wire-17',
  };
  expect(isRepeated(tail.engine, again)).toBe(true);
  expect(isRepeated(tail.engine, { ...again, reference: 'wire-18' })).toBe(false);
  expect(() => isRepeated(tail.engine, { ...again, amount: quanta(2n) })).toThrow(
    'reference: is that of a deposit of 0.000001',
  );
});

test.each<[what: string, change: (rows: JournalRow[]) => JournalRow[], error: RegExp]>([
  ['a gap', (rows) => rows.slice(1), /follows command 0/],
  ['a row twice', (rows) => [rows[0]!, rows[0]!], /follows command 1/],
  ['an epoch that goes back', (rows) => [{ ...rows[0]!, epoch: 5 }, rows[1]!], /after a later one/],
  ['bytes of another row', ([a, b]) => [{ ...a!, bytes: b!.bytes }], /another checksum/],
  [
    'a flipped bit',
    ([a]) => [{ ...a!, bytes: changed(a!.bytes) }],
    /wrong checksum|fewer commands/,
  ],
  ['no bytes', ([a]) => [{ ...a!, bytes: new Uint8Array() }], /another checksum/],
  ['fewer commands than named', ([a]) => [{ ...a!, lastSeq: 2 }], /fewer commands/],
  ['another chain hash', ([a]) => [{ ...a!, chainHash: 'f'.repeat(32) }], /replays to/],
])('%s is an error', (_what, change, error) => {
  expect(() => {
    fresh().apply(change(rowsOf([1, 2])), SINKS);
  }).toThrow(error);
});
