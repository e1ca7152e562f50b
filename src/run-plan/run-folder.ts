/**
 * Files of a run folder: `plan.json` (repeats the run, bundles included), `journal.orrery`,
 * `run.json` (recorded output). A stopped run has `checkpoint.bin` and the journal so far.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { StrategyError } from '../strategy/definition.ts';
import type { BacktestCheckpoint, BacktestOutput } from '../backtest/output.ts';
import type { Note } from '../backtest/note.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { jsonFile } from '../platform/json-pieces.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { shellWord } from '../platform/shell-word.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import type { PlanResult } from './plan.ts';
import type { RunPlan } from './run-plan.ts';
import { faultOfRun } from './recorded-shape.ts';
import { RunClaim } from './run-claim.ts';
import type { RunTerms } from './run-terms.ts';

export const RUN_FILE = 'run.json';
export const JOURNAL_FILE = 'journal.orrery';

const FILES = {
  plan: 'plan.json',
  run: RUN_FILE,
  journal: JOURNAL_FILE,
  partial: 'journal.orrery.partial',
  checkpoint: 'checkpoint.bin',
  live: 'live.json',
} as const;
export const RUN_FILES: readonly string[] = Object.values(FILES);
/** Files that a run has before its record. */
const JOURNALS: readonly string[] = [FILES.journal, FILES.partial, FILES.checkpoint];
/** Enough for the first key of a record. */
const MARKER_BYTES = 64;
/** Files that commands make from a run: its pages and tables, and the tables of an export. */
const DERIVED =
  /^(?:index\.html|explain(?:-[\w-]+)?\.html|time-machine\.html|report\.json|(?:equity|positions|fills|orders|trades)\.arrow)$/;
const EXPORTS = 'tables';
const EXPORTED =
  /^(?:run\.npz|(?:equity|positions|fills|orders|trades|open_trades|funding|liquidations|plots|log|markets)\.(?:csv|arrow|parquet))$/;

/** Content of `run.json`: the output without engine and journal, and the assumptions. */
export interface RecordedRun extends Omit<
  BacktestOutput,
  'engine' | 'journal' | 'checkpoint' | 'cancelled' | 'deliveredUs' | 'unanswered'
> {
  readonly orrery: 'run';
  readonly version: 1;
  readonly assumptions: readonly Note[];
  readonly data: readonly Note[];
  /** Of each strategy; absent in runs of earlier versions. */
  readonly terms?: readonly RunTerms[];
}

/** Content of `run.json`, with its keys in a fixed order. */
export function recordedRun(
  output: Omit<RecordedRun, 'orrery' | 'version' | 'assumptions' | 'data' | 'terms'>,
  notes: Pick<RecordedRun, 'assumptions' | 'data' | 'terms'>,
): RecordedRun {
  const { firstUs, lastUs, sampleUs, seed, markets, strategies, commands } = output;
  const { chainHash, stateHash } = output;
  return {
    orrery: 'run',
    version: 1,
    ...{ firstUs, lastUs, sampleUs, seed, markets, strategies, commands, chainHash, stateHash },
    assumptions: notes.assumptions,
    data: notes.data,
    ...(notes.terms === undefined ? {} : { terms: notes.terms }),
  };
}

export class RunFolder {
  readonly path: string;
  private descriptor: number | null = null;
  private readonly keepsJournal: boolean;
  private readonly claim: RunClaim;
  /** A run that was stopped stays as it is if it fails. */
  private isResumed = false;
  private isAbandoned = false;

  private constructor(path: string, keepsJournal: boolean, claim: RunClaim) {
    this.path = path;
    this.keepsJournal = keepsJournal;
    this.claim = claim;
  }

