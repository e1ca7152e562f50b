import { countText } from '../../base/count-text.ts';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { parse as parseYaml } from 'yaml';
import type { CommandModule } from 'yargs';
import { intervalOf, parseColumnMap, type ColumnMap } from '../../tape/formats/column-map.ts';
import { mustBeOfOneKind } from '../../tape/formats/market-kind.ts';
import { isSameMarket, specSymbol } from '../../tape/formats/market-names.ts';
import { checksumText } from '../../tape/formats/book-checksum.ts';
import { FORMATS, IMPORT_OPTIONS, symbolOfFile, type Format } from '../../tape/formats/formats.ts';
import { hasUnknownUnits, type StreamManifest } from '../../tape/manifest.ts';
import { KNOWN_UNITS, TapeError, type TapeUnits } from '../../tape/record.ts';
import { openDataset } from '../../tape-files/dataset-files.ts';
import { sha256Of } from '../../tape-files/part-files.ts';
import { DatasetWriter, restoreFormer, type DoneFile } from '../../tape-files/dataset-writer.ts';
import { journalFiles } from '../../tape-files/journal-records.ts';
import { findKind } from '../../tape-files/raw-recording.ts';
import { dateText } from '../../base/date-text.ts';
import { inSteps } from '../../gateway/encode.ts';
import { formatDecimal, parseDecimal } from '../../num/decimal.ts';
import { COLLATERAL_DECIMALS } from '../../num/units.ts';
import { fileError } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { RunClaim } from '../../run-plan/run-claim.ts';
import { companionFiles, filesToRead } from '../../tape-files/companion-files.ts';
import { findUnits } from '../../tape-files/find-units.ts';
import { AUTO_FORMAT, formatNamed } from '../../tape-files/format-named.ts';
import { Recording, type RecordingOptions } from '../../tape-files/recordings.ts';
import {
  InputError,
  letInterrupt,
  mustBeWhole,
  print,
  printError,
  printJson,
  startProgress,
  stopIfInterrupted,
} from '../cli-support.ts';

interface ImportArguments {
  readonly format: string;
  readonly file: readonly string[];
  readonly out: string;
  readonly symbol: string | undefined;
  readonly tick: string | undefined;
  readonly lot: string | undefined;
  readonly inverse: boolean | undefined;
  readonly source: string;
  readonly licence: string;
  readonly add: boolean;
  readonly merge: boolean;
  readonly replace: boolean;
  readonly map: string | undefined;
  readonly interval: string | undefined;
  readonly 'contract-size'?: string | undefined;
  readonly 'skip-bad': number;
  readonly round: boolean;
  readonly json: boolean;
}

