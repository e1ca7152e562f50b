/**
 * Records the operations of `node:fs/promises` on one folder, and states of the folder if the
 * process or the power ends at each of them.
 *
 * The end of the process leaves the files as they are. The end of the power leaves what was synced,
 * and any part of the rest: of the changes of names since the last sync of the folder, and of the
 * sectors of each file since its last sync. Until its parent is synced, it may take the folder.
 */
import { createHash } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname } from 'node:path';
import type { Dice } from '../../src/fuzz/dice.ts';

/** The folder after an end: names and contents. */
export interface Remains {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly cause: 'process' | 'power';
  /** The last operation. */
  readonly after: string;
  /** `RecordedDisk.mark` at that time. */
  readonly mark: number;
}

/** A file, whatever its name. */
interface Inode {
  live: Uint8Array;
  synced: Uint8Array;
}

type Names = ReadonlyMap<string, Inode>;
type Change = (names: Map<string, Inode>) => unknown;

const SECTOR = 512;
const NOTHING = new Uint8Array();
const HALF = 500;

export class RecordedDisk {
  /** Copied into what follows, such as the number of answered commands. */
  mark = 0;
  readonly remains: Remains[] = [];
  private readonly folder: string;
  private readonly dice: Dice;
  /** Set by the creation of the folder, until its parent is synced. */
  private isFolderNew = false;
  private names: Names = new Map();
  /** At the last sync of the folder, and the changes since. */
  private syncedNames: Names = new Map();
  private changes: readonly Change[] = [];
  private readonly seen = new Set<string>();
  private readonly original = {
    mkdir: fs.mkdir,
    open: fs.open,
    rename: fs.rename,
    rm: fs.rm,
    copyFile: fs.copyFile,
  };

  /** Until `stop`, all modules use the functions of this disk. */
  constructor(folder: string, dice: Dice) {
    this.folder = folder;
    this.dice = dice;
    Object.assign(fs, {
      mkdir: this.mkdir.bind(this),
      open: this.open.bind(this),
      rename: this.rename.bind(this),
      rm: this.rm.bind(this),
      copyFile: this.copyFile.bind(this),
    });
    syncBuiltinESMExports();
  }

  stop(): void {
    Object.assign(fs, this.original);
    syncBuiltinESMExports();
  }

  private isIn(path: string): boolean {
    return dirname(path) === this.folder;
  }

  private async mkdir(path: string): Promise<void> {
    await this.original.mkdir(path);
    if (path === this.folder) this.isFolderNew = true;
  }

  private async open(path: string, flags: string | number, mode?: number): Promise<FileHandle> {
    const file = await this.original.open(path, flags, mode);
    if (path === this.folder) return this.watchedFolder(file);
    if (path === dirname(this.folder)) return this.watchedParent(file);
    if (!this.isIn(path)) return file;
    const name = basename(path);
    const inode = this.names.get(name) ?? { live: NOTHING, synced: NOTHING };
    if (!this.names.has(name)) this.change((names) => names.set(name, inode));
    this.reread(inode, file);
    this.record(`open ${name}`);
    const isDirect = typeof flags === 'number' && (flags & constants.O_DSYNC) === constants.O_DSYNC;
    return this.watchedFile(file, { name, inode, isDirect });
  }

  private async rename(from: string, to: string): Promise<void> {
    const inode = this.names.get(basename(from));
    await this.original.rename(from, to);
    if (inode === undefined || !this.isIn(to)) return;
    this.change((names) => {
      names.delete(basename(from));
      names.set(basename(to), inode);
    });
    this.record(`rename to ${basename(to)}`);
  }

  private async rm(path: string, options?: object): Promise<void> {
    await this.original.rm(path, options);
    if (!this.isIn(path) || !this.names.has(basename(path))) return;
    this.change((names) => names.delete(basename(path)));
    this.record(`rm ${basename(path)}`);
  }

  private async copyFile(from: string, to: string, mode?: number): Promise<void> {
    await this.original.copyFile(from, to, mode);
    if (!this.isIn(to)) return;
    const inode = { live: readFileSync(to), synced: NOTHING };
    this.change((names) => names.set(basename(to), inode));
    this.record(`copy to ${basename(to)}`);
  }

  private change(change: Change): void {
    const names = new Map(this.names);
    change(names);
    this.names = names;
    this.changes = [...this.changes, change];
  }

