/**
 * Login nonces that were used, each until its challenge expires, in a file of the data folder: a
 * nonce is valid once, also across a restart. Only logins that succeed are here, so that challenges
 * without an answer take no space.
 *
 * A line is on disk before `use` resolves. A torn last line belongs to a login without an answer.
 * Expired nonces leave the file at a start, and when it has many; a full disk keeps them.
 */
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { fileError, isOutOfSpace } from '../platform/file-error.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { syncFolder } from './snapshots.ts';

export const LOGINS_NAME = 'logins';
const LINE = /^([0-9a-f-]{36}) (\d{1,16})$/;
const MAX_NONCES = 1_000_000;
/** Size from which expired nonces are dropped, and then twice the rest. */
const SWEEP_AT = 10_000;

/** Uses each nonce once. */
export interface NonceStore {
  /** False if the nonce was used before. Rejects if it cannot be stored. */
  use(nonce: string, expiresMs: number, nowMs: number): Promise<boolean>;
}

/** Nonces of this process only; for tests and exchanges without a folder. */
export class NoncesInMemory implements NonceStore {
  protected readonly used = new Map<string, number>();
  private sweepAt = SWEEP_AT;

  use(nonce: string, expiresMs: number, nowMs: number): Promise<boolean> {
    return Promise.resolve(this.take(nonce, expiresMs, nowMs));
  }

  protected take(nonce: string, expiresMs: number, nowMs: number): boolean {
    if (this.used.has(nonce)) return false;
    if (this.used.size >= this.sweepAt) {
      this.sweep(nowMs);
      this.sweepAt = Math.max(SWEEP_AT, 2 * this.used.size);
    }
    if (this.used.size >= MAX_NONCES) throw new Error('too many logins in five minutes');
    this.used.set(nonce, expiresMs);
    return true;
  }

  protected sweep(nowMs: number): void {
    for (const [nonce, expiresMs] of this.used) {
      if (expiresMs < nowMs) this.used.delete(nonce);
    }
  }
}

export class NoncesOnDisk extends NoncesInMemory {
  private readonly folder: string;
  /** null until it is needed: a full disk may have no space for a new file. */
  private file: FileHandle | null = null;
  private lines: string[] = [];
  /** Lines of the file. */
  private written = 0;
  private writing: Promise<void> | null = null;

  private constructor(folder: string, used: readonly (readonly [string, number])[]) {
    super();
    this.folder = folder;
    for (const [nonce, expiresMs] of used) this.used.set(nonce, expiresMs);
  }

  /** Reads the nonces of the folder, drops expired ones and rewrites the file. */
  static async open(folder: string, nowMs: number): Promise<NoncesOnDisk> {
    const path = join(folder, LOGINS_NAME);
    try {
      const text = await readFile(path, 'latin1').catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
        throw error;
      });
      const used = text.split('\n').flatMap((line): [string, number][] => {
        const [, nonce = '', expires = ''] = LINE.exec(line) ?? [];
        return nonce === '' || Number(expires) < nowMs ? [] : [[nonce, Number(expires)]];
      });
      const nonces = new NoncesOnDisk(folder, used);
      await nonces.rewrite();
      return nonces;
    } catch (error) {
      throw fileError(path, error);
    }
  }

  override async use(nonce: string, expiresMs: number, nowMs: number): Promise<boolean> {
    if (!this.take(nonce, expiresMs, nowMs)) return false;
    this.lines.push(`${nonce} ${String(expiresMs)}\n`);
    // Logins that arrive during a write share the next one.
    const before = this.writing;
    if (before !== null) await before.catch(() => undefined);
    try {
      this.writing ??= this.write();
      await this.writing;
    } catch (error) {
      this.used.delete(nonce);
      throw error;
    }
    return true;
  }

  private async write(): Promise<void> {
    // The newline before ends a line that a failed write has torn.
    const text = `\n${this.lines.join('')}`;
    this.written += this.lines.length;
    this.lines = [];
    try {
      this.file ??= await open(join(this.folder, LOGINS_NAME), 'a');
      await this.file.appendFile(text);
      await this.file.datasync();
      if (this.written > 2 * (this.used.size + SWEEP_AT)) await this.rewrite();
    } finally {
      this.writing = null;
    }
  }

  /** Leaves out the nonces that are no longer in memory. */
  private async rewrite(): Promise<void> {
    const lines = [...this.used].map((one) => `${one.join(' ')}\n`);
    try {
      await writeWholeFile(join(this.folder, LOGINS_NAME), Buffer.from(lines.join('')));
    } catch (error) {
      if (isOutOfSpace(error)) return;
      throw error;
    }
    this.written = lines.length;
    await this.file?.close();
    this.file = null;
    await syncFolder(this.folder);
  }

  async close(): Promise<void> {
    await this.writing?.catch(() => undefined);
    await this.file?.close();
  }
}
