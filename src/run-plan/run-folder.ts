/**
 * Files of a run folder: `plan.json` (repeats the run, bundles included), `journal.orrery`,
 * `run.json` (recorded output). A stopped run has `checkpoint.bin` and the journal so far.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { StrategyError } from '../strategy/definition.ts';
import type { BacktestCheckpoint, BacktestOutput } from '../backtest/output.ts';
import type { Note } from '../backtest/note.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import type { PlanResult, RunPlan } from './plan.ts';

const FILES = {
  plan: 'plan.json',
  run: 'run.json',
  journal: 'journal.orrery',
  partial: 'journal.orrery.partial',
  checkpoint: 'checkpoint.bin',
} as const;

/** Content of `run.json`: the output without engine and journal, and the assumptions. */
export interface RecordedRun extends Omit<
  BacktestOutput,
  'engine' | 'journal' | 'checkpoint' | 'cancelled'
> {
  readonly orrery: 'run';
  readonly version: 1;
  readonly assumptions: readonly Note[];
  readonly data: readonly Note[];
}

export class RunFolder {
  readonly path: string;
  private descriptor: number | null = null;

  private constructor(path: string) {
    this.path = path;
  }

  /** A new run; an earlier run in the folder is replaced when this one is written. */
  static async create(path: string, plan: RunPlan): Promise<RunFolder> {
    const folder = new RunFolder(path);
    try {
      await makeFolder(path);
      await rm(folder.file('checkpoint'), { force: true });
      await writeWholeFile(folder.file('plan'), Buffer.from(`${JSON.stringify(plan, null, 2)}\n`));
      folder.descriptor = openSync(folder.file('partial'), 'w');
    } catch (error) {
      throw fileError(path, error);
    }
    return folder;
  }

  /** A stopped run: its plan and its checkpoint. */
  static async resume(
    path: string,
  ): Promise<{ folder: RunFolder; plan: RunPlan; checkpoint: BacktestCheckpoint }> {
    const folder = new RunFolder(path);
    const bytes = await readFile(folder.file('checkpoint')).catch(() => {
      throw new FileError(`${path}: no stopped run to resume (${FILES.checkpoint} is missing)`);
    });
    const checkpoint = readCheckpoint(bytes, folder.file('checkpoint'));
    const plan = JSON.parse(await readFile(folder.file('plan'), 'utf8')) as RunPlan;
    if (statSync(folder.file('partial')).size < checkpoint.journalBytes) {
      throw new FileError(`${folder.file('partial')}: shorter than recorded in the checkpoint`);
    }
    folder.descriptor = openSync(folder.file('partial'), 'r+');
    ftruncateSync(folder.descriptor, checkpoint.journalBytes);
    folder.written = checkpoint.journalBytes;
    return { folder, plan, checkpoint };
  }

  private written = 0;

  readonly journal = (bytes: Uint8Array): void => {
    if (this.descriptor === null) return;
    for (let at = 0; at < bytes.length;) {
      at += writeSync(this.descriptor, bytes, at, bytes.length - at, this.written + at);
    }
    this.written += bytes.length;
  };

  /** Writes a stopped run. Returns false and deletes its files if it cannot be resumed. */
  async stop(checkpoint: BacktestCheckpoint | null): Promise<boolean> {
    this.closeJournal();
    if (checkpoint === null) {
      await rm(this.file('partial'), { force: true });
      await rm(this.file('checkpoint'), { force: true });
      return false;
    }
    await writeWholeFile(this.file('checkpoint'), serialize(checkpoint));
    return true;
  }

  /** Writes the finished run. */
  async finish({ output, assumptions, data }: PlanResult): Promise<void> {
    this.closeJournal();
    const { firstUs, lastUs, sampleUs, seed, markets, strategies, commands } = output;
    const { chainHash, stateHash } = output;
    const run: RecordedRun = {
      orrery: 'run',
      version: 1,
      firstUs,
      lastUs,
      sampleUs,
      seed,
      markets,
      strategies,
      commands,
      chainHash,
      stateHash,
      assumptions,
      data,
    };
    await rename(this.file('partial'), this.file('journal'));
    await writeWholeFile(this.file('run'), Buffer.from(`${JSON.stringify(run)}\n`));
    await rm(this.file('checkpoint'), { force: true });
  }

  /** Deletes partial files after a failure. */
  async abandon(): Promise<void> {
    this.closeJournal();
    await rm(this.file('partial'), { force: true });
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

/** Reads the recorded run of a folder. */
export async function readRun(path: string): Promise<RecordedRun> {
  const file = join(path, FILES.run);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw fileError(file, error);
  });
  const run = JSON.parse(text) as Partial<RecordedRun>;
  if (run.orrery !== 'run') throw new FileError(`${file}: not a recorded run`);
  return run as RecordedRun;
}

function readCheckpoint(bytes: Buffer, file: string): BacktestCheckpoint {
  let value: unknown;
  try {
    value = deserialize(bytes);
  } catch {
    throw new FileError(`${file}: cannot be read; it may be of another version of Node`);
  }
  const checkpoint = value as Partial<BacktestCheckpoint> | null;
  if (checkpoint?.orrery !== 'backtest-checkpoint') {
    throw new StrategyError(`${file}: not a checkpoint of a backtest`);
  }
  return checkpoint as BacktestCheckpoint;
}