  private watchedFolder(file: FileHandle): FileHandle {
    return watched(file, {
      sync: async () => {
        const { names, changes } = this;
        await file.sync();
        this.syncedNames = names;
        this.changes = this.changes.filter((change) => !changes.includes(change));
        this.record('sync of the folder');
      },
    });
  }

  private watchedParent(file: FileHandle): FileHandle {
    return watched(file, {
      sync: async () => {
        await file.sync();
        this.isFolderNew = false;
      },
    });
  }

  private watchedFile(
    file: FileHandle,
    { name, inode, isDirect }: { name: string; inode: Inode; isDirect: boolean },
  ): FileHandle {
    const sync = (how: 'sync' | 'datasync') => async (): Promise<void> => {
      const { live } = inode;
      await file[how]();
      inode.synced = live;
      this.record(`${how} of ${name}`);
    };
    const written = async <T>(writing: Promise<T>): Promise<T> => {
      const result = await writing;
      this.reread(inode, file);
      this.record(`write to ${name}`);
      return result;
    };
    return watched(file, {
      sync: sync('sync'),
      datasync: sync('datasync'),
      truncate: (length: number) => written(file.truncate(length)),
      writeFile: (bytes: Uint8Array) => written(file.writeFile(bytes)),
      appendFile: (bytes: Uint8Array) => written(file.appendFile(bytes)),
      write: async (bytes: Uint8Array, from: number, length: number, at: number) => {
        const result = await written(file.write(bytes, from, length, at));
        if (isDirect) {
          inode.synced = patched(inode.synced, bytes.subarray(from, from + length), at);
          this.record(`synced write to ${name}`);
        }
        return result;
      },
    });
  }

  private reread(inode: Inode, { fd }: FileHandle): void {
    const live = readFileSync(`/proc/self/fd/${String(fd)}`);
    if (Buffer.compare(live, inode.live) !== 0) inode.live = live;
  }

  private record(after: string): void {
    const live = (inode: Inode): Uint8Array => inode.live;
    const synced = (inode: Inode): Uint8Array => inode.synced;
    const torn = (inode: Inode): Uint8Array => this.torn(inode);
    this.keep({ files: filesOf(this.names, live), cause: 'process', after });
    if (this.isFolderNew) this.keep({ files: new Map(), cause: 'power', after });
    for (const names of [this.names, this.syncedNames, this.someNames(), this.someNames()]) {
      for (const content of [live, synced, torn]) {
        this.keep({ files: filesOf(names, content), cause: 'power', after });
      }
    }
  }

  /** With any of the changes since the last sync. */
  private someNames(): Names {
    const names = new Map(this.syncedNames);
    for (const change of this.changes) if (this.dice.chance(HALF)) change(names);
    return names;
  }

  /** Each sector since the last sync is old or new. */
  private torn({ live, synced }: Inode): Uint8Array {
    if (live === synced) return live;
    const length = this.dice.chance(HALF) ? live.length : synced.length;
    const content = new Uint8Array(length);
    for (let at = 0; at < length; at += SECTOR) {
      const from = this.dice.chance(HALF) ? live : synced;
      content.set(from.subarray(at, Math.min(at + SECTOR, length)), at);
    }
    return content;
  }

  private keep(found: Omit<Remains, 'mark'>): void {
    const hash = createHash('sha1').update(String(this.mark));
    for (const [name, bytes] of found.files) {
      hash.update(`\n${name} ${String(bytes.length)}\n`).update(bytes);
    }
    const key = hash.digest('hex');
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.remains.push({ ...found, mark: this.mark });
  }
}

function filesOf(
  names: Names,
  contentOf: (inode: Inode) => Uint8Array,
): ReadonlyMap<string, Uint8Array> {
  return new Map([...names].map(([name, inode]) => [name, contentOf(inode)]));
}

function patched(old: Uint8Array, bytes: Uint8Array, at: number): Uint8Array {
  const result = new Uint8Array(Math.max(old.length, at + bytes.length));
  result.set(old);
  result.set(bytes, at);
  return result;
}

function watched(file: FileHandle, methods: Readonly<Record<string, unknown>>): FileHandle {
  return new Proxy(file, {
    get: (target, name) => {
      const replaced = typeof name === 'string' ? methods[name] : undefined;
      if (replaced !== undefined) return replaced;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
