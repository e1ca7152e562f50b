/**
 * Bundles a strategy file and its imports into one script. The script's SHA-256 identifies the code
 * that ran; it depends on the sources and the file name, not on their folder. `orrery/strategy` is
 * external to the bundle and provided by this program.
 */
import { createHash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type BuildFailure, type Message } from 'esbuild';
import { StrategyError } from '../strategy/definition.ts';
import { fileError } from '../platform/file-error.ts';

/** A bundled strategy file; plain data, so that it can be sent to workers. */
export interface StrategyBundle {
  /** The file's name. */
  readonly file: string;
  /** A CommonJS script. */
  readonly code: string;
  /** JSON of a source map, for stack traces. */
  readonly map: string;
  readonly sha256: string;
}

/** This program's packages are available to strategies. */
const OWN_PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const API = 'orrery/strategy';

/** Throws `StrategyError` with places and messages if the file cannot be compiled. */
export async function bundleStrategy(path: string): Promise<StrategyBundle> {
  const file = resolve(path);
  await stat(file).catch((error: unknown) => {
    throw fileError(path, error);
  });
  try {
    const { outputFiles } = await build({
      entryPoints: [file],
      absWorkingDir: dirname(file),
      bundle: true,
      write: false,
      outdir: join(dirname(file), 'out'),
      format: 'cjs',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      target: 'es2023',
      external: [API],
      nodePaths: [OWN_PACKAGES],
      sourcemap: 'external',
      // Comments would contain package paths, which are not part of the code that runs.
      minifyWhitespace: true,
      legalComments: 'none',
      charset: 'utf8',
      logLevel: 'silent',
    });
    const script = outputFiles.find((output) => output.path.endsWith('.js'));
    const map = outputFiles.find((output) => output.path.endsWith('.map'));
    if (script === undefined) throw new StrategyError(`${path}: the bundle is empty`);
    return {
      file: basename(file),
      code: script.text,
      map: map?.text ?? '',
      sha256: createHash('sha256').update(script.text).digest('hex'),
    };
  } catch (error) {
    const failure = error as Partial<BuildFailure>;
    if (failure.errors === undefined) throw error;
    throw new StrategyError(failure.errors.map((each) => words(path, each)).join('\n'));
  }
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
