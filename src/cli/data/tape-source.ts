/** What `data verify` and `data book` read: the markets of a dataset, or one raw recording. */
import { stat } from 'node:fs/promises';
import type { MarketSpec } from '../../engine/config.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import { marketId } from '../../num/units.ts';
import type { StreamManifest } from '../../sim/tape/manifest.ts';
import { TapeError, type TapeUnits } from '../../sim/tape/record.ts';
import { FIDELITIES, type Fidelity } from '../../sim/tape/tape-model.ts';
import { TapeSteps } from '../../sim/tape/tape-steps.ts';
import { openDataset, playedAs } from '../../store/dataset-files.ts';
import { fileError } from '../../store/file-error.ts';
import { openRaw } from '../../store/recordings.ts';
import { keccak } from '../../wallet/ethers-ports.ts';
import { InputError } from '../manners.ts';

export interface UnitArguments {
  readonly symbol: string | undefined;
  readonly tick: string | undefined;
  readonly lot: string | undefined;
  readonly inverse: boolean;
  readonly fidelity?: Fidelity | undefined;
}

export const unitOptions = {
  symbol: { type: 'string', describe: 'symbol, when its tick and lot size are given' },
  tick: { type: 'string', describe: 'tick size as decimal text' },
  lot: { type: 'string', describe: 'lot size as decimal text' },
  inverse: { type: 'boolean', default: false, describe: 'coin-margined contract' },
  fidelity: {
    choices: FIDELITIES,
    describe: 'play markets as this, though their data say more; else as the most that they say',
  },
} as const;

/** One market to be rebuilt. */
export interface TapeSource {
  readonly steps: TapeSteps;
  /** Known once the first record came. */
  readonly units: () => TapeUnits;
  /** Of a dataset; none of a raw file. */
  readonly streams: readonly StreamManifest[];
  readonly progress: () => number;
}

/** The markets of a dataset, or the one of a raw file. Throws `FileError` or `TapeError`. */
export async function openTapes(path: string, args: UnitArguments): Promise<TapeSource[]> {
  const entry = await stat(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  if (!entry.isDirectory()) return [rawTape(path, args)];
  const dataset = await openDataset(path);
  return dataset.markets
    .filter(({ symbol }) => args.symbol === undefined || args.symbol === symbol)
    .map((market) => {
      const total = market.streams.flatMap(({ parts }) => parts).reduce((n, { rows }) => n + rows, 0);
      let done = 0;
      const streams = market.streams.map(async function* (stream) {
        for await (const batch of dataset.records(stream)) {
          done += batch.length;
          yield batch;
        }
      });
      return {
        steps: new TapeSteps(streams, marketId(0), () => market, {
          fidelity: playedAs(path, market, args.fidelity) ?? 'l2',
        }),
        units: () => market,
        streams: market.streams,
        progress: () => done / Math.max(1, total),
      };
    });
}

function rawTape(path: string, args: UnitArguments): TapeSource {
  const recording = openRaw([path], unitsOf(args));
  const units = (): TapeUnits => {
    const known = recording.units();
    if (known === null) throw new TapeError(`${path}: no record in it`);
    return known;
  };
  const { fidelity } = args;
  const steps = new TapeSteps([recording.records], marketId(0), units, fidelity && { fidelity });
  return { steps, units, streams: [], progress: recording.progress };
}

export function unitsOf({ symbol, tick, lot, inverse }: UnitArguments): TapeUnits | null {
  if (tick === undefined && lot === undefined) return null;
  if (symbol === undefined || tick === undefined || lot === undefined) {
    throw new InputError('--symbol, --tick and --lot are given together');
  }
  return { symbol, tickSize: tick, lotSize: lot, inverse };
}

/** A market for rebuilding books, in ticks and lots: nobody trades in it, so they may be finer than a market's can be. */
export function specOf({ symbol }: TapeUnits): MarketSpec {
  const spec = parseMarketSpec({ symbol, tickSize: '1', lotSize: '1', indexSource: 'mid' }, keccak);
  if (!spec.ok) throw new InputError(spec.error);
  return spec.value;
}
