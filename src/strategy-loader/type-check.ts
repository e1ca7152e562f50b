/**
 * Type check of a strategy file before it runs. The check is a process of its own, so that its
 * memory is free when the run starts. A check that passed is recorded with the hash of every file
 * that it read; it is not repeated while they are the same.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StrategyError } from '../strategy/definition.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import type { StrategyBundle } from './bundle.ts';
import {
  fileHash,
  type FilesRead,
  type TypeCheckRequest,
  type TypeCheckResult,
  type TypeProblem,
} from './type-checker.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_SHOWN = 20;
const MAX_OUTPUT = 1 << 28;

interface Compiler {
  readonly folder: string;
  readonly version: string;
}

/** A check that passed. */
interface Passed extends FilesRead {
  /** TypeScript, this program's checker and the SHA-256 of the bundle. */
  readonly by: string;
}

/**
 * Returns null if the types are right, or the reason why they were not checked. A JavaScript file
 * is checked if it contains `// @ts-check`.
 *
 * @param state folder for records of checks that passed
 * @throws StrategyError with the place and the line of each error
 */
export async function checkStrategyTypes(
  path: string,
  { sha256: bundle }: Pick<StrategyBundle, 'sha256'>,
  state: string,
): Promise<string | null> {
  const file = resolve(path);
  // Sources have no script for the process; only tests run them.
  if (!import.meta.url.endsWith('.js') || !mustCheck(file)) return null;
  const compiler = compilerFor(file);
  if (compiler === null) {
    return `the types of ${path} are not checked: TypeScript is not installed (npm install --save-dev typescript@6)`;
  }
  if (Number.parseInt(compiler.version, 10) > 6) {
    return `the types of ${path} are not checked: TypeScript ${compiler.version} has no API for it; versions 5 and 6 have one (npm install --save-dev typescript@6)`;
  }
  const record = join(state, 'checked', `${sha256(file).slice(0, 32)}.json`);
  const by = `${compiler.version} ${compiler.folder} ${checkerHash()} ${bundle}`;
  if (isPassed(record, by)) return null;
  const request = { file, root: ROOT, compiler: compiler.folder, entries: entriesOf(ROOT) };
  const result = await runCheck(request);
  if (result === null) {
    return `the types of ${path} are not checked: TypeScript ${compiler.version} failed; ORRERY_DEBUG=1 shows its error`;
  }
  const { problems, read } = result;
  if (problems.length > 0) throw new StrategyError(textOf(path, problems));
  const passed: Passed = { by, ...read };
  // A record that cannot be written costs the time of the next check only.
  await makeFolder(dirname(record))
    .then(() => writeWholeFile(record, Buffer.from(JSON.stringify(passed))))
    .catch(() => undefined);
  return null;
}

function mustCheck(file: string): boolean {
  if (!/^\.[cm]?jsx?$/.test(extname(file))) return true;
  return /^\s*\/\/\s*@ts-check\b/m.test(readFileSync(file, 'utf8'));
}

/** The strategy's TypeScript, or the one beside this program. */
function compilerFor(file: string): Compiler | null {
  for (const from of [file, join(ROOT, 'package.json')]) {
    try {
      const manifest = createRequire(from).resolve('typescript/package.json');
      const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
      return { folder: dirname(manifest), version };
    } catch {
      // Not installed there.
    }
  }
  return null;
}

/** Declarations of this program's entries, by name. */
function entriesOf(root: string): Record<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.fromEntries(
    Object.entries(exports).flatMap(([entry, target]) =>
      typeof target === 'string' ? [] : [[name + entry.slice(1), join(root, target.types)]],
    ),
  );
}

function checkerHash(): string {
  const scripts = ['./type-checker.js', './strategy-globals.js'];
  return sha256(scripts.map((name) => fileHash(scriptPath(name))).join());
}

function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isPassed(record: string, by: string): boolean {
  try {
    const passed = JSON.parse(readFileSync(record, 'utf8')) as Passed;
    if (passed.by !== by) return false;
    return (
      Object.entries(passed.files).every(([path, hash]) => fileHash(path) === hash) &&
      !passed.absent.some((path) => existsSync(path))
    );
  } catch {
    // No record, or a file that was read is gone.
    return false;
  }
}

/** Null if TypeScript fails. */
async function runCheck(request: TypeCheckRequest): Promise<TypeCheckResult | null> {
  const args = [scriptPath('./type-check-process.js'), JSON.stringify(request)];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: MAX_OUTPUT });
    return JSON.parse(stdout) as TypeCheckResult;
  } catch (error) {
    if (process.env['ORRERY_DEBUG'] === '1') throw error;
    return null;
  }
}

function textOf(path: string, problems: readonly TypeProblem[]): string {
  const errors = problems.length === 1 ? '1 type error' : `${String(problems.length)} type errors`;
  const shown = problems.slice(0, MAX_SHOWN).map(problemText);
  const rest = problems.length - shown.length;
  return [
    `${path}: ${errors}; --no-check runs it without this check`,
    ...shown,
    ...(rest > 0 ? [`and ${String(rest)} more`] : []),
  ].join('\n');
}

function problemText({ file, line, column, length, source, message }: TypeProblem): string {
  const near = relative(process.cwd(), file);
  const place = `${near.startsWith('..') ? file : near}:${String(line)}:${String(column)}`;
  const blank = source.slice(0, column - 1).replaceAll(/[^\t]/g, ' ');
  return `${place}: ${message}\n    ${source}\n    ${blank}${'~'.repeat(length)}`;
}