export const importCommand: CommandModule<object, ImportArguments> = {
  command: 'import <format> <file..>',
  describe: 'Import recorded files into a dataset',
  builder: (yargs) =>
    yargs
      .positional('format', {
        type: 'string',
        demandOption: true,
        choices: [AUTO_FORMAT, ...FORMATS.map(({ name }) => name)],
        describe: 'format of the files; auto detects it from their names',
      })
      .positional('file', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'files of one recording, in order; plain, gzip, zip, lz4 or zstd',
      })
      .option('out', { type: 'string', demandOption: true, describe: 'folder of the dataset' })
      .option('add', {
        type: 'boolean',
        default: false,
        describe: 'add the recording to an existing dataset',
      })
      .option('merge', {
        type: 'boolean',
        default: false,
        describe: 'with --add: keep records once where the streams overlap',
      })
      .option('replace', {
        type: 'boolean',
        default: false,
        describe: 'overwrite an existing dataset',
      })
      .option('symbol', {
        type: 'string',
        describe: 'symbol of the market; default: found in the files',
      })
      .option('tick', { type: 'string', describe: 'tick size; default: found in the prices' })
      .option('lot', { type: 'string', describe: 'lot size; default: found in the sizes' })
      .option('inverse', {
        type: 'boolean',
        describe: 'the contract is inverse (coin-margined); default: by its name',
      })
      .option('map', { type: 'string', describe: 'YAML file that maps columns to fields' })
      .option('interval', {
        type: 'string',
        describe: 'length of a bar, such as 1m; default: that in the name, or found',
      })
      .option('contract-size', {
        type: 'string',
        describe: 'base currency in a contract, where sizes are numbers of contracts',
      })
      .option('skip-bad', {
        type: 'number',
        default: 0,
        describe: 'max number of bad rows to skip',
      })
      .option('round', {
        type: 'boolean',
        default: false,
        describe: 'round sizes to --lot, at least one lot',
      })
      .option('source', {
        type: 'string',
        default: '',
        describe: 'source of the recording, for the manifest',
      })
      .option('licence', {
        type: 'string',
        default: '',
        describe: 'licence of the recording, for the manifest',
      })
      .option('json', {
        type: 'boolean',
        default: false,
        describe: 'print the manifest of the stream, with notes, as JSON',
      })
      .example('$0 data import binance-klines BTCUSDT-1m-2024-01.zip --out data/btc', '')
      .example(
        '$0 data import binance-funding BTCUSDT-fundingRate-2024-01.zip --out data/btc --add',
        '',
      )
      .example(
        '$0 data import orrery-journal live-exchange --symbol BTC-USD-PERP --out data/live',
        '',
      )
      .example(
        '$0 data import tardis book.csv.gz --out data/book',
        'the header determines the kind of file',
      )
      .example(
        '$0 data import csv ticks.csv --map ticks.yaml --symbol GOLD --out data/ticks --skip-bad 5',
        '',
      )
      .epilog('Formats, column maps and checks: docs/DATA.md'),
  handler: async (args) => {
    const stream = await importFiles(args);
    if (args.json) printJson({ ...stream.manifest, notes: remarks(stream) });
    else printSummary(args.out, stream);
  },
};

interface Imported {
  readonly manifest: StreamManifest;
  readonly units: TapeUnits;
  /** True if tick and lot size were found in the data. */
  readonly found: boolean;
  /** Findings about files and the whole dataset, and markets that were not read. */
  readonly notes: readonly string[];
}

/** Imports without printing. Throws `InputError`, `TapeError` or `FileError`. */
export async function importFiles(args: ImportArguments): Promise<Imported> {
  if (args.round && args.lot === undefined) throw new InputError('--round needs --lot');
  if (args.add && args.replace) throw new InputError('--add and --replace exclude each other');
  mustBeWhole('skip-bad', args['skip-bad'], 0);
  const format = formatNamed(args.format, args.file);
  for (const option of IMPORT_OPTIONS) {
    if (args[option] !== undefined && args[option] !== false && !format.options.includes(option)) {
      throw new InputError(`--${option} does not apply to the format ${format.name}`);
    }
  }
  if (args.inverse === true && !format.markets.includes('inverse')) {
    throw new InputError(`--inverse: ${format.name} records no inverse contracts`);
  }
  const contractSize = contractSizeOf(args['contract-size']);
  const map = await mapOf(args);
  if (args.merge && !args.add) throw new InputError('--merge needs --add');
  // Before the dataset is read: another import may be about to change it.
  await makeFolder(dirname(resolve(args.out)));
  const claim = RunClaim.takeDataset(args.out);
  try {
    await restoreFormer(args.out);
    return await importInto({ ...args, 'contract-size': contractSize }, format, map);
  } finally {
    claim.release();
  }
}