  /**
   * A new run. Rejects with `FileError` if the folder has a run, unless it may be overwritten: then
   * the earlier run is deleted.
   */
  static async create(path: string, plan: RunPlan, overwrite = false): Promise<RunFolder> {
    const claim = await claimFolder(path, overwrite);
    try {
      const folder = new RunFolder(path, plan.journal !== false, claim);
      if (overwrite) await removeRun(path);
      folder.descriptor = openSync(folder.file('partial'), 'wx');
      await writeWholeFile(folder.file('plan'), Buffer.from(`${JSON.stringify(plan, null, 2)}\n`));
      return folder;
    } catch (error) {
      claim.release();
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        throw new FileError(`${path}: holds a run that crashed; replace it with --overwrite`);
      }
      throw fileError(path, error);
    }
  }

  /** A stopped run: its plan and its checkpoint. */
  static async resume(
    path: string,
  ): Promise<{ folder: RunFolder; plan: RunPlan; checkpoint: BacktestCheckpoint }> {
    const file = join(path, FILES.checkpoint);
    const bytes = await readFile(file).catch(() => {
      throw new FileError(`${path}: no stopped run to resume (${FILES.checkpoint} is missing)`);
    });
    const { checkpoint, sums } = readStopped(bytes, file);
    const text = await readFile(join(path, FILES.plan)).catch((error: unknown) => {
      throw fileError(join(path, FILES.plan), error);
    });
    if (sums !== null && sumOf(text) !== sums.plan) {
      throw new FileError(`${join(path, FILES.plan)}: changed since the run was stopped`);
    }
    const plan = JSON.parse(text.toString()) as RunPlan;
    const folder = new RunFolder(path, plan.journal !== false, RunClaim.take(path));
    if (statSync(folder.file('partial')).size < checkpoint.journalBytes) {
      folder.release();
      throw new FileError(`${folder.file('partial')}: shorter than recorded in the checkpoint`);
    }
    if (
      sums !== null &&
      (await sumOfFile(folder.file('partial'), checkpoint.journalBytes)) !== sums.journal
    ) {
      folder.release();
      throw new FileError(`${folder.file('partial')}: changed since the run was stopped`);
    }
    folder.isResumed = true;
    folder.descriptor = openSync(folder.file('partial'), 'r+');
    ftruncateSync(folder.descriptor, checkpoint.journalBytes);
    folder.written = checkpoint.journalBytes;
    return { folder, plan, checkpoint };
  }

  private written = 0;

  /** Target of the run's journal. */
  get target(): 'none' | ((bytes: Uint8Array) => void) {
    return this.keepsJournal ? this.write : 'none';
  }

  private readonly write = (bytes: Uint8Array): void => {
    if (this.descriptor === null) return;
    try {
      for (let at = 0; at < bytes.length;) {
        at += writeSync(this.descriptor, bytes, at, bytes.length - at, this.written + at);
      }
    } catch (error) {
      throw fileError(this.file('partial'), error);
    }
    this.written += bytes.length;
  };

  /**
   * Writes a stopped run. Without a checkpoint, a run that was resumed keeps the one that it began
   * from; a new run cannot be resumed: then its files are deleted, and the result is false.
   */
  async stop(checkpoint: BacktestCheckpoint | null): Promise<boolean> {
    this.closeJournal();
    if (checkpoint === null) {
      this.abandon();
      return this.isResumed;
    }
    const bytes = serialize(checkpoint);
    const stopped: StoppedRun = {
      orrery: 'stopped-run',
      version: 1,
      sums: {
        plan: sumOf(await readFile(this.file('plan'))),
        journal: await sumOfFile(this.file('partial'), checkpoint.journalBytes),
        checkpoint: sumOf(bytes),
      },
      checkpoint: bytes,
    };
    await writeWholeFile(this.file('checkpoint'), serialize(stopped));
    return true;
  }

  /** Ends the journal of a finished run. Pages can be made of it while `finish` writes the run. */
  async endJournal(): Promise<void> {
    const { descriptor } = this;
    this.descriptor = null;
    if (descriptor !== null) {
      await promisify(fsync)(descriptor).finally(() => {
        closeSync(descriptor);
      });
    }
    if (this.keepsJournal) await rename(this.file('partial'), this.file('journal'));
    else await rm(this.file('partial'), { force: true });
  }

  /** Writes the finished run, after `endJournal`. */
  async finish({ output, assumptions, data, terms }: PlanResult): Promise<void> {
    const run = recordedRun(output, { assumptions, data, terms });
    await writeWholeFile(this.file('run'), jsonFile(run));
    await rm(this.file('checkpoint'), { force: true });
  }

  /** Other runs may write to the folder from now on. */
  release(): void {
    this.claim.release();
    if (!this.isAbandoned) return;
    try {
      rmdirSync(this.path);
    } catch {
      // It has other files.
    }
  }

  /** Deletes the files of a new run after a failure. */
  abandon(): void {
    this.closeJournal();
    if (this.isResumed) return;
    this.isAbandoned = true;
    rmSync(this.file('partial'), { force: true });
    rmSync(this.file('plan'), { force: true });
  }

  file(name: keyof typeof FILES): string {
    return join(this.path, FILES[name]);
  }

  private closeJournal(): void {
    if (this.descriptor === null) return;
    fsyncSync(this.descriptor);
    closeSync(this.descriptor);
    this.descriptor = null;
  }
}

