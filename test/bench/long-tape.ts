/**
 * Datasets for benches: the recorded one repeated with shifted times, and one-minute bars of a
 * walk.
 */
import { fileURLToPath } from 'node:url';
import { must } from '../../src/base/assert.ts';
import { lots, priceTicks, timeUs } from '../../src/num/units.ts';
import type { TapeRecord } from '../../src/tape/record.ts';
import { openDataset } from '../../src/tape-files/dataset-files.ts';
import { DatasetWriter } from '../../src/tape-files/dataset-writer.ts';
import { MINUTE_US, walk } from './bar-flow.ts';

export const RECORDED = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
const UNITS = { symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001', inverse: false };
/** More than the number of ids in one recording. */
const IDS = 2 ** 44;
const LINES = 2 ** 24;

/** Returns the number of depth levels and trades, the records that change the book. */
export async function writeLongTape(folder: string, times: number): Promise<number> {
  const dataset = await openDataset(RECORDED);
  const market = must(dataset.markets[0], 'the recording has a market');
  const stream = must(market.streams[0], 'the recording has a stream');
  const spanUs = Math.ceil((market.lastUs - market.firstUs) / 1e6 + 1) * 1e6;
  let entries = 0;
  await written(folder, async (writer) => {
    for (let i = 0; i < times; i++) {
      for await (const batch of dataset.records(stream)) {
        for (const record of batch) {
          if (record.kind === 'trade') entries += 1;
          else if ('levels' in record) entries += record.levels.length;
          await writer.write(later(record, i, i * spanUs));
        }
      }
    }
  });
  return entries;
}

function later(record: TapeRecord, i: number, byUs: number): TapeRecord {
  const base = {
    timeUs: timeUs(record.timeUs + byUs),
    localUs: timeUs(record.localUs + byUs),
    line: record.line + i * LINES,
  };
  const id = (of: number): number => of + i * IDS;
  switch (record.kind) {
    case 'depth':
      return {
        ...record,
        ...base,
        firstId: id(record.firstId),
        lastId: id(record.lastId),
        prevId: id(record.prevId),
      };
    case 'snapshot':
      return { ...record, ...base, lastId: id(record.lastId) };
    case 'trade':
      return { ...record, ...base, tradeId: id(record.tradeId) };
    case 'touch':
      return { ...record, ...base, updateId: id(record.updateId) };
    default:
      return { ...record, ...base };
  }
}

/** Bars of one market, into a new dataset or beside those of others. */
export async function writeBars(
  folder: string,
  count: number,
  startUs: number,
  symbol = UNITS.symbol,
  mode: 'replace' | 'add' = 'replace',
): Promise<void> {
  const write = async (writer: DatasetWriter): Promise<void> => {
    for (const { minute, open, high, low, close, volume } of walk(count)) {
      const endUs = timeUs(startUs + (minute + 1) * MINUTE_US - 1);
      await writer.write({
        kind: 'bar',
        timeUs: endUs,
        localUs: endUs,
        line: minute + 1,
        startUs: timeUs(startUs + minute * MINUTE_US),
        open: priceTicks(open),
        high: priceTicks(high),
        low: priceTicks(low),
        close: priceTicks(close),
        volume: lots(volume),
      });
    }
  };
  await written(folder, write, symbol, mode);
}

async function written(
  folder: string,
  write: (writer: DatasetWriter) => Promise<void>,
  symbol = UNITS.symbol,
  mode: 'replace' | 'add' = 'replace',
): Promise<void> {
  const writer = await DatasetWriter.open(folder, { id: 'made', job: `made ${symbol}`, mode });
  await write(writer);
  const facts = { symbol, format: 'made', source: 'made for a bench', licence: '' };
  await writer.finish(facts, { ...UNITS, symbol });
}