async function importInto(
  args: ImportArguments,
  format: Format,
  map: ColumnMap | null,
): Promise<Imported> {
  const dataset = args.add ? (await openDataset(args.out)).manifest : null;
  const streams = dataset?.streams ?? [];
  const markets = dataset?.markets ?? [];
  const present = markets.filter((market) => !hasUnknownUnits(market, streams));
  const presentUnits = (name: string): TapeUnits | null =>
    present.find((market) => isSameMarket(market.symbol, name)) ?? null;
  const givenUnits = unitsGiven(args, format, presentUnits);
  const contractSize = args['contract-size'];
  const options: RecordingOptions = {
    format,
    files: args.file,
    symbol: args.symbol ?? null,
    units: givenUnits,
    inverse: args.inverse ?? null,
    map,
    contractSize,
    skipBad: args['skip-bad'],
    round: args.round,
    state: null,
  };
  const id = [args.symbol, format.name].filter((part) => part !== undefined).join('.');
  const { symbol, tick, lot, inverse, round } = args;
  const given = { symbol, tick, lot, inverse, round, contractSize };
  const files = filesToRead(options);
  const isJournal = format.container === 'journal';
  const writer = await DatasetWriter.open(args.out, {
    id,
    job: JSON.stringify([format.name, args.file, given, map]),
    mode: args.add ? 'add' : args.replace ? 'replace' : 'create',
    merge: args.merge,
    assignsIds: format.assignsIds === true,
    files: isJournal ? files.map(firstSegment) : files,
  });
  const progress = startProgress('import', args.json);
  try {
    const showFraction = (fraction: number): void => {
      stopIfInterrupted();
      progress.update(fraction / 2);
    };
    const found = await findUnits(options, showFraction, presentUnits);
    const units = found && namedAsPresent(found, markets);
    if (streams.length > 0) mustBeOfOneKind(await findKind(options), units?.symbol ?? '', streams);
    mustShareContractSize(contractSize, format, units?.symbol ?? '', streams);
    const recording = new Recording({ ...options, units, state: writer.reader });
    recording.skipped = writer.skippedRows;
    const segments: string[] = [];
    for (const [i, path] of files.entries()) {
      if (i < writer.done.length) continue;
      const name = basename(path);
      for await (const batch of recording.read(path)) {
        await letInterrupt();
        for (const record of batch) await writer.write(record, name);
        progress.update((i + recording.fraction) / files.length);
      }
      writer.skippedRows = recording.skipped;
      const [first = path, ...more] = isJournal ? journalFiles(path) : [path];
      segments.push(...more);
      await writer.endFile(await inputFile(first), recording.state());
    }
    recording.mustBeOneMarket();
    if (recording.units === null) throw new TapeError('the files hold no record');
    const isGiven = [
      givenUnits && units,
      presentUnits(recording.units.symbol),
      ...KNOWN_UNITS,
    ].includes(recording.units);
    const known = withInverse(recording.units, recording.isInverse, present);
    const { source, licence } = args;
    const checksums = recording.checksums.facts;
    const facts = {
      ...{ symbol: known.symbol, format: format.name, source, licence },
      ...(checksums.compared > 0 ? { checksums } : {}),
      ...(recording.kind === null ? {} : { kind: recording.kind }),
      ...(contractSize !== undefined && { contractSize }),
    };
    if (known.inverse && contractSize !== undefined) {
      throw new TapeError(
        '--contract-size is for linear contracts, and these files are of a coin-margined one',
      );
    }
    const beside = await Promise.all([...companionFiles(options), ...segments].map(inputFile));
    const manifest = await writer.finish(facts, known, beside);
    const { otherMarkets } = recording;
    const skipped = otherMarkets.length === 0 ? [] : [`not read: ${otherMarkets.join(', ')}`];
    const isCounted = recording.countsContracts && !known.inverse && hasSizes(manifest);
    const counted = isCounted && contractSize === undefined ? [countedText(known.symbol)] : [];
    return {
      manifest,
      units: known,
      found: !isGiven && !isJournal,
      notes: [...recording.claims.notes, ...writer.findings, ...skipped, ...counted],
    };
  } catch (error) {
    progress.stop();
    const kept = await writer.abandon();
    if (kept > 0 && kept < filesToRead(options).length) {
      printError(
        `imported ${String(kept)} of ${String(args.file.length)} files; rerun the command to continue`,
      );
    }
    throw error;
  } finally {
    progress.stop();
  }
}

