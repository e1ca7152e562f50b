/** Datasets for replays: books, trades, marks, indices and funding rates, made from a seed. */
import { DatasetWriter } from '../../src/tape-files/dataset-writer.ts';
import type { OrderRecord, TapeRecord, TapeUnits } from '../../src/tape/record.ts';
import { lots, ppb, priceTicks, timeUs } from '../../src/num/units.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

export const FROM_US = 1_704_067_200_000_000;
const LEVELS = 10;

export interface MadeUpMarket {
  readonly symbol: string;
  /** Updates of the book, and the time between two of them. */
  readonly steps: number;
  readonly everyUs: number;
  /** Ticks by which the price moves at each step, on average. */
  readonly drift?: number;
  /** Every n-th step has a mark and an index; 0: none. */
  readonly marksEvery?: number;
  /** Every n-th step settles a funding rate; 0: none. */
  readonly fundingEvery?: number;
  /** Bars of a minute instead of a book and trades. */
  readonly bars?: boolean;
  /** Single orders that move, instead of levels and trades. */
  readonly orders?: boolean;
  /** True: every third update leaves the best prices as they are. */
  readonly calm?: boolean;
  /** True: receipt is 1 to 9 ms after the venue's time, and differs by line. */
  readonly lags?: boolean;
}

export async function writeDataset(path: string, markets: readonly MadeUpMarket[]): Promise<void> {
  for (const [i, market] of markets.entries()) {
    const units: TapeUnits = {
      symbol: market.symbol,
      tickSize: '0.1',
      lotSize: '0.001',
      inverse: false,
    };
    const writer = await DatasetWriter.open(path, {
      id: market.symbol,
      job: market.symbol,
      mode: i === 0 ? 'create' : 'add',
    });
    const records = seriesOf(market)(market);
    for (const record of records) await writer.write(record);
    await writer.endFile({ name: market.symbol, sha256: market.symbol, bytes: 0 }, null);
    await writer.finish({ symbol: market.symbol, format: 'csv', source: '', licence: '' }, units);
  }
}

function seriesOf({ bars = false, orders = false }: MadeUpMarket): typeof recordsOf {
  if (bars) return barsOf;
  return orders ? ordersOf : recordsOf;
}

export function recordsOf({
  symbol,
  steps,
  everyUs,
  drift = 0,
  marksEvery = 0,
  fundingEvery = 0,
  calm = false,
  lags = false,
}: MadeUpMarket): TapeRecord[] {
  const random = new RandomStreams(symbol).stream('records');
  const records: TapeRecord[] = [];
  let mid = 10_000;
  let line = 0;
  let book = new Map<number, number>();
  const at = (us: number) => {
    line += 1;
    const localUs = us + (lags ? 1000 * (1 + random.below(9)) : 0);
    return { timeUs: timeUs(us), localUs: timeUs(localUs), line };
  };
  const level = ([signed, size]: readonly [number, number]) => ({
    side: signed > 0 ? ('bid' as const) : ('ask' as const),
    priceTicks: priceTicks(Math.abs(signed)),
    lots: lots(size),
  });
  for (let i = 0; i < steps; i++) {
    const us = FROM_US + i * everyUs;
    const isCalm = calm && i % 3 === 1;
    if (!isCalm) mid += random.below(7) - 3 + drift;
    const next = new Map<number, number>();
    for (let d = 1; d <= LEVELS; d++) {
      next.set(mid - d, 40 + random.below(20));
      next.set(-(mid + d), 40 + random.below(20));
    }
    for (const price of [mid - 1, -(mid + 1)]) {
      const size = book.get(price);
      if (isCalm && size !== undefined) next.set(price, size);
    }
    const gone = [...book.keys()].filter((price) => !next.has(price));
    const levels = [...gone.map((price) => [price, 0] as const), ...next].map(level);
    const ids = { firstId: i + 1, lastId: i + 1, prevId: i };
    if (i === 0) records.push({ kind: 'snapshot', ...at(us), lastId: 1, levels });
    else records.push({ kind: 'depth', ...at(us), ...ids, levels });
    book = next;
    const side = random.below(2) === 0 ? 1 : -1;
    records.push({
      kind: 'trade',
      ...at(us + Math.floor(everyUs / 2)),
      tradeId: i + 1,
      priceTicks: priceTicks(mid + side * (1 + random.below(4))),
      lots: lots(side * (1 + random.below(90))),
    });
    if (marksEvery > 0 && i % marksEvery === 0) {
      const ticks = priceTicks(mid + random.below(21) - 10);
      const markUs = us + Math.floor(everyUs / 4);
      records.push({ kind: 'index', ...at(markUs), priceTicks: priceTicks(mid) });
      records.push({ kind: 'mark', ...at(markUs), priceTicks: ticks });
    }
    if (fundingEvery > 0 && i % fundingEvery === fundingEvery - 1) {
      const rate = ppb((random.below(2001) - 1000) * 100);
      records.push({ kind: 'funding', ...at(us + Math.floor(everyUs / 3)), ratePpb: rate });
    }
  }
  return records.sort((a, b) => a.timeUs - b.timeUs || a.line - b.line);
}

