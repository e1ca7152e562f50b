/**
 * Bundles a strategy file and its imports into one script. The script's SHA-256 identifies the code
 * that ran; it depends on the sources and the file name, not on their folder. `orrery/strategy` is
 * external to the bundle and provided by this program.
 */
import { createHash } from 'node:crypto';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { readFile, realpath, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { BuildFailure, Message } from 'esbuild';
import { StrategyError } from '../strategy/definition.ts';
import { fileError } from '../platform/file-error.ts';
import { build } from './bundler.ts';
import { guardCatches, type Guarded } from './guard-catches.ts';

/** A bundled strategy file; plain data, so that it can be sent to workers. */
export interface StrategyBundle {
  /** The file's name. */
  readonly file: string;
  /** A CommonJS script. */
  readonly code: string;
  /** JSON of a source map, for stack traces. */
  readonly map: string;
  /** Of the script before the filter of caught errors is inserted. */
  readonly sha256: string;
  /** Name of the filter of caught errors in `code`, and the characters inserted for it. */
  readonly filter: string;
  readonly inserted: Guarded['inserted'];
  /** Script of this program for the strategy's realm. */
  readonly guest: string;
  /** Files of data in the bundle, such as JSON or code with tables, with their SHA-256. */
  readonly data: readonly BundledData[];
}

export interface BundledData {
  /** Relative to the strategy's folder. */
  readonly file: string;
  readonly sha256: string;
}

/** This program's packages are available to strategies. */
const OWN_PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const API = 'orrery/strategy';
const CODE = /\.(?:[cm]?[jt]s|[jt]sx)$/;
/** Of a build; sources are bundled when they run. */
const BUILT_GUEST = fileURLToPath(new URL('./guest/realm.js', import.meta.url));
const GUEST = fileURLToPath(new URL('./guest/guest.ts', import.meta.url));
let guest: Promise<string> | null = null;

/** Throws `StrategyError` with places and messages if the file cannot be compiled. */
export async function bundleStrategy(path: string): Promise<StrategyBundle> {
  const found = await stat(path).catch((error: unknown) => {
    throw fileError(path, error, 'orrery new strategy <name> writes a strategy');
  });
  if (found.isDirectory()) throw fileError(path, { code: 'EISDIR' });
  if (!CODE.test(path)) throw new StrategyError(`${path}: a strategy is a .ts or .js file`);
  // Paths of the output are relative to the real folder.
  const folder = await realpath(dirname(path));
  const file = join(folder, basename(path));
  try {
    const { outputFiles, metafile } = await build({
      entryPoints: [file],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      outdir: join(folder, 'out'),
      format: 'cjs',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      target: 'es2023',
      external: [API],
      nodePaths: [OWN_PACKAGES],
      sourcemap: 'external',
      metafile: true,
      // Comments would contain package paths, which are not part of the code that runs.
      minifyWhitespace: true,
      legalComments: 'none',
      charset: 'utf8',
      logLevel: 'silent',
    });
    const script = outputFiles.find((output) => output.path.endsWith('.js'));
    const map = outputFiles.find((output) => output.path.endsWith('.map'));
    if (script === undefined) throw new StrategyError(`${path}: the bundle is empty`);
    guest ??= guestScript();
    const { plain, ...guarded } = guardCatches(script.text);
    return {
      file: basename(file),
      ...guarded,
      map: map?.text ?? '',
      sha256: sha256(plain),
      guest: await guest,
      data: await dataOf(Object.keys(metafile.inputs), folder),
    };
  } catch (error) {
    if (error instanceof SyntaxError) throw new StrategyError(`${path}: ${error.message}`);
    const failure = error as Partial<BuildFailure>;
    if (failure.errors === undefined) throw error;
    throw new StrategyError(failure.errors.map((each) => words(path, each)).join('\n'));
  }
}

async function guestScript(): Promise<string> {
  if (extname(fileURLToPath(import.meta.url)) === '.js') return readFile(BUILT_GUEST, 'utf8');
  const { outputFiles } = await build({
    entryPoints: [GUEST],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'neutral',
    target: 'es2023',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

/** Files that are not code, and code that holds as many numbers or as long a text as a table. */
async function dataOf(inputs: readonly string[], folder: string): Promise<BundledData[]> {
  const files = await Promise.all(
    [...inputs].sort().map(async (file) => {
      const content = await readFile(resolve(folder, file));
      const isData = !CODE.test(file) || holdsTable(content.toString());
      // The folder of packages depends on the machine.
      const name = file.slice(Math.max(0, file.lastIndexOf('node_modules/')));
      return isData ? [{ file: name, sha256: sha256(content) }] : [];
    }),
  );
  return files.flat();
}

/** Numbers or characters of one text above which a source file is listed as data. */
const MANY_NUMBERS = 1000;
const LONG_TEXT = /(["'`])(?:(?!\1)[^\n\\]|\\.){5000,}\1/;

function holdsTable(source: string): boolean {
  if (LONG_TEXT.test(source)) return true;
  const number = /[0-9]+/g;
  for (let count = 0; count <= MANY_NUMBERS; count++)
    if (number.exec(source) === null) return false;
  return true;
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function words(path: string, { text, location }: Message): string {
  const place =
    location === null
      ? path
      : `${location.file}:${String(location.line)}:${String(location.column)}`;
  const builtin =
    /Could not resolve "(node:)?(fs|path|os|crypto|http|https|net|child_process|worker_threads|timers|perf_hooks)(\/\w+)?"/;
  if (builtin.test(text)) {
    return `${place}: ${text}; a strategy has no platform: what it needs comes through its context`;
  }
  const missing = /^Could not resolve "((?:@[\w.-]+\/)?\w[\w.-]*)/.exec(text)?.[1];
  const remedy = missing === undefined ? '' : `; install it: npm install ${missing}`;
  return `${place}: ${text}${remedy}`;
}
