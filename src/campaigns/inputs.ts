/**
 * Files that a plan reads, by their hashes. In a job, `dataset:<hash of its manifest>` stands for a
 * dataset and `file:<hash>` for a file, because paths differ between machines.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseManifest, type DatasetFile, type DatasetManifest } from '../tape/manifest.ts';
import type { PlannedStrategy, RunPlan } from '../run-plan/run-plan.ts';
import type { StrategyBundle } from '../strategy-loader/bundle.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { sha256Of } from './job-id.ts';

/** References by path. */
export type InputPaths = Readonly<Record<string, string>>;

/** A plan whose bundles are replaced by the hashes of their JSON. */
export interface PackedPlan extends Omit<RunPlan, 'strategies'> {
  readonly strategies: readonly (Omit<PlannedStrategy, 'bundle'> & { readonly bundle: string })[];
}

/** Destination of files that are sent by their hashes. */
export interface FileSink {
  has(sha256: string): Promise<boolean>;
  put(sha256: string, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>;
}

const LATENCY_FILE = /\bfile=([^,]*)/;
const DATASET = 'dataset:';
const FILE = 'file:';

export function datasetHash(reference: string): string | null {
  return reference.startsWith(DATASET) ? reference.slice(DATASET.length) : null;
}

export function fileHash(reference: string): string | null {
  return reference.startsWith(FILE) ? reference.slice(FILE.length) : null;
}

/** Files of the dataset, each once. */
export function filesOf(manifest: DatasetManifest): DatasetFile[] {
  const files = manifest.streams.flatMap(({ parts }) =>
    parts.flatMap(({ events, levels }) => [events, levels]),
  );
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

/** Hashes the files that the plan names. Throws `FileError`. */
export async function inputsOf({ data, feeds = [], latency }: RunPlan): Promise<InputPaths> {
  const paths: Record<string, string> = {};
  if (data !== undefined) {
    paths[data] = DATASET + sha256Of(await contentOf(join(data, 'manifest.json')));
  }
  for (const { file, sha256 } of feeds) paths[file] = FILE + sha256;
  const measured = LATENCY_FILE.exec(latency ?? '')?.[1];
  if (measured !== undefined) paths[measured] = FILE + sha256Of(await contentOf(measured));
  return paths;
}

/** The plan with other names of its files. */
export function renamed<P extends RunPlan | PackedPlan>(
  plan: P,
  nameOf: (name: string) => string,
): P {
  const { data, feeds, latency } = plan;
  return {
    ...plan,
    ...(data === undefined ? {} : { data: nameOf(data) }),
    ...(feeds === undefined
      ? {}
      : { feeds: feeds.map((feed) => ({ ...feed, file: nameOf(feed.file) })) }),
    ...(latency === undefined
      ? {}
      : {
          latency: latency.replace(LATENCY_FILE, (_, name: string) => `file=${nameOf(name)}`),
        }),
  };
}

/** All references of the plan. */
export function referencesOf(plan: RunPlan | PackedPlan): string[] {
  const names: string[] = [];
  renamed(plan, (name) => {
    names.push(name);
    return name;
  });
  return names;
}

/** Hashes of bundles; a search has the same objects in all of its tasks. */
const bundleHashes = new WeakMap<StrategyBundle, string>();

export function bundleHash(bundle: StrategyBundle): string {
  let hash = bundleHashes.get(bundle);
  if (hash === undefined) {
    hash = sha256Of(JSON.stringify(bundle));
    bundleHashes.set(bundle, hash);
  }
  return hash;
}

/** The plan of a job: references for paths and bundles. */
export function packed(plan: RunPlan, paths: InputPaths): PackedPlan {
  return {
    ...renamed(plan, (name) => paths[name] ?? name),
    strategies: plan.strategies.map((strategy) => {
      const { bundle } = strategy;
      if (bundle === null) throw new Error(`strategy ${strategy.id} has no file`);
      return { ...strategy, bundle: bundleHash(bundle) };
    }),
  };
}

/** The inverse of `packed`, with fields in their order: the identity of a log depends on it. */
export async function unpacked(
  plan: PackedPlan,
  nameOf: (reference: string) => string,
  bundleOf: (sha256: string) => Promise<StrategyBundle>,
): Promise<RunPlan> {
  const strategies = await Promise.all(
    plan.strategies.map(async (strategy) => ({
      ...strategy,
      bundle: await bundleOf(strategy.bundle),
    })),
  );
  return { ...renamed(plan, nameOf), strategies };
}

export interface Upload {
  /** False: workers have the data on a path of their own. */
  readonly data: boolean;
  readonly onFile: (name: string) => void;
}

/** Sends bundles and files that the sink does not have. Throws `FileError`. */
export async function upload(
  plan: RunPlan,
  paths: InputPaths,
  sink: FileSink,
  { data, onFile }: Upload,
): Promise<void> {
  const send = async (sha256: string, name: string, open: () => AsyncIterable<Buffer>) => {
    if (await sink.has(sha256)) return;
    onFile(name);
    await sink.put(sha256, open());
  };
  const sendFile = (sha256: string, path: string): Promise<void> =>
    send(sha256, path, () => verified(path, sha256));
  for (const { bundle } of plan.strategies) {
    if (bundle === null) continue;
    const text = Buffer.from(JSON.stringify(bundle));
    if (await sink.has(bundleHash(bundle))) continue;
    await sink.put(bundleHash(bundle), [text]);
  }
  for (const [path, reference] of Object.entries(paths)) {
    const manifest = datasetHash(reference);
    if (manifest === null) {
      await sendFile(fileHash(reference) ?? '', path);
      continue;
    }
    const text = await contentOf(join(path, 'manifest.json'));
    if (data) {
      for (const { name, sha256 } of filesOf(parseManifest(text.toString()))) {
        await sendFile(sha256, join(path, name));
      }
    }
    await sendFile(manifest, join(path, 'manifest.json'));
  }
}

/** The content; throws at its end if it does not have the hash, so that it does not count. */
async function* verified(path: string, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk as Buffer);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw fileError(path, error);
  }
  if (hash.digest('hex') !== sha256)
    throw new FileError(`${path}: does not have the SHA-256 that its manifest names`);
}

async function contentOf(path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
}
