/**
 * A disk that fails on demand: while an error code is set, every write and sync of its files fails
 * with it.
 */
import { readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenFile } from '../../src/journal-files/segment-writer.ts';

export class FailingDisk {
  /** `ENOSPC` or another code; null: no failure. */
  code: string | null = null;

  readonly openFile: OpenFile = async (path, flags) => {
    const file = await open(path, flags);
    return new Proxy(file, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        const isWrite = name === 'write' || name === 'datasync' || name === 'sync';
        return (...args: unknown[]): unknown => {
          if (isWrite && this.code !== null) {
            return Promise.reject(Object.assign(new Error(this.code), { code: this.code }));
          }
          return Reflect.apply(value, target, args);
        };
      },
    });
  };
}

/** Opens files of a folder whose disk has `bytes` bytes. */
export const smallDisk =
  (folder: string, bytes: number): OpenFile =>
  async (path, flags) => {
    const file = await open(path, flags);
    const write = async (data: Uint8Array, from: number, length: number, at: number) => {
      const grown = Math.max(0, at + length - (await file.stat()).size);
      // A preallocated file can be deleted meanwhile.
      const sizes = readdirSync(folder).map(
        (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
      );
      if (grown > 0 && sizes.reduce((a, b) => a + b, grown) > bytes) {
        throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      }
      return file.write(data, from, length, at);
    };
    return new Proxy(file, {
      get: (target, name) => {
        if (name === 'write') return write;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  };
