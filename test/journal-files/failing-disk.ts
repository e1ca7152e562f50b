/**
 * A disk that fails on demand: while an error code is set, every write and sync of its files fails
 * with it.
 */
import { open } from 'node:fs/promises';
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