/** The file that stands for a journal, which may be a folder. */
function firstSegment(path: string): string {
  return existsSync(path) ? (journalFiles(path)[0] ?? path) : path;
}

async function inputFile(path: string): Promise<DoneFile> {
  const { size } = await stat(path);
  return { name: basename(path), sha256: await sha256Of(path), bytes: size };
}

async function mapOf(args: ImportArguments): Promise<ColumnMap | null> {
  if (args.map === undefined) {
    if (args.interval === undefined) return null;
    const intervalUs = intervalOf(args.interval);
    return { ...parseColumnMap({ kind: 'bar' }), intervalUs };
  }
  const text = await readFile(args.map, 'utf8').catch((error: unknown) => {
    throw fileError(args.map ?? '', error);
  });
  try {
    const map = parseColumnMap(parseYaml(text) as unknown);
    return args.interval === undefined ? map : { ...map, intervalUs: intervalOf(args.interval) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InputError(`${args.map}: ${reason.split('\n')[0] ?? 'not YAML'}`);
  }
}

/** In its shortest form. Throws `InputError` if it is not a positive decimal. */
function contractSizeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const size = parseDecimal(text);
  if (size === null || size.digits <= 0n) {
    throw new InputError(`--contract-size is '${text}', not a positive decimal`);
  }
  return formatDecimal(size.digits, size.scale);
}

/** Streams of one source have one unit of sizes. Formats with a map have columns of the user. */
function mustShareContractSize(
  contractSize: string | undefined,
  { name, options }: Format,
  symbol: string,
  streams: readonly StreamManifest[],
): void {
  if (options.includes('map')) return;
  const source = (format: string): string | undefined => format.split('-')[0];
  const other = streams.find(
    (stream) =>
      stream.symbol === symbol &&
      source(stream.format) === source(name) &&
      stream.contractSize !== contractSize &&
      hasSizes(stream),
  );
  if (other === undefined) return;
  throw new InputError(
    `--contract-size: stream ${other.id} was imported with ${other.contractSize ?? 'none'}, this one with ${contractSize ?? 'none'}; import both alike`,
  );
}

function hasSizes({ counts }: StreamManifest): boolean {
  return Object.keys(counts).some((kind) => !['funding', 'mark', 'index'].includes(kind));
}

function countedText(symbol: string): string {
  return `sizes of ${symbol} are numbers of contracts, and are taken as quantities: PnL and fees are those of one unit a contract; --contract-size states the base currency in one`;
}

/** Tick and lot size that are given, or those of the market in the dataset; else null. */
function unitsGiven(
  { symbol: given, tick, lot, inverse, file: [first = ''] }: ImportArguments,
  { symbolIn }: Format,
  presentUnits: (symbol: string) => TapeUnits | null,
): TapeUnits | null {
  const named = tick !== undefined && symbolIn === 'path' ? symbolOfFile(basename(first)) : null;
  const symbol = given ?? named ?? undefined;
  if ((tick === undefined) !== (lot === undefined)) {
    throw new InputError('--tick and --lot need each other');
  }
  const present = symbol === undefined ? null : presentUnits(symbol);
  if (present !== null) {
    if (tick !== undefined && (tick !== present.tickSize || lot !== present.lotSize)) {
      throw new InputError(
        `${present.symbol} is in the dataset with tick ${present.tickSize} and lot ${present.lotSize}`,
      );
    }
    return present;
  }
  if (tick === undefined || lot === undefined) return null;
  if (symbol === undefined) throw new InputError('--tick and --lot need --symbol');
  return { symbol: specSymbol(symbol), tickSize: tick, lotSize: lot, inverse: inverse === true };
}

/** The units with the name that the market has in the dataset. */
function namedAsPresent(units: TapeUnits, markets: readonly TapeUnits[]): TapeUnits {
  const same = markets.find(({ symbol }) => isSameMarket(symbol, units.symbol));
  return same === undefined || same.symbol === units.symbol
    ? units
    : { ...units, symbol: same.symbol };
}

