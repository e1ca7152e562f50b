/**
 * `live.json` of a run. It is written while the run goes, so that a process that is killed keeps
 * its record, and at the end.
 */
import type { LiveRecord, LiveRecorder } from '../live/live-record.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { printError } from './cli-support.ts';

/** Least time between two writes. */
const PAUSE_MS = 10_000;
/** A write takes at most this share of the time. */
const SHARE = 0.01;
/** Failure of a run that could not write its end. */
const KILLED = 'the process ended before the run did';

export class LiveFile {
  private readonly path: string;
  private readonly recorder: LiveRecorder;
  private readonly pauseMs: number;
  private readonly warn: (line: string) => void;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private warned = false;

  constructor(
    path: string,
    recorder: LiveRecorder,
    { pauseMs = PAUSE_MS, warn = printError } = {},
  ) {
    this.path = path;
    this.recorder = recorder;
    this.pauseMs = pauseMs;
    this.warn = warn;
    // At once, so that another run finds the folder taken.
    this.writeIn(0);
  }

  /** Writes the record of the end. Throws `FileError`. */
  async end(record: LiveRecord): Promise<void> {
    clearTimeout(this.timer);
    await this.writing;
    clearTimeout(this.timer);
    await this.write(record);
  }

  private writeIn(ms: number): void {
    this.timer = setTimeout(() => {
      this.writing = this.keep();
    }, ms).unref();
  }

  private async keep(): Promise<void> {
    const startMs = performance.now();
    try {
      await this.write(this.recorder.record(KILLED));
      this.warned = false;
    } catch (error) {
      // The run goes on: the disk may have room again before it ends.
      const text = `orrery: the record is not written yet: ${(error as Error).message}`;
      if (!this.warned) this.warn(text);
      this.warned = true;
    }
    this.writeIn(Math.max(this.pauseMs, (performance.now() - startMs) / SHARE));
  }

  private async write(record: LiveRecord): Promise<void> {
    await writeWholeFile(this.path, Buffer.from(`${JSON.stringify(record)}\n`));
  }
}