/**
 * Creates the folder of a run, or takes one without a run, for this process alone. Rejects with
 * `FileError` if another run writes to it, or has been written to it unless it may be overwritten.
 */
export async function claimFolder(path: string, overwrite: boolean): Promise<RunClaim> {
  await mustHoldNoRun(path, overwrite);
  await makeFolder(path);
  const claim = RunClaim.take(path);
  try {
    // A run that held the claim may have ended since the first look.
    await mustHoldNoRun(path, overwrite);
    return claim;
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** Deletes the run of a folder, its pages and its tables; other files stay. */
export async function removeRun(path: string): Promise<void> {
  const names = await readdir(path);
  if (!names.some((name) => RUN_FILES.includes(name))) return;
  for (const name of names) {
    if (RUN_FILES.includes(name) || DERIVED.test(name)) await rm(join(path, name), { force: true });
  }
  const exports = join(path, EXPORTS);
  for (const name of await readdir(exports).catch(() => [])) {
    if (EXPORTED.test(name)) await rm(join(exports, name), { force: true });
  }
  // A folder with other files stays.
  await rmdir(exports).catch(() => undefined);
}

/** Rejects with `FileError` that says what to do. */
export async function mustHoldNoRun(path: string, overwrite: boolean): Promise<void> {
  const names = await readdir(path).catch(() => [] as string[]);
  const foreign = foreignFile(path, names);
  if (foreign !== null) {
    throw new FileError(`${path}: holds ${foreign}, which is of no run; choose another folder`);
  }
  if (overwrite) return;
  if (names.includes(FILES.checkpoint)) {
    throw new FileError(
      `${path}: holds a stopped run; continue it with --resume, or replace it with --overwrite`,
    );
  }
  if (names.includes(FILES.run) || names.includes(FILES.live)) {
    throw new FileError(
      `${path}: holds a run; choose another folder, or replace it with --overwrite`,
    );
  }
  if (names.some((name) => JOURNALS.includes(name))) {
    throw new FileError(`${path}: holds a run that crashed; replace it with --overwrite`);
  }
}

/** A file of another program that a run would replace; null if there is none. */
function foreignFile(path: string, names: readonly string[]): string | null {
  const records = [FILES.run, FILES.live].filter((name) => names.includes(name));
  const unknown = records.find((name) => !hasMarker(join(path, name)));
  if (unknown !== undefined) return unknown;
  // The others are those of the run that the folder has.
  if (records.length > 0 || names.some((name) => JOURNALS.includes(name))) return null;
  return names.find((name) => name === FILES.plan || DERIVED.test(name)) ?? null;
}

/** Whether a file begins as a record of a run. One that a crash left empty counts. */
function hasMarker(path: string): boolean {
  const bytes = Buffer.alloc(MARKER_BYTES);
  try {
    const descriptor = openSync(path, 'r');
    try {
      const text = bytes.toString('latin1', 0, readSync(descriptor, bytes));
      return text === '' || /^\{\s*"orrery"/.test(text);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw fileError(path, error);
  }
}

/**
 * Creates a new folder: the given one, or the one with the next free number: `reports/grid-2`. Of
 * several calls at one time, each gets a folder of its own. Throws `FileError`.
 */
export async function makeFreeFolder(path: string): Promise<string> {
  await makeFolder(dirname(path));
  for (let i = 1; ; i++) {
    const numbered = i === 1 ? path : `${path}-${String(i)}`;
    try {
      await mkdir(numbered);
      return numbered;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(numbered, error);
    }
  }
}

/** Reads the recorded run of a folder. */
export async function readRun(path: string): Promise<RecordedRun> {
  const file = join(path, FILES.run);
  const text = await readFile(file, 'utf8').catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw fileError(file, error);
    throw new FileError(`${file}: no such file or folder; ${await adviceFor(path)}`);
  });
  return recordedRunOf(text, file);
}

/** The next step for a folder without a finished run. */
async function adviceFor(path: string): Promise<string> {
  const names = await readdir(path).catch((): string[] => []);
  const word = shellWord(path);
  if (names.includes(FILES.checkpoint)) {
    return `the run was stopped, continue it with: orrery backtest --resume ${word}`;
  }
  // That of a search is in `best`.
  const inner = names.sort().find((name) => existsSync(join(path, name, FILES.run)));
  if (inner !== undefined) return `a run is in ${join(path, inner)}`;
  if (names.length > 0) return 'the folder holds no finished run';
  return `write a run with: orrery backtest <strategy> --data <dataset> --out ${word}`;
}

/** Throws `FileError` that names the file and the field. */
function recordedRunOf(text: string, file: string): RecordedRun {
  let run: Partial<RecordedRun> | null;
  try {
    run = JSON.parse(text) as Partial<RecordedRun> | null;
  } catch (error) {
    throw new FileError(`${file}: damaged, or cut off: ${(error as Error).message}`);
  }
  if (run?.orrery !== 'run') throw new FileError(`${file}: not a recorded run`);
  const version: number | undefined = run.version;
  if (version !== 1) {
    throw new FileError(`${file}: version ${String(version)} of the format; this release reads 1`);
  }
  const fault = faultOfRun(run);
  if (fault !== null) throw new FileError(`${file}: ${fault}`);
  return completed(run as RecordedRun);
}

/** With the fields that strategies of a run of release 0.2 lack. */
function completed(run: RecordedRun): RecordedRun {
  if (run.strategies.every((strategy) => 'plots' in strategy)) return run;
  const strategies = run.strategies.map((strategy) => ({
    ...strategy,
    plots: [],
    orders: strategy.orders.map((order) => ({ ...order, tag: null })),
    fills: strategy.fills.map((fill) => ({ ...fill, tag: null })),
  }));
  return { ...run, strategies };
}

/** Content of `checkpoint.bin`, so that a damaged file of a stopped run is found. */
interface StoppedRun {
  readonly orrery: 'stopped-run';
  readonly version: 1;
  /** SHA-256 of the plan, of the journal so far and of `checkpoint`. */
  readonly sums: Readonly<Record<'plan' | 'journal' | 'checkpoint', string>>;
  /** A serialized `BacktestCheckpoint`. */
  readonly checkpoint: Uint8Array;
}

function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** SHA-256 of the first `length` bytes of a file. */
async function sumOfFile(path: string, length: number): Promise<string> {
  const hash = createHash('sha256');
  if (length > 0) {
    for await (const bytes of createReadStream(path, { end: length - 1 })) {
      hash.update(bytes as Uint8Array);
    }
  }
  return hash.digest('hex');
}

/** Checkpoints of version 0.2.0 have no sums. */
function readStopped(
  bytes: Buffer,
  file: string,
): { readonly checkpoint: BacktestCheckpoint; readonly sums: StoppedRun['sums'] | null } {
  const stopped = deserialized(bytes, file) as Partial<StoppedRun> | null;
  if (stopped?.orrery !== 'stopped-run') return { checkpoint: mustBe(stopped, file), sums: null };
  const { sums, checkpoint } = stopped;
  if (sums === undefined || checkpoint === undefined || sumOf(checkpoint) !== sums.checkpoint) {
    throw new FileError(`${file}: damaged`);
  }
  return { checkpoint: mustBe(deserialized(checkpoint, file), file), sums };
}

function deserialized(bytes: Uint8Array, file: string): unknown {
  try {
    return deserialize(bytes);
  } catch {
    throw new FileError(`${file}: cannot be read; it may be of another version of Node`);
  }
}

function mustBe(value: unknown, file: string): BacktestCheckpoint {
  const checkpoint = value as Partial<BacktestCheckpoint> | null;
  if (checkpoint?.orrery !== 'backtest-checkpoint') {
    throw new StrategyError(`${file}: not a checkpoint of a backtest`);
  }
  return checkpoint as BacktestCheckpoint;
}
