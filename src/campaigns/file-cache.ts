/**
 * Files of jobs on this machine's disk: from folders that it has already, or from the database. The
 * hash of each is verified when this process first uses it.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { UserError } from '../base/user-error.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import type { StrategyBundle } from '../strategy-loader/bundle.ts';
import { parseManifest, type DatasetFile } from '../tape/manifest.ts';
import { datasetHash, fileHash, filesOf } from './inputs.ts';
import { sha256Of } from './job-id.ts';

/** Source of files by their hashes; null for a file that it does not have. */
export interface FileSource {
  get(sha256: string): Promise<AsyncIterable<Buffer> | null>;
}

/** A file that cannot be had: the job is not at fault. */
export class MissingFile extends FileError {}

/** A reference or a manifest that is wrong on every machine: the job is at fault. */
export class BadReference extends UserError {
  override readonly name = 'BadReference';
  readonly code = 'file';
}

/** Errors that come from a name, not from the disk. */
const NAME_FAULTS: ReadonlySet<string> = new Set([
  ...['ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ELOOP', 'ENOTEMPTY'],
]);

export class FileCache {
  private readonly folder: string;
  private readonly source: FileSource;
  private readonly datasets: readonly string[];
  /** Files in progress or verified, by hash. */
  private readonly known = new Map<string, Promise<string>>();
  private downloads = 0;
  private links = 0;

  /** @param datasets folders of datasets on this machine, used if their hashes are right */
  constructor(folder: string, source: FileSource, datasets: readonly string[] = []) {
    this.folder = folder;
    this.source = source;
    this.datasets = datasets;
  }

  /** Path of a `dataset:` or `file:` reference; any other name as it is. */
  resolve(name: string): Promise<string> {
    const dataset = datasetHash(name);
    if (dataset !== null) return this.once(name, () => this.dataset(dataset));
    const file = fileHash(name);
    return file === null ? Promise.resolve(name) : this.file(file);
  }

  /** Files are verified again, because some may have been removed. */
  forget(): void {
    this.known.clear();
  }

  async bundle(sha256: string): Promise<StrategyBundle> {
    return JSON.parse(await readFile(await this.file(sha256), 'utf8')) as StrategyBundle;
  }

  private file(sha256: string): Promise<string> {
    return this.once(sha256, async () => {
      mustBeHash(sha256);
      const path = join(this.folder, 'files', sha256.slice(0, 2), sha256);
      if ((await hashOf(path)) !== sha256) await this.download(sha256, path);
      return path;
    });
  }

  private async dataset(manifest: string): Promise<string> {
    for (const folder of this.datasets) {
      const text = await readFile(join(folder, 'manifest.json')).catch(() => Buffer.of());
      if (sha256Of(text) !== manifest) continue;
      for (const file of filesOf(parseManifest(text.toString()))) {
        if ((await hashOf(join(folder, file.name))) === file.sha256) continue;
        throw new MissingFile(`${join(folder, file.name)}: is not the file of its manifest`);
      }
      return folder;
    }
    mustBeHash(manifest);
    const text = await readFile(await this.file(manifest));
    const folder = join(this.folder, 'datasets', manifest);
    for (const file of filesOf(parseManifest(text.toString()))) await this.place(folder, file);
    await writeWholeFile(join(folder, 'manifest.json'), text);
    return folder;
  }

  /** Puts a file of a dataset at its name, as a link to the one in the cache. */
  private async place(folder: string, { name, sha256 }: DatasetFile): Promise<void> {
    const relative = normalize(name);
    if (relative.startsWith('..') || relative.startsWith(sep)) {
      throw new BadReference(`manifest.json: ${name} is outside of the dataset`);
    }
    const from = await this.file(sha256);
    const path = join(folder, relative);
    this.links += 1;
    const temporary = `${path}.partial-${String(process.pid)}-${String(this.links)}`;
    try {
      await mkdir(dirname(path), { recursive: true });
      await link(from, temporary);
      // A trial may read the dataset now, so the name is never without a file.
      await rename(temporary, path);
      // Two links of one file: the rename did nothing.
      await rm(temporary, { force: true });
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      if (NAME_FAULTS.has((error as NodeJS.ErrnoException).code ?? '')) {
        throw new BadReference(`manifest.json: ${name} cannot be the name of a file`);
      }
      throw fileError(path, error);
    }
  }

  private async download(sha256: string, path: string): Promise<void> {
    const content = await this.source.get(sha256);
    if (content === null) {
      throw new MissingFile(
        `file ${sha256} is neither in the database nor in a --data folder of this worker`,
      );
    }
    this.downloads += 1;
    const temporary = `${path}.partial-${String(process.pid)}-${String(this.downloads)}`;
    try {
      await mkdir(dirname(path), { recursive: true });
      const hash = createHash('sha256');
      const file = await open(temporary, 'wx');
      try {
        for await (const bytes of content) {
          hash.update(bytes);
          await file.writeFile(bytes);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      if (hash.digest('hex') !== sha256) {
        throw new MissingFile(`file ${sha256} of the database does not have this hash`);
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw fileError(path, error);
    }
  }

  /** One attempt at a time; a failed one may be repeated. */
  private once(key: string, run: () => Promise<string>): Promise<string> {
    const begun = this.known.get(key);
    if (begun !== undefined) return begun;
    const result = run();
    this.known.set(key, result);
    result.catch(() => {
      if (this.known.get(key) === result) this.known.delete(key);
    });
    return result;
  }
}

function mustBeHash(text: string): void {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new BadReference(`${text}: is not a SHA-256`);
}

/** Null if the file cannot be read. */
async function hashOf(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch {
    return null;
  }
  return hash.digest('hex');
}
