/**
 * Writes datasets: one stream of records at a time, into a new or an existing dataset. Files are
 * first written into `<folder>.partial`. When the stream is complete they are moved and the
 * manifest is replaced atomically. Completed input files are recorded, so that an interrupted
 * import can resume.
 */
import { countText } from '../base/count-text.ts';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { marketId } from '../num/units.ts';
import {
  hasUnknownUnits,
  DATASET_VERSION,
  isManifest,
  type DatasetManifest,
  type PartManifest,
  type StreamManifest,
} from '../tape/manifest.ts';
import { RECORD_KINDS } from '../tape/record-columns.ts';
import { TapeError, type RecordKind, type TapeRecord, type TapeUnits } from '../tape/record.ts';
import { fidelityOf } from '../tape/tape-model.ts';
import type { RecordedKind } from '../tape/formats/market-kind.ts';
import type { ChecksumFacts } from '../tape/formats/book-checksum.ts';
import { originOf } from '../tape/record-origin.ts';
import { RecordChecks } from '../tape/record-checks.ts';
import { TapeSteps } from '../tape/tape-steps.ts';
import { manifestIn, readStream } from './dataset-files.ts';
import { areApart } from '../tape/price-jumps.ts';
import {
  afterFile,
  FileOrder,
  extend,
  mustBeMergeable,
  mustHaveSameBars,
  overlapping,
  withoutRepeats,
  type Spans,
} from './overlap.ts';
import { makeFolder, realFolder } from '../platform/make-folder.ts';
import { mustBeOfImport, mustHoldDatasetOnly, RESUME } from './foreign-files.ts';
import { sha256Of } from './part-files.ts';
import { StreamWriter } from './stream-writer.ts';
import { writeWholeFile } from '../platform/whole-file.ts';

/** Facts of a stream that are known before it is read. */
export interface StreamFacts {
  readonly symbol: string;
  readonly format: string;
  readonly source: string;
  readonly licence: string;
  readonly checksums?: ChecksumFacts;
  readonly kind?: RecordedKind;
  readonly contractSize?: string;
}

/** A completed input file. */
export interface DoneFile {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
}

const NO_VOLUME =
  'no bar has volume, so no order is filled in a backtest unless --bars depth=<lots> states one';

/** State from which an interrupted import resumes. */
interface Resume {
  readonly job: string;
  readonly id: string;
  readonly done: readonly DoneFile[];
  readonly parts: readonly PartManifest[];
  readonly skippedRows: number;
  readonly counts: Partial<Record<RecordKind, number>>;
  readonly spans: Spans;
  readonly reader: unknown;
  /** Stream whose folder is moved into the dataset, before the manifest names it. */
  readonly moved?: string;
}

export interface DatasetWriterOptions {
  /** Name of the stream; a number is appended if the dataset already has one of that name. */
  readonly id: string;
  /** Identifies this import; only an identical import resumes. */
  readonly job: string;
  readonly mode: 'create' | 'add' | 'replace';
  /** Drops records that a stream of the same market has already; without it they are refused. */
  readonly merge?: boolean;
  /** True if the ids of the records are not the venue's. */
  readonly assignsIds?: boolean;
  /** Paths of the input files: if a completed one has changed since, nothing resumes. */
  readonly files?: readonly string[];
}

export class DatasetWriter {
  readonly done: DoneFile[];
  skippedRows: number;
  /** Reader state at the end of the last completed file. */
  readonly reader: unknown;
  /** Findings about the stream beside others of its market, for the user. */
  readonly findings: string[] = [];
  private readonly folder: string;
  private readonly temporary: string;
  private readonly options: DatasetWriterOptions;
  private readonly before: DatasetManifest | null;
  private id: string;
  private stream: StreamWriter;
  /** Checkpoint: counts at the end of the last completed input file. */
  private checkpoint: { readonly files: number; readonly parts: number };
  private counts: Partial<Record<RecordKind, number>>;
  /** Times of the completed input files, and of the current one. */
  private spans: Spans;
  private fileSpans: Spans = {};
  private fileOrder = new FileOrder();
  private isWhole = false;
  /** As in the file; null before the first input file is complete. */
  private state: Resume | null = null;

