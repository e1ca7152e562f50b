/** Input of `data verify` and `data book`: the markets of a dataset, or one raw recording. */
import { stat } from 'node:fs/promises';
import type { MarketSpec } from '../../engine/config.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import { marketId } from '../../num/units.ts';
import { omitsEmptyBars } from '../../tape/formats/formats.ts';
import { originOf } from '../../tape/record-origin.ts';
import type { StreamManifest } from '../../tape/manifest.ts';
import { TapeError, type TapeRecord, type TapeUnits } from '../../tape/record.ts';
import { FIDELITIES, type Fidelity } from '../../tape/tape-model.ts';
import { RecordChecks } from '../../tape/record-checks.ts';
import { TapeSteps } from '../../tape/tape-steps.ts';
import { openDataset, playedAs } from '../../tape-files/dataset-files.ts';
import { fileError } from '../../platform/file-error.ts';
import { openRaw } from '../../tape-files/raw-recording.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import { InputError } from '../cli-support.ts';

export interface UnitArguments {
  readonly symbol: string | undefined;
  readonly tick: string | undefined;
  readonly lot: string | undefined;
  readonly inverse: boolean;
  readonly fidelity?: Fidelity | undefined;
}

export const unitOptions = {
  symbol: { type: 'string', describe: 'market to read' },
  tick: { type: 'string', describe: 'tick size; default: from the data' },
  lot: { type: 'string', describe: 'lot size; default: from the data' },
  inverse: { type: 'boolean', default: false, describe: 'the contract is inverse (coin-margined)' },
  fidelity: {
    choices: FIDELITIES,
    describe: 'level of detail to play; default: the best that the data allow',
  },
} as const;

/** One market to rebuild. */
export interface TapeSource {
  readonly steps: TapeSteps;
  readonly checks: RecordChecks;
  /** Available after the first record. */
  readonly units: () => TapeUnits;
  /** Streams of a dataset; empty for a raw file. */
  readonly streams: readonly StreamManifest[];
  readonly progress: () => number;
  /** Whether all bars are of formats that omit bars without trades. */
  readonly hasGapsByNature: boolean;
}

/**
 * Markets of a dataset, or the one of a raw file. `booksAlone`: a book of levels changes by its
 * updates only, not by trades. Throws `FileError` or `TapeError`.
 */
export async function openTapes(
  path: string,
  args: UnitArguments,
  booksAlone = false,
): Promise<TapeSource[]> {
  const entry = await stat(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  if (!entry.isDirectory()) return [await rawTape(path, args, booksAlone)];
  const dataset = await openDataset(path);
  const { markets } = dataset;
  const read = markets.filter(({ symbol }) => (args.symbol ?? symbol) === symbol);
  if (read.length === 0 && args.symbol !== undefined) {
    const known = markets.map(({ symbol }) => symbol).join(', ');
    throw new InputError(`${path}: no market ${args.symbol}; markets are ${known}`);
  }
  return read.map((market) => {
    const fidelity = playedAs(path, market, args.fidelity) ?? 'l2';
    const isPlayed = playedKinds(fidelity, booksAlone);
    const total = market.streams.flatMap(({ parts }) => parts).reduce((n, { rows }) => n + rows, 0);
    let done = 0;
    const streams = market.streams.map(async function* (stream) {
      for await (const batch of dataset.records(stream)) {
        done += batch.length;
        yield batch.filter(isPlayed);
      }
    });
    const checks = new RecordChecks(originOf(market.streams));
    return {
      steps: new TapeSteps(streams, marketId(0), () => market, { fidelity, checks }),
      checks,
      units: () => market,
      streams: market.streams,
      progress: () => done / Math.max(1, total),
      hasGapsByNature: market.streams.every(({ format }) => omitsEmptyBars(format)),
    };
  });
}

function playedKinds(fidelity: Fidelity, booksAlone: boolean): (record: TapeRecord) => boolean {
  return booksAlone && fidelity === 'l2' ? ({ kind }) => kind !== 'trade' : () => true;
}

async function rawTape(
  path: string,
  args: UnitArguments,
  booksAlone: boolean,
): Promise<TapeSource> {
  const recording = await openRaw([path], unitsOf(args), args.symbol);
  const units = (): TapeUnits => {
    const known = recording.units();
    if (known === null) throw new TapeError(`${path}: it has no records`);
    return known;
  };
  const { fidelity } = args;
  const isPlayed = playedKinds(fidelity ?? 'l2', booksAlone);
  async function* records(): AsyncGenerator<TapeRecord[]> {
    for await (const batch of recording.records) yield batch.filter(isPlayed);
  }
  const checks = new RecordChecks(originOf([]));
  const options = { checks, ...(fidelity === undefined ? {} : { fidelity }) };
  const steps = new TapeSteps([records()], marketId(0), units, options);
  return {
    steps,
    checks,
    units,
    streams: [],
    progress: recording.progress,
    hasGapsByNature: false,
  };
}

export function unitsOf({ symbol, tick, lot, inverse }: UnitArguments): TapeUnits | null {
  if (tick === undefined && lot === undefined) return null;
  if (symbol === undefined || tick === undefined || lot === undefined) {
    throw new InputError('--tick and --lot need each other and --symbol');
  }
  return { symbol, tickSize: tick, lotSize: lot, inverse };
}

/**
 * A market for rebuilding books, in ticks and lots. Without trading they may be finer than the
 * limit of a market.
 */
export function specOf({ symbol }: TapeUnits): MarketSpec {
  const spec = parseMarketSpec({ symbol, tickSize: '1', lotSize: '1', indexSource: 'mid' }, keccak);
  if (!spec.ok) throw new InputError(spec.error);
  return spec.value;
}