function barsOf({ symbol, steps, everyUs, fundingEvery = 0 }: MadeUpMarket): TapeRecord[] {
  const random = new RandomStreams(symbol).stream('bars');
  const records: TapeRecord[] = [];
  let close = 10_000;
  for (let i = 0; i < steps; i++) {
    const startUs = FROM_US + i * everyUs;
    const open = close + random.below(5) - 2;
    close = open + random.below(41) - 20;
    const high = Math.max(open, close) + random.below(15);
    const low = Math.min(open, close) - random.below(15);
    const endUs = timeUs(startUs + everyUs - 1);
    const at = { timeUs: endUs, localUs: endUs, line: 2 * i + 1 };
    const [openTicks, highTicks, lowTicks, closeTicks] = [open, high, low, close].map(priceTicks);
    if (
      openTicks === undefined ||
      highTicks === undefined ||
      lowTicks === undefined ||
      closeTicks === undefined
    )
      throw new Error('four prices');
    records.push({
      kind: 'bar',
      ...at,
      startUs: timeUs(startUs),
      open: openTicks,
      high: highTicks,
      low: lowTicks,
      close: closeTicks,
      volume: lots(200 + random.below(300)),
    });
    if (fundingEvery > 0 && i % fundingEvery === fundingEvery - 1) {
      records.push({ kind: 'funding', ...at, line: 2 * i + 2, ratePpb: ppb(50_000) });
    }
  }
  return records;
}

/** At each step the whole book moves, one order after the other, and its best order trades. */
function ordersOf({ symbol, steps, everyUs }: MadeUpMarket): TapeRecord[] {
  const random = new RandomStreams(symbol).stream('orders');
  const records: TapeRecord[] = [];
  let mid = 10_000;
  const write = (
    action: OrderRecord['action'],
    step: number,
    order: Pick<OrderRecord, 'ref' | 'side' | 'priceTicks'>,
    size: number,
  ): void => {
    const at = timeUs(FROM_US + step * everyUs);
    const line = records.length + 1;
    records.push({
      kind: 'order',
      action,
      ...order,
      timeUs: at,
      localUs: at,
      line,
      lots: lots(size),
    });
  };
  const orderAt = (ref: number, from: number) => {
    const [side, sign] = ref % 2 === 0 ? (['bid', -1] as const) : (['ask', 1] as const);
    return { ref, side, priceTicks: priceTicks(from + sign * (1 + (ref >> 1))) };
  };
  for (let i = 0; i < steps; i++) {
    const before = mid;
    mid += random.below(7) - 3;
    // Those in front of the move first, so that the book is never crossed.
    const refs = Array.from({ length: 2 * LEVELS }, (_, k) => k + 2);
    refs.sort((a, b) => (mid > before ? (b % 2) - (a % 2) || b - a : (a % 2) - (b % 2) || b - a));
    for (const ref of refs) {
      if (i > 0) write('remove', i, orderAt(ref, before), 60);
      write('add', i, orderAt(ref, mid), 60);
    }
    const taken = 2 + random.below(2);
    write('execute', i, orderAt(taken, mid), 1 + random.below(59));
  }
  return records;
}