  private constructor(
    folder: string,
    options: DatasetWriterOptions,
    before: DatasetManifest | null,
    resume: Resume,
  ) {
    this.folder = folder;
    this.temporary = partialOf(folder);
    this.options = options;
    this.before = before;
    this.id = resume.id;
    this.done = [...resume.done];
    this.skippedRows = resume.skippedRows;
    this.counts = { ...resume.counts };
    this.spans = resume.spans;
    this.reader = resume.reader;
    this.stream = new StreamWriter(this.temporary, resume.id, resume.parts);
    this.checkpoint = { files: resume.done.length, parts: resume.parts.length };
  }

  /** Throws `TapeError` if the folder exists and may not be changed, or is not a dataset. */
  static async open(path: string, options: DatasetWriterOptions): Promise<DatasetWriter> {
    const folder = realFolder(path);
    const present = await presentManifest(folder);
    if (present === null && (await exists(folder))) {
      throw new TapeError(`${folder}: exists and is not a dataset; name another folder`);
    }
    if (present !== null) mustBeReplaceable(folder, options.mode);
    if (present !== null && options.mode === 'replace') await mustHoldDatasetOnly(folder, present);
    const before = options.mode === 'add' && present !== null ? manifestIn(folder, present) : null;
    const temporary = partialOf(folder);
    const found = await resumeOf(temporary, options.job);
    const changed = found && (await changedFile(found.done, options.files ?? []));
    const isOpen = found !== null && changed === null;
    const resume = isOpen && (await takeBack(found, folder, temporary, before)) ? found : null;
    await makeFolder(dirname(folder));
    if (resume === null) {
      await mustBeOfImport(temporary);
      await rm(temporary, { recursive: true, force: true });
    }
    await makeFolder(temporary);
    const begun = { done: [], parts: [], skippedRows: 0, counts: {}, spans: {}, reader: null };
    const id = await freeId(folder, before, options.id);
    const start = resume ?? { job: options.job, id, ...begun };
    const writer = new DatasetWriter(folder, options, before, start);
    if (changed !== null) {
      writer.findings.push(`${changed} has changed since it was imported: the import begins again`);
    }
    return writer;
  }

  /** `file`: name of the input file, for errors. */
  async write(record: TapeRecord, file: string | null = null): Promise<void> {
    this.counts[record.kind] = (this.counts[record.kind] ?? 0) + 1;
    extend(this.fileSpans, record);
    this.fileOrder.take(record, file);
    await this.stream.write(record);
  }

  /**
   * Records a completed input file, with the reader state for the next one. Throws `TapeError` if
   * it overlaps an earlier one.
   */
  async endFile(file: DoneFile, reader: unknown): Promise<void> {
    const same = this.done.find(({ sha256 }) => sha256 === file.sha256);
    if (same !== undefined) throw new TapeError(`${file.name}: the same file as ${same.name}`);
    this.fileOrder.end(file.name);
    this.spans = afterFile(this.spans, this.fileSpans, file.name);
    this.fileSpans = {};
    this.fileOrder = new FileOrder();
    await this.stream.endPart();
    this.done.push(file);
    this.state = {
      job: this.options.job,
      id: this.id,
      done: this.done,
      parts: this.stream.parts,
      skippedRows: this.skippedRows,
      counts: this.counts,
      spans: this.spans,
      reader,
    };
    await this.writeState(this.state);
    this.checkpoint = { files: this.done.length, parts: this.stream.parts.length };
  }

  private writeState(state: Resume): Promise<void> {
    return writeWholeFile(join(this.temporary, RESUME), Buffer.from(JSON.stringify(state)));
  }

  /**
   * Verifies the written stream, then moves it and replaces the manifest. `beside`: companion
   * files.
   */
  async finish(
    facts: StreamFacts,
    units: TapeUnits,
    beside: readonly DoneFile[] = [],
  ): Promise<StreamManifest> {
    this.isWhole = true;
    await this.stream.endPart();
    const stream = await this.besideOthers(await this.describe(facts, units, beside), units);
    const manifest = withStream(this.before, stream, units);
    const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    if (this.before === null) {
      await writeWholeFile(join(this.temporary, 'manifest.json'), text);
      await this.replaceFolder();
    } else {
      if (this.state !== null) await this.writeState({ ...this.state, moved: this.id });
      await rename(join(this.temporary, this.id), join(this.folder, this.id));
      await writeWholeFile(join(this.folder, 'manifest.json'), text);
      await rm(this.temporary, { recursive: true, force: true });
    }
    return stream;
  }

