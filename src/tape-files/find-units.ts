/** Tick and lot size of the market in a recording. */
import { LOBSTER_TICK } from '../tape/formats/lobster.ts';
import { specSymbol } from '../tape/formats/market-names.ts';
import { UNKNOWN_UNITS } from '../tape/manifest.ts';
import { NumberScan } from '../tape/formats/numbers.ts';
import { TapeError, type TapeUnits } from '../tape/record.ts';
import { filesToRead } from './companion-files.ts';
import { unitsInJournal } from './journal-records.ts';
import { Recording, type RecordingOptions } from './recordings.ts';

/** Given, or the finest steps of prices and sizes. */
export async function findUnits(
  options: RecordingOptions,
  onProgress: (fraction: number) => void = () => undefined,
  unitsOf: (symbol: string) => TapeUnits | null = () => null,
): Promise<TapeUnits | null> {
  const { format, units } = options;
  if (format.container === 'journal') return unitsInJournal(options, unitsOf, onProgress);
  if (units !== null) return units;
  const scan = new NumberScan();
  // Bad rows are reported by the second pass. Bad messages count here: if all are bad, no market is
  // found.
  const isMessages = format.container === 'binance-raw' || format.container === 'messages';
  const skipBad = isMessages ? options.skipBad : Infinity;
  const recording = new Recording({ ...options, skipBad, state: null }, scan);
  const files = filesToRead(options);
  for (const [i, path] of files.entries()) {
    for await (const batch of recording.read(path)) {
      // Raw lines of a market with known units.
      if (recording.units !== null && recording.units.tickSize !== '') return recording.units;
      const known = recording.symbol === null ? null : unitsOf(recording.symbol);
      if (known !== null) return known;
      if (batch.length > 0) onProgress((i + recording.fraction) / files.length);
    }
    if (format.container === 'lobster') break;
  }
  recording.mustBeOneMarket();
  const symbol = recording.symbol === null ? null : specSymbol(recording.symbol);
  const market = symbol === null ? null : unitsOf(symbol);
  if (market !== null) return market;
  if (symbol === null) {
    const place = format.symbolIn === 'path' ? 'files and file names name' : 'records name';
    throw new TapeError(`the ${place} no market; give --symbol`);
  }
  if (format.container === 'lobster')
    return { symbol, tickSize: LOBSTER_TICK, lotSize: '1', inverse: recording.isInverse };
  const steps = scan.found() ?? UNKNOWN_UNITS;
  return { symbol, ...steps, inverse: recording.isInverse };
}
