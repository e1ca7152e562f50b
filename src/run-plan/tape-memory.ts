/**
 * Recordings in memory, as commands, for runs of one process that read the same data: only the
 * first run reads and decodes the files. A recording that exceeds the limit is read each time.
 */
import type { Command } from '../engine/commands.ts';
import type { TapeBatch } from '../backtest/run-backtest.ts';

/** Approximate bytes of a command with its time of receipt, and of a level. */
const COMMAND_BYTES = 200;
const LEVEL_BYTES = 72;

interface Recording {
  readonly batches: readonly TapeBatch[];
  readonly bytes: number;
}

export class TapeMemory {
  private readonly maxBytes: number;
  /** By key; the least recently used is first. */
  private readonly recordings = new Map<string, Recording>();

  constructor(maxBytes = 128 * 2 ** 20) {
    this.maxBytes = maxBytes;
  }

  /** Approximate size of the recordings in memory. */
  get bytes(): number {
    let bytes = 0;
    for (const recording of this.recordings.values()) bytes += recording.bytes;
    return bytes;
  }

  /** The batches of `source`, from memory if a recording of this key was read to its end. */
  async *batches(key: string, source: AsyncIterable<TapeBatch>): AsyncGenerator<TapeBatch> {
    const kept = this.recordings.get(key);
    if (kept !== undefined) {
      this.keep(key, kept);
      yield* kept.batches;
      return;
    }
    let batches: TapeBatch[] = [];
    let bytes = 0;
    for await (const batch of source) {
      if (bytes <= this.maxBytes) {
        for (const command of batch.commands) bytes += bytesOf(command);
        batches.push(batch);
      } else batches = [];
      yield batch;
    }
    if (bytes <= this.maxBytes) this.keep(key, { batches, bytes });
  }

  private keep(key: string, recording: Recording): void {
    this.recordings.delete(key);
    this.recordings.set(key, recording);
    for (const oldest of this.recordings.keys()) {
      if (this.bytes <= this.maxBytes) return;
      this.recordings.delete(oldest);
    }
  }
}

function bytesOf(command: Command): number {
  return COMMAND_BYTES + ('levels' in command ? LEVEL_BYTES * command.levels.length : 0);
}
