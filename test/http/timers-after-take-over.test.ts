/** A server that takes over runs the timers of the exchange without a request. */
import { expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { defaultMarkets } from '../../src/cli/exchange-file.ts';
import { Host } from '../../src/http/exchange-host.ts';
import { JournalWriter } from '../../src/journal/format/frames.ts';
import { headerBytes } from '../../src/journal/format/header.ts';
import { seq } from '../../src/num/units.ts';
import { TICKER } from '../../src/postgres/open-exchange.ts';
import type { JournalRow, JournalStore } from '../../src/replication/ports.ts';
import { ReplicatedExchange } from '../../src/replication/replicated-exchange.ts';
import { checksumOf } from '../../src/replication/tail.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { freshExchange } from '../replication/sim-cluster.ts';

const { config } = freshExchange();

/** The first row of an exchange without markets, and one that lists a market. */
function rows(): JournalRow[] {
  const engine = new Exchange(config);
  const begins = { seq: engine.seq, timeUs: engine.nowUs };
  const writer = new JournalWriter(begins);
  const { genesisTimeUs: timeUs } = config;
  const commands: Command[] = [
    { kind: 'advanceTime', timeUs },
    { kind: 'listMarket', timeUs, spec: defaultMarkets()[0]! },
  ];
  return commands.map((command, i) => {
    writer.append(seq(engine.seq + 1), command);
    engine.apply(command);
    const { bytes, after, last } = writer.takeGroup()!;
    return {
      ...{ firstSeq: after.seq + 1, lastSeq: last.seq, epoch: 1, bytes },
      ...{ checksum: checksumOf(bytes), chainHash: engine.chainHash() },
      header: i === 0 ? headerBytes(config, begins) : null,
    };
  });
}

test('also if it began to follow while the exchange had no timers', async () => {
  const all = rows();
  let read = 1;
  const store: JournalStore = {
    base: () => Promise.resolve({ header: all[0]!.header!, snapshot: null }),
    poll: (afterSeq) => {
      const { lastSeq, chainHash } = all[read - 1]!;
      return Promise.resolve({
        lead: { epoch: read, beat: read, holder: read === 1 ? 'old' : '', address: '' },
        end: { seq: lastSeq, chainHash },
        rows: all.slice(0, read).filter(({ firstSeq }) => firstSeq > afterSeq),
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
    ...{ store, ticker: TICKER, start: 'follow', leaseMs: 10_000, pollMs: 5, snapshotEvery: 0 },
    ...{ self: { holder: 'new', address: '' }, path: 'memory', checkConfig: () => undefined },
    create: () => ({ config, opening: [] }),
    rehearse: () => Promise.resolve(),
    onProblem: () => undefined,
  });
  const host = new Host({
    ...{ exchange, clock: 'wall', keccak, signatures: 'trust', requestsPerSecond: null },
  });
  expect(exchange.engine.nextTimerUs()).toBe(Infinity);
  read = 2;
  await expect.poll(() => exchange.replica.role).toBe('leader');
  await expect.poll(() => exchange.engine.seq, { timeout: 5000 }).toBeGreaterThan(2);
  await host.close();
});
