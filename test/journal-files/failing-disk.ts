/** A disk that fails on demand: every write and sync of files opened through it answers an error code while one is set. */
import { open } from 'node:fs/promises';
import type { OpenFile } from '../../src/journal-files/segment-writer.ts';

export class FailingDisk {
  /** `ENOSPC` and so on; null while it works. */
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