  /** Gives the new dataset its name; a former one is renamed before it is deleted. */
  private async replaceFolder(): Promise<void> {
    const former = formerOf(this.folder);
    // The folder may have changed since the import began.
    const present = await presentManifest(this.folder);
    if (present !== null) {
      mustBeReplaceable(this.folder, this.options.mode);
      await mustHoldDatasetOnly(this.folder, present);
      await rm(former, { recursive: true, force: true });
      await rename(this.folder, former);
    }
    await rename(this.temporary, this.folder);
    // Until now it marked the folder as that of an import.
    await rm(join(this.folder, RESUME), { force: true });
    if (present !== null) await rm(former, { recursive: true, force: true });
  }

  /**
   * Cleans up after a failure: keeps only the parts of completed input files. Returns their number.
   */
  async abandon(): Promise<number> {
    const { files, parts } = this.checkpoint;
    // After the last file a failure is about the whole stream, which the same command repeats.
    if (files === 0 || this.isWhole) await rm(this.temporary, { recursive: true, force: true });
    else await this.stream.abandon(parts);
    return files;
  }

  /** The stream without what others have; refuses an overlap unless it is to be merged. */
  private async besideOthers(stream: StreamManifest, units: TapeUnits): Promise<StreamManifest> {
    const { merge = false, assignsIds = false } = this.options;
    const others = this.before?.streams.filter(({ symbol }) => symbol === stream.symbol) ?? [];
    mustHaveSameBars(others, stream);
    for (const { id, prices } of others) {
      if (!prices || !stream.prices || !areApart(prices, stream.prices)) continue;
      this.findings.push(
        `the prices differ by more than 10 % from those of the stream ${id}: is it the same market?`,
      );
    }
    const same = overlapping(others, stream);
    if (same.length === 0) return stream;
    mustBeMergeable(same, stream, merge, assignsIds);
    const records = (folder: string, { parts }: StreamManifest) =>
      readStream(folder, parts, new Set());
    const present = same.map((other) => records(this.folder, other));
    this.id = await freeId(this.folder, this.before, `${this.id}.merged`);
    const merged = new StreamWriter(this.temporary, this.id);
    const counts: Partial<Record<RecordKind, number>> = {};
    for await (const batch of withoutRepeats(records(this.temporary, stream), present)) {
      for (const record of batch) {
        counts[record.kind] = (counts[record.kind] ?? 0) + 1;
        await merged.write(record);
      }
    }
    await merged.endPart();
    if (merged.parts.length === 0) throw new TapeError('all records are in the dataset already');
    const total = (of: typeof counts): number => Object.values(of).reduce((a, b) => a + b, 0);
    const repeats = total(this.counts) - total(counts);
    this.findings.push(
      `${countText(repeats, 'record')} of ${same.map(({ id }) => id).join(', ')} kept once`,
    );
    this.stream = merged;
    this.counts = counts;
    const { symbol, format, source, licence, checksums, kind, contractSize, importedFrom } = stream;
    const facts = {
      ...{ symbol, format, source, licence },
      ...(checksums && { checksums }),
      ...(kind && { kind }),
      ...(contractSize && { contractSize }),
    };
    return { ...(await this.describe(facts, units, [])), importedFrom };
  }

  private note(text: string): void {
    if (!this.findings.includes(text)) this.findings.push(text);
  }

  private async describe(
    facts: StreamFacts,
    units: TapeUnits,
    beside: readonly DoneFile[],
  ): Promise<StreamManifest> {
    const { parts } = this.stream;
    if (parts.length === 0) {
      const [first, ...others] = this.done.map(({ name }) => name);
      const more = others.length === 0 ? '' : ` and ${String(others.length)} more`;
      throw new TapeError(`${first ?? ''}${more}: no record of the market`);
    }
    const records = readStream(this.temporary, parts, new Set());
    const checks = new RecordChecks(originOf([{ ...facts, counts: this.counts }]));
    const steps = new TapeSteps([records], marketId(0), () => units, {
      checks,
      fidelity: fidelityOf(this.counts) ?? 'l2',
    });
    // Only the facts of the steps are needed.
    const batches = steps.batches();
    while ((await batches.next()).done !== true);
    const { syncFacts: sync, orderingFacts: order } = steps;
    const found = checks.finish();
    if (sync.bars > 0 && sync.emptyBars >= sync.bars - sync.duplicates) this.note(NO_VOLUME);
    return {
      id: this.id,
      ...facts,
      importedFrom: [...this.done, ...beside],
      counts: inKindOrder(this.counts),
      levels: parts.reduce((sum, part) => sum + part.levelRows, 0),
      firstUs: sync.firstUs,
      lastUs: sync.lastUs,
      barUs: sync.barUs,
      outOfOrder: order.outOfOrder,
      late: order.late,
      jumps: sync.jumpList,
      prices: sync.prices,
      gaps: sync.gaps,
      gapList: sync.gapList,
      ...(found.suspected.length > 0 && { suspectedGaps: found.suspected }),
      ...(Object.keys(found.intervals).length > 0 && { intervals: found.intervals }),
      droppedUpdates: sync.dropped,
      duplicates: sync.duplicates + found.repeated,
      skippedRows: this.skippedRows,
      minFeedLatencyUs: order.minFeedLatencyUs,
      maxFeedLatencyUs: order.maxFeedLatencyUs,
      parts,
    };
  }
}

