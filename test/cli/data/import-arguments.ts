/** `orrery data import` of small files, without its output. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { importFiles } from '../../../src/cli/data/import.ts';

type Arguments = Parameters<typeof importFiles>[0];

export class SmallFiles {
  private readonly scratch = mkdtempSync(join(tmpdir(), 'orrery-files-'));
  private runs = 0;

  /** Writes a file in a folder of its own. */
  file(name: string, ...lines: readonly string[]): string {
    const path = join(this.scratch, `files-${String(this.runs++)}`, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  }

  import(format: string, file: string | readonly string[], changes: Partial<Arguments> = {}) {
    return importFiles({
      ...{ format, file: [file].flat(), out: join(this.scratch, `set-${String(this.runs++)}`) },
      ...{ symbol: undefined, tick: undefined, lot: undefined, inverse: undefined },
      ...{ map: undefined, interval: undefined, source: '', licence: '' },
      ...{ add: false, merge: false, replace: false, 'skip-bad': 0, round: false, json: true },
      ...changes,
    });
  }

  remove(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}