/** The units of a market that is coin-margined by its name in the records. */
function withInverse(
  units: TapeUnits,
  isInverse: boolean,
  present: readonly TapeUnits[],
): TapeUnits {
  if (!isInverse || units.inverse) return units;
  if (present.some(({ symbol }) => symbol === units.symbol)) {
    throw new TapeError(
      `these files are of a coin-margined contract, and ${units.symbol} of the dataset is none; import them into another dataset`,
    );
  }
  return { ...units, inverse: true };
}

function printSummary(out: string, imported: Imported): void {
  const { manifest: stream, units } = imported;
  const counts = Object.entries(stream.counts).map(([kind, n]) => `${String(n)} ${kind}`);
  const gaps = countText(stream.gaps, 'gap');
  // Rows that are not played as recorded are reported.
  const faults = [
    [
      stream.suspectedGaps?.length ?? 0,
      stream.suspectedGaps?.length === 1 ? 'suspected gap' : 'suspected gaps',
    ],
    [stream.outOfOrder, 'out of order'],
    [stream.late ?? 0, 'beyond the window of 2 s'],
    [stream.duplicates, 'repeated'],
    [stream.skippedRows, stream.skippedRows === 1 ? 'bad row skipped' : 'bad rows skipped'],
  ] as const;
  const reported = faults.flatMap(([n, what]) => (n > 0 ? [`${String(n)} ${what}`] : []));
  print(
    [
      `${out}: ${units.symbol}, ${counts.join(', ')}, ${countText(stream.levels, 'level')}, ${gaps}`,
      ...reported,
    ].join(', '),
  );
  for (const remark of remarks(imported)) print(remark);
}

/** Findings about the recording, and limits of its market, as lines. */
function remarks({ manifest: stream, units, found, notes }: Imported): string[] {
  const lines: string[] = [];
  for (const { timeUs, line, fromTicks, toTicks } of stream.jumps ?? []) {
    const price = (ticks: number): string => inSteps(Math.round(ticks), units.tickSize);
    lines.push(
      `price jumps from ${price(fromTicks)} to ${price(toTicks)} at ${dateText(timeUs)}, line ${String(line)}`,
    );
  }
  const { checksums } = stream;
  if (checksums !== undefined) lines.push(checksumText(checksums));
  lines.push(...notes);
  if (found) lines.push(foundText(units, Object.keys(stream.counts)));
  if (stream.kind === 'spot') {
    lines.push(
      `${units.symbol} is spot: a backtest plays it as a perpetual without funding, with margin and short positions`,
    );
  }
  const decimals = decimalsOfProduct(units.tickSize, units.lotSize);
  if (decimals > COLLATERAL_DECIMALS && !units.inverse) {
    lines.push(
      `tick × lot has ${String(decimals)} decimals, and a market that is traded in at most ${String(COLLATERAL_DECIMALS)}: ` +
        `books can be verified, and a backtest is refused; a coarser --lot with --round makes one possible where the format has --round`,
    );
  }
  if (units.inverse)
    lines.push(`${units.symbol} is coin-margined: book checks work, PnL is refused`);
  return lines;
}

function foundText({ tickSize, lotSize }: TapeUnits, kinds: readonly string[]): string {
  if (kinds.every((kind) => kind === 'funding'))
    return 'the files have no price; tick and lot come from the next ones of the market';
  return `tick ${tickSize} and lot ${lotSize} were found in the data`;
}

/** Decimals of tick × lot, without trailing zeros. */
function decimalsOfProduct(tickSize: string, lotSize: string): number {
  const [tick, lot] = [parseDecimal(tickSize), parseDecimal(lotSize)];
  if (tick === null || lot === null) return 0;
  const product = formatDecimal(tick.digits * lot.digits, tick.scale + lot.scale);
  return parseDecimal(product)?.scale ?? 0;
}