function mustBeReplaceable(folder: string, mode: DatasetWriterOptions['mode']): void {
  if (mode !== 'create') return;
  throw new TapeError(`${folder}: exists; --add adds a stream to it, --replace replaces it`);
}

function inKindOrder(counts: StreamManifest['counts']): StreamManifest['counts'] {
  return Object.fromEntries(
    RECORD_KINDS.filter((kind) => kind in counts).map((kind) => [kind, counts[kind]]),
  );
}

function partialOf(folder: string): string {
  return `${folder.replace(/\/+$/, '')}.partial`;
}

/** No name that a user would give to a folder: it is deleted. */
const formerOf = (folder: string): string => `${partialOf(folder)}.former`;

/** Gives a dataset its name again, if an import ended between the two renames that replace it. */
export async function restoreFormer(path: string): Promise<void> {
  const folder = realFolder(path);
  const former = formerOf(folder);
  if (!(await exists(folder)) && (await exists(former))) await rename(former, folder);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Text of the manifest, of any version; null if the folder is not a dataset. */
async function presentManifest(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch(() => null);
  return text === null || !isManifest(text) ? null : text;
}

async function resumeOf(temporary: string, job: string): Promise<Resume | null> {
  const text = await readFile(join(temporary, RESUME), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const resume = JSON.parse(text) as Resume | null;
    return resume?.job === job ? resume : null;
  } catch {
    // A damaged state: the import begins again.
    return null;
  }
}

/**
 * Moves the stream of an import that ended before the manifest named it out of the dataset again.
 * False if the manifest names it, so that the import is complete.
 */
async function takeBack(
  { moved }: Resume,
  folder: string,
  temporary: string,
  before: DatasetManifest | null,
): Promise<boolean> {
  if (moved === undefined) return true;
  if (before?.streams.some(({ id }) => id === moved) === true) return false;
  const [from, to] = [join(folder, moved), join(temporary, moved)];
  if ((await exists(from)) && !(await exists(to))) await rename(from, to);
  return true;
}

/** Name of the first completed file that has other content now; null if all are the same. */
async function changedFile(
  done: readonly DoneFile[],
  files: readonly string[],
): Promise<string | null> {
  for (const [i, { name, sha256 }] of done.entries()) {
    const path = files[i];
    // One that is gone is not read again.
    if (path === undefined || !(await exists(path))) continue;
    if ((await sha256Of(path)) !== sha256) return name;
  }
  return null;
}

/**
 * The name, with a number appended if the dataset already has a stream, or its folder a file, of
 * that name.
 */
async function freeId(
  folder: string,
  before: DatasetManifest | null,
  name: string,
): Promise<string> {
  const base = name.replace(/[^A-Za-z0-9._-]+/g, '-');
  if (before === null) return base;
  const taken = new Set([...before.streams.map(({ id }) => id), ...(await readdir(folder))]);
  if (!taken.has(base)) return base;
  for (let n = 2; ; n++) if (!taken.has(`${base}-${String(n)}`)) return `${base}-${String(n)}`;
}

function withStream(
  before: DatasetManifest | null,
  stream: StreamManifest,
  units: TapeUnits,
): DatasetManifest {
  const markets = [...(before?.markets ?? [])];
  const { symbol, tickSize, lotSize, inverse } = units;
  const own = { symbol, tickSize, lotSize, inverse };
  const at = markets.findIndex((market) => market.symbol === symbol);
  const known = markets[at];
  if (known === undefined) markets.push(own);
  else if (hasUnknownUnits(known, before?.streams ?? [])) markets[at] = own;
  return {
    orrery: 'dataset',
    version: DATASET_VERSION,
    markets,
    streams: [...(before?.streams ?? []), stream],
  };
}
