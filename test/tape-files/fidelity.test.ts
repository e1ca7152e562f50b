/**
 * Fidelity of a market's records: single orders, a book, trades, bars; and the sources of its
 * prices.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { lots, marketId, ppb, priceTicks, timeUs } from '../../src/num/units.ts';
import type { BarRecord, TapeRecord, TradeRecord } from '../../src/tape/record.ts';
import {
  parseTapeModel,
  describeModel,
  DEFAULT_TAPE_MODEL,
  fidelitiesOf,
  fidelityOf,
  sourcesOf,
  type TapeModel,
  type Fidelity,
  type RecordCounts,
} from '../../src/tape/tape-model.ts';
import { TapeSteps, type TapeOptions } from '../../src/tape/tape-steps.ts';
import { main } from '../../src/cli/main.ts';
import { openDataset } from '../../src/tape-files/dataset-files.ts';
import { DatasetWriter } from '../../src/tape-files/dataset-writer.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-fidelity-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const UNITS = { symbol: 'X', tickSize: '0.5', lotSize: '1', inverse: false };
const MINUTE = 60_000_000;
const at = (us: number) => ({ timeUs: timeUs(us), localUs: timeUs(us), line: us });

function bar(minute: number, [open, high, low, close]: readonly number[], volume = 10): BarRecord {
  return {
    kind: 'bar',
    ...at((minute + 1) * MINUTE - 1),
    startUs: timeUs(minute * MINUTE),
    open: priceTicks(open ?? 0),
    high: priceTicks(high ?? 0),
    low: priceTicks(low ?? 0),
    close: priceTicks(close ?? 0),
    volume: lots(volume),
  };
}

function trade(us: number, size: number, price: number): TradeRecord {
  return { kind: 'trade', ...at(us), tradeId: us, priceTicks: priceTicks(price), lots: lots(size) };
}

async function play(records: readonly TapeRecord[], options: TapeOptions) {
  async function* source() {
    await Promise.resolve();
    yield records;
  }
  const steps = new TapeSteps([source()], marketId(0), () => UNITS, options);
  const commands: Command[] = [];
  for await (const batch of steps.batches()) {
    for (const { command } of batch) if (command !== null) commands.push(command);
  }
  return { commands, facts: steps.syncFacts };
}

function emitted(command: Command): string {
  switch (command.kind) {
    case 'tapeTrade':
      return `trade ${command.lots}@${command.priceTicks}`;
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeQuotes':
      return `${command.kind} ${command.levels.map((l) => `${l.side} ${l.lots}@${l.priceTicks}`).join(', ')}`;
    case 'tapeBar':
      return `bar ${command.openTicks} ${command.closeTicks} quoted ${command.quoteTicks}`;
    default:
      return command.kind;
  }
}

describe('trades alone', () => {
  test('have a book of two levels: a buy is at the ask, a sale at the bid', async () => {
    const model: TapeModel = { ...DEFAULT_TAPE_MODEL, spreadTicks: 2, depthLots: 7 };
    const { commands } = await play([trade(1, 3, 100), trade(2, -1, 98), trade(3, 2, 101)], {
      fidelity: 'trades',
      model,
    });
    expect(commands.map(emitted)).toEqual([
      'trade 3@100',
      'tapeQuotes bid 7@98, ask 7@100',
      'trade -1@98',
      'tapeQuotes bid 7@98, ask 7@100',
      'trade 2@101',
      'tapeQuotes bid 7@99, ask 7@101',
    ]);
  });

  test('the default depth is the trade’s size, and the spread is at least a tick', async () => {
    const model = { ...DEFAULT_TAPE_MODEL, spreadTicks: 0 };
    const { commands } = await play([trade(1, -3, 100)], { fidelity: 'trades', model });
    expect(commands.map(emitted)).toEqual(['trade -3@100', 'tapeQuotes bid 3@100, ask 3@101']);
  });
});

describe('bars', () => {
  const bars = [bar(0, [10, 12, 9, 11]), bar(1, [11, 11, 8, 9]), bar(3, [7, 7, 7, 7])];

  test('are one command each; repeated ones are skipped, missing ones counted', async () => {
    const { commands, facts } = await play(
      [...bars.slice(0, 2), { ...bar(1, [1, 1, 1, 1]), line: MINUTE * 9 }, ...bars.slice(2)],
      { fidelity: 'bars' },
    );
    expect(commands.map(emitted)).toEqual([
      'bar 10 11 quoted 11',
      'bar 11 9 quoted 9',
      'bar 7 7 quoted 7',
    ]);
    expect(commands[0]).toMatchObject({
      depthLots: 10,
      spreadTicks: 1,
      path: 'nearest',
      fill: 'touch',
    });
    expect(facts).toMatchObject({ bars: 4, duplicates: 1, gaps: 1, barUs: MINUTE });
    expect(facts.gapList).toEqual([
      { fromUs: 2 * MINUTE, toUs: 3 * MINUTE, reason: 'bars are missing' },
    ]);
  });

  test('may open at their own time with the depth of the last bar, also after missing bars', async () => {
    const funding: TapeRecord = { kind: 'funding', ...at(MINUTE), ratePpb: ppb(5) };
    const { commands } = await play([...bars.slice(0, 1), funding, ...bars.slice(1)], {
      fidelity: 'bars',
      model: { ...DEFAULT_TAPE_MODEL, quote: 'nextOpen' },
    });
    expect(commands.map(emitted)).toEqual([
      'bar 10 11 quoted 11',
      'settleFunding',
      'bar 11 11 quoted 11',
      'bar 11 9 quoted 9',
      'bar 7 7 quoted 7',
      'bar 7 7 quoted 7',
    ]);
    expect(commands.map(({ timeUs: us }) => us)).toEqual([
      MINUTE - 1,
      MINUTE,
      MINUTE,
      2 * MINUTE - 1,
      3 * MINUTE,
      4 * MINUTE - 1,
    ]);
    expect(commands[2]).toMatchObject({
      volumeLots: 0,
      depthLots: 10,
      highTicks: 11,
      lowTicks: 11,
    });
  });

  test('close the book where they are missing, when the next one was due', async () => {
    const mark = (minute: number): TapeRecord => ({
      ...{ kind: 'mark', priceTicks: priceTicks(8) },
      ...at(minute * MINUTE),
    });
    const records = [...bars.slice(0, 2), mark(2.4), mark(2.6), bars[2]!, mark(4.2), mark(9)];
    const times = async (options: TapeOptions) => {
      const { commands } = await play(records, { fidelity: 'bars', ...options });
      return commands.map(({ kind, timeUs: us }) => `${kind} ${String(Math.round(us / 6e6) / 10)}`);
    };
    const played = ['tapeBar 1', 'tapeBar 2', 'setMark 2.4', 'setMark 2.6'];
    expect(await times({ closesUntilUs: 9 * MINUTE })).toEqual([
      ...played,
      ...['tapeGap 3', 'tapeBar 4', 'setMark 4.2', 'tapeGap 5', 'setMark 9'],
    ]);
    expect(await times({})).toEqual([...played, 'tapeBar 4', 'setMark 4.2', 'setMark 9']);
    // At the end of all data nothing closes.
    const { commands } = await play(bars.slice(0, 2), {
      ...{ fidelity: 'bars', closesUntilUs: 2 * MINUTE - 1 },
    });
    expect(commands.map(({ kind }) => kind)).toEqual(['tapeBar', 'tapeBar']);
  });

  test('change no book if one is recorded, unless selected by fidelity', async () => {
    const folder = join(scratch, 'both');
    const write = async (id: string, records: readonly TapeRecord[], mode: 'create' | 'add') => {
      const writer = await DatasetWriter.open(folder, { id, job: id, mode });
      for (const record of records) await writer.write(record);
      await writer.finish({ symbol: 'X', format: id, source: '', licence: '' }, UNITS);
    };
    const level = { side: 'bid', priceTicks: priceTicks(5), lots: lots(1) } as const;
    await write('book', [{ kind: 'snapshot', ...at(5), lastId: 1, levels: [level] }], 'create');
    await write('bars', bars, 'add');
    const dataset = await openDataset(folder);
    expect(dataset.markets[0]).toMatchObject({ fidelity: 'l2', counts: { snapshot: 1, bar: 3 } });
    expect(dataset.markets[0]?.streams[1]).toMatchObject({ barUs: MINUTE, gaps: 1 });
    const kinds = async (options: Parameters<typeof dataset.read>[0]) => {
      const all: string[] = [];
      for await (const batch of dataset.read(options).commands())
        all.push(...batch.map(({ kind }) => kind));
      return all;
    };
    expect(await kinds({})).toEqual(['tapeGap', 'tapeSnapshot']);
    const withHole = ['tapeBar', 'tapeBar', 'tapeGap', 'tapeBar'];
    expect(await kinds({ fidelity: 'bars' })).toEqual(withHole);
    const model = { ...DEFAULT_TAPE_MODEL, holes: 'keep' } as const;
    expect(await kinds({ fidelity: 'bars', model })).toEqual(['tapeBar', 'tapeBar', 'tapeBar']);
    // A range that begins in the hole, and one after it.
    const from = (minutes: number) => kinds({ fidelity: 'bars', fromUs: minutes * MINUTE });
    expect(await from(2.9)).toEqual(['tapeGap', 'tapeBar']);
    expect(await from(1.2)).toEqual(['tapeBar', 'tapeGap', 'tapeBar']);
    expect(() => dataset.read({ fidelity: 'l3' })).toThrow(
      `${folder}: X cannot be played as l3: it has snapshot, bar, which allows l2, bars`,
    );
    const ofBars = ['data', 'verify', folder, '--fidelity', 'bars'];
    expect(await main(ofBars)).toBe(1);
    expect(await main([...ofBars, '--allow-gaps'])).toBe(0);
    expect(await main(['data', 'verify', folder, '--fidelity', 'trades'])).toBe(2);
  });
});

test('single orders start with an empty book, or with a leading snapshot', async () => {
  const order: TapeRecord = {
    kind: 'order',
    ...at(1),
    action: 'add',
    ref: 4,
    side: 'bid',
    priceTicks: priceTicks(9),
    lots: lots(2),
  };
  const { commands } = await play([order], { fidelity: 'l3' });
  expect(commands.map(emitted)).toEqual(['tapeSnapshot ', 'tapeL3']);
  expect(commands[1]).toMatchObject({ action: 'add', ref: 4, side: 'bid', priceTicks: 9, lots: 2 });
});

test('played as trades, executions of single orders are trades', async () => {
  const order = { kind: 'order', ref: 4, side: 'bid', priceTicks: priceTicks(9) } as const;
  const { commands } = await play(
    [
      { ...order, ...at(1), action: 'add', lots: lots(5) },
      { ...order, ...at(2), action: 'execute', lots: lots(2) },
      { ...order, ...at(3), side: 'ask', action: 'execute', lots: lots(3) },
      { ...order, ...at(4), action: 'reduce', lots: lots(1) },
    ],
    { fidelity: 'trades' },
  );
  const trades = commands.filter(({ kind }) => kind === 'tapeTrade');
  expect(trades).toEqual([
    expect.objectContaining({ priceTicks: 9, lots: -2 }),
    expect.objectContaining({ priceTicks: 9, lots: 3 }),
  ]);
  expect(commands).toHaveLength(4);
  // Their snapshots and corrections are not a book of levels.
  expect(fidelitiesOf({ order: 1, snapshot: 1, depth: 1, trade: 1 })).toEqual(['l3', 'trades']);
});

const played: readonly (readonly [RecordCounts, Fidelity | null, string, string, string])[] = [
  [{ order: 1, depth: 1 }, 'l3', 'mid', 'median', 'external'],
  [{ snapshot: 1, trade: 1 }, 'l2', 'mid', 'median', 'external'],
  [{ depth: 1, index: 1 }, 'l2', 'external', 'median', 'premium'],
  [{ depth: 1, index: 1, mark: 1, funding: 1 }, 'l2', 'external', 'external', 'external'],
  [{ trade: 1 }, 'trades', 'mid', 'last', 'external'],
  [{ bar: 1, touch: 1 }, 'bars', 'mid', 'last', 'external'],
  [{ funding: 1 }, null, 'mid', 'last', 'external'],
];
test.each(played)(
  '%j is played as %s, index %s, mark %s, funding %s',
  (counts, fidelity, indexSource, markSource, fundingSource) => {
    expect(fidelityOf(counts)).toBe(fidelity);
    expect(sourcesOf(counts, fidelity)).toEqual({ indexSource, markSource, fundingSource });
  },
);

test('the model of a run is parsed from one line, and described in its report', () => {
  const model = parseTapeModel('path=stopFirst,fill=through,quote=nextOpen,spread=0,depth=7');
  expect(model).toEqual({
    path: 'stopFirst',
    fill: 'through',
    quote: 'nextOpen',
    holes: null,
    spreadTicks: 0,
    depthLots: 7,
  });
  expect(parseTapeModel('holes=keep').holes).toBe('keep');
  expect(parseTapeModel('')).toEqual(DEFAULT_TAPE_MODEL);
  expect(describeModel(model, 'bars')).toContain('7 lots a side with a spread of 0 ticks');
  // A trade is at the bid or at the ask, so these differ.
  expect(describeModel(model, 'trades')).toContain('7 lots a side with a spread of 1 tick is');
  expect(describeModel(model, 'l2')).toBeNull();
});

test.each([
  ['path=best', "bars: path 'best' is not one of nearest, worstCase, stopFirst"],
  ['spread=-1', "bars: spread '-1' is not from 0 to 16777216 ticks"],
  [
    'deep=1',
    "bars: 'deep=1' is not one of path, fill, quote, holes, spread and depth, each name=value",
  ],
])('%s is rejected', (text, message) => {
  expect(() => parseTapeModel(text)).toThrow(message);
});
