/**
 * The verdict of `data verify` on the committed recording and on copies of it that are damaged: cut,
 * doubled, shifted, with a gap, without a snapshot, with records of another market.
 */
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { marketId, priceTicks, timeUs } from '../../src/num/units.ts';
import { PlainBook } from '../../src/tape/plain-book.ts';
import type { TapeRecord, TapeUnits } from '../../src/tape/record.ts';
import { TapeSteps } from '../../src/tape/tape-steps.ts';
import { RecordChecks } from '../../src/tape/record-checks.ts';
import { faultsOf } from '../../src/tape/verdict.ts';
import { verifyTape } from '../../src/tape/verify-tape.ts';
import { openDataset } from '../../src/tape-files/dataset-files.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const DATASET = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
let units: TapeUnits;
/** The first 90 s or so, which keeps the tests short. */
let whole: TapeRecord[] = [];

beforeAll(async () => {
  const dataset = await openDataset(DATASET);
  const [market] = dataset.markets;
  const [stream] = market?.streams ?? [];
  if (market === undefined || stream === undefined) throw new Error('no market');
  units = market;
  const all: TapeRecord[] = [];
  for await (const batch of dataset.records(stream)) all.push(...batch);
  whole = all.slice(0, 25_000);
});

function specOf() {
  const spec = parseMarketSpec(
    { symbol: 'X', tickSize: '1', lotSize: '1', indexSource: 'mid' },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
}

function stepsOf(streams: readonly (readonly TapeRecord[])[], checks?: RecordChecks): TapeSteps {
  async function* source(records: readonly TapeRecord[]) {
    await Promise.resolve();
    for (let i = 0; i < records.length; i += 1000) yield records.slice(i, i + 1000);
  }
  return new TapeSteps(streams.map(source), marketId(0), () => units, {
    ...(checks && { checks }),
  });
}

const judged = (...streams: (readonly TapeRecord[])[]) => judgedAs(true, ...streams);

async function judgedAs(hasVenueIds: boolean, ...streams: (readonly TapeRecord[])[]) {
  const checks = new RecordChecks({ hasVenueIds, isComplete: false });
  const steps = stepsOf(streams, checks);
  const verification = await verifyTape(steps, specOf);
  const { syncFacts: sync, orderingFacts: ordering } = steps;
  const records = checks.finish();
  const faults = faultsOf({ verification, sync, ordering, records, allowGaps: false });
  return { verification, sync, records, faults };
}

const cutTo = (share: number) => whole.slice(0, Math.floor(whole.length * share));
const later = (record: TapeRecord, us: number): TapeRecord => ({
  ...record,
  timeUs: timeUs(record.timeUs + us),
});
/** Lines are those of one recording: a second copy has later ones. */
const again = (record: TapeRecord): TapeRecord => ({ ...record, line: record.line + 1_000_000 });

test('the whole recording passes, and every update is compared', async () => {
  const { verification, faults } = await judged(whole);
  expect(faults).toEqual([]);
  expect(verification.books).toBeGreaterThan(1000);
  expect(verification).toMatchObject({ mismatched: 0, compared: verification.books });
});

test.each([0.3, 0.7])(
  'a copy cut to %s of its lines passes: it is a shorter recording',
  async (share) => {
    const { verification, faults } = await judged(cutTo(share));
    expect(faults).toEqual([]);
    expect(verification.compared / verification.books).toBeGreaterThan(0.99);
  },
);

test('without best prices it passes, and nothing is compared', async () => {
  const { verification, faults } = await judged(whole.filter(({ kind }) => kind !== 'touch'));
  expect([faults, verification.compared, verification.touches]).toEqual([[], 0, 0]);
});

test('best prices that end early leave the later updates uncompared, by name', async () => {
  const endUs = (whole[0]?.timeUs ?? 0) + 20_000_000;
  const { verification, faults } = await judged(
    whole.filter(({ kind, timeUs: us }) => kind !== 'touch' || us < endUs),
  );
  const mismatched = faults.filter((fault) => !fault.includes('best price'));
  expect(mismatched).toEqual([]);
  expect(verification.mismatched + (verification.notCompared.after ?? 0)).toBeGreaterThan(100);
});

describe('copies that fail', () => {
  const isOutside = ({ timeUs: us }: TapeRecord, from: number, to: number): boolean => {
    const second = (us - (whole[0]?.timeUs ?? 0)) / 1_000_000;
    return second < from || second >= to;
  };
  const gapAt = (from: number, to: number) => whole.filter((r) => isOutside(r, from, to));
  const twice = (kind: TapeRecord['kind']) =>
    whole.flatMap((record) => (record.kind === kind ? [record, again(record)] : [record]));
  const isBook = ({ kind }: TapeRecord) => kind === 'depth' || kind === 'snapshot';

  test.each<readonly [string, () => (readonly TapeRecord[])[], string]>([
    ['doubled, one after the other', () => [[...whole, ...whole.map(again)]], 'out of order'],
    [
      'doubled, line by line',
      () => [whole.flatMap((record) => [record, again(record)])],
      'repeated',
    ],
    ['doubled, as a second stream', () => [whole, whole.map(again)], 'repeated'],
    ['with a gap', () => [gapAt(20, 25)], 'no book for'],
    [
      'with one missing update',
      () => [whole.filter(({ kind }, i) => kind !== 'depth' || i < 9000 || i > 9020)],
      'no book for',
    ],
    [
      'without its snapshot',
      () => [whole.filter(({ kind }) => kind !== 'snapshot')],
      'no snapshot',
    ],
    ['without its first third', () => [whole.slice(Math.floor(whole.length / 3))], 'no snapshot'],
    [
      'with best prices shifted in time',
      () => [whole.map((r) => (r.kind === 'touch' ? later(r, 5_000_000) : r))],
      'best price',
    ],
    [
      'with updates shifted in time',
      () => [whole.map((r) => (isBook(r) ? later(r, 5_000_000) : r))],
      'best price',
    ],
    [
      'with prices shifted by a tick',
      () => [
        whole.map((r) =>
          r.kind === 'depth'
            ? {
                ...r,
                levels: r.levels.map((l) => ({ ...l, priceTicks: priceTicks(l.priceTicks + 1) })),
              }
            : r,
        ),
      ],
      'best price',
    ],
    [
      'with one level of another size',
      () => [
        whole.map((r) =>
          r.kind === 'touch' && r.line % 5000 < 5 ? { ...r, bidLots: r.askLots } : r,
        ),
      ],
      'best price',
    ],
    [
      'with trades of another market',
      () => [
        whole.map((r, i) =>
          r.kind === 'trade' && i > whole.length / 2
            ? { ...r, priceTicks: priceTicks(Math.round(r.priceTicks / 25)) }
            : r,
        ),
      ],
      'another market',
    ],
    ['with best prices doubled', () => [twice('touch')], 'repeated'],
    [
      'without the trades of some seconds',
      () => [whole.filter((r) => r.kind !== 'trade' || isOutside(r, 20, 25))],
      'missing by their ids',
    ],
  ])('%s', async (_name, damaged, words) => {
    const { faults } = await judged(...damaged());
    expect(faults.join('; ')).toContain(words);
  });

  describe('whose ids an import assigned', () => {
    const assigned = (records: readonly TapeRecord[]): TapeRecord[] =>
      records.map((record, i) => {
        const line = i + 1;
        if (record.kind === 'depth')
          return { ...record, line, firstId: line, prevId: line, lastId: line };
        if (record.kind === 'snapshot') return { ...record, line, lastId: line };
        return record.kind === 'trade' ? { ...record, line, tradeId: line } : { ...record, line };
      });
    /** Without the updates that the venue's ids show to be older than the snapshot. */
    const alone = (records: readonly TapeRecord[], ...kinds: readonly TapeRecord['kind'][]) => {
      const start = whole.findIndex(({ kind }) => kind === 'snapshot');
      return records.filter(
        (r) => kinds.includes(r.kind) && r.timeUs >= (whole[start]?.timeUs ?? 0),
      );
    };
    const chained = (records: readonly TapeRecord[]): TapeRecord[] => {
      let lastId = 0;
      return assigned(records).map((record) => {
        if (record.kind !== 'depth') return 'lastId' in record ? { ...record, lastId } : record;
        const prevId = lastId;
        lastId += 1;
        return { ...record, prevId, firstId: lastId, lastId };
      });
    };

    test.each<readonly [string, () => TapeRecord[], string]>([
      ['book', () => chained(alone(whole, 'snapshot', 'depth')), ''],
      [
        'book with a gap',
        () => chained(alone(gapAt(20, 25), 'snapshot', 'depth')),
        '1 suspected gap of book, no book for 5.',
      ],
      ['book, doubled', () => chained(alone(twice('depth'), 'snapshot', 'depth')), 'repeated'],
      ['trades', () => assigned(alone(whole, 'trade')), ''],
      [
        'trades with a gap',
        () => assigned(alone(gapAt(20, 32), 'trade')),
        '1 suspected gap of trades',
      ],
      ['trades, doubled', () => assigned(alone(twice('trade'), 'trade')), 'repeated'],
      ['best prices', () => alone(whole, 'touch'), ''],
      [
        'best prices with a gap',
        () => alone(gapAt(20, 25), 'touch'),
        '1 suspected gap of best prices',
      ],
      ['best prices, doubled', () => alone(twice('touch'), 'touch'), 'repeated'],
    ])('%s', async (_name, records, words) => {
      const { faults } = await judgedAs(false, records());
      if (words === '') expect(faults).toEqual([]);
      else expect(faults.join('; ')).toContain(words);
    });
  });

  test('a gap that no snapshot heals is stale to the end', async () => {
    const { sync } = await judged(gapAt(20, 25));
    const span = (sync.lastUs - sync.firstUs) / 1e6;
    expect(sync.staleUs / 1e6).toBeGreaterThan(span - 26);
    expect(sync.staleUs / 1e6).toBeLessThan(span - 24);
    expect(sync.gapList).toMatchObject([
      { toUs: sync.lastUs, reason: 'the chain of updates breaks' },
    ]);
  });

  test('without a snapshot all of the time is stale', async () => {
    const { sync } = await judged(whole.filter(({ kind }) => kind !== 'snapshot'));
    expect((sync.lastUs - sync.firstUs - sync.staleUs) / 1e6).toBeLessThan(1);
  });
});

test('without trades, the engine’s book equals the recorded one after every update', async () => {
  const engine = new Exchange({ ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs(0) });
  engine.apply({ kind: 'listMarket', timeUs: timeUs(0), spec: specOf() });
  const plain = new PlainBook();
  let compared = 0;
  let differing = 0;
  for await (const batch of stepsOf([whole.filter(({ kind }) => kind !== 'trade')]).batches()) {
    for (const { command } of batch) {
      if (command === null) continue;
      engine.apply(command);
      plain.crossedAfter(command);
      if (command.kind !== 'tapeDepth' && command.kind !== 'tapeSnapshot') continue;
      const { bestBid, bestAsk } = engine.market(marketId(0));
      const best = {
        bid: bestBid?.priceTicks,
        bidLots: bestBid?.lots,
        ask: bestAsk?.priceTicks,
        askLots: bestAsk?.lots,
      };
      compared += 1;
      if (JSON.stringify(best) !== JSON.stringify(plain.best())) differing += 1;
    }
  }
  expect(compared).toBeGreaterThan(1000);
  expect(differing).toBe(0);
});
