/**
 * Checks the types of a strategy file and of the files that it imports, with the TypeScript of the
 * user. Runs in a process of its own (`type-check-process.ts`).
 *
 * A strategy has the language (ES2023) and the globals of its realm, so `lib` and `types` of a
 * `tsconfig.json` do not count. Rules of style, such as unused variables, are no type errors.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type ts from 'typescript';
import { GLOBALS, GLOBALS_FILE } from './strategy-globals.ts';

export interface TypeCheckRequest {
  /** Absolute path of the strategy file. */
  readonly file: string;
  /** Folder of this program, where packages that the strategy does not have are resolved. */
  readonly root: string;
  /** Declarations of this program's entries: file by name, such as `orrery/strategy`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Folder of the TypeScript package. */
  readonly compiler: string;
}

export interface TypeProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly length: number;
  /** The line of the file. */
  readonly source: string;
  readonly message: string;
}

/** Everything that the result depends on, apart from TypeScript and this module. */
export interface FilesRead {
  /** SHA-256 by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Paths that were asked for and do not exist. */
  readonly absent: readonly string[];
}

export interface TypeCheckResult {
  readonly problems: readonly TypeProblem[];
  readonly read: FilesRead;
}

/** No declarations of a JavaScript package: its values are `any`. */
const UNTYPED_PACKAGE = 7016;
const UNRESOLVED = new Set([2307, 2792]);
/** TypeScript advises to install types of Node, or to add the browser's. */
const OF_PLATFORM = new Set([2580, 2584, 2591]);
const PACKAGES = `${sep}node_modules${sep}`;
const CODE = /\.(?:[cm]?[jt]s|[jt]sx|json)$/;

export function checkTypes(api: typeof ts, request: TypeCheckRequest): TypeCheckResult {
  const recorder = new Recorder(request.root);
  const system: ts.System = { ...api.sys, ...recorder.of(api.sys) };
  const configured = readConfig(api, system, request.file);
  if ('problem' in configured) return { problems: [configured.problem], read: recorder.read };
  const options = optionsOf(api, configured.options, request);
  const host = hostOf(api, system, options, request);
  const globals = join(dirname(request.file), GLOBALS_FILE);
  const ambient = configured.files.filter((file) => file.endsWith('.d.ts'));
  const program = api.createProgram([request.file, globals, ...ambient], options, host);
  const problems = program
    .getSourceFiles()
    .filter((source) => isOwn(program, source, request))
    .flatMap((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ])
    .filter((diagnostic) => isProblem(api, diagnostic))
    .map((diagnostic) => problemOf(api, diagnostic));
  return { problems, read: recorder.read };
}

/**
 * Records which files are read and which are missing. Of an installed package it records
 * `package.json` only, since its files change with its version.
 */
class Recorder {
  private readonly own: string;
  private readonly files = new Map<string, string>();
  private readonly absent = new Set<string>();

  /** @param root folder of this program */
  constructor(root: string) {
    this.own = join(root, 'dist') + sep;
  }

  get read(): FilesRead {
    return { files: Object.fromEntries(this.files), absent: [...this.absent] };
  }

  of(system: ts.System): Pick<ts.System, 'readFile' | 'fileExists'> {
    return {
      readFile: (path, encoding) => {
        const text = system.readFile(path, encoding);
        if (text === undefined) this.miss(path);
        else if (!this.isInstalled(path)) this.files.set(path, fileHash(path));
        return text;
      },
      fileExists: (path) => {
        const exists = system.fileExists(path);
        if (!exists) this.miss(path);
        return exists;
      },
    };
  }

  private miss(path: string): void {
    if (!path.startsWith(this.own) && !path.includes(PACKAGES)) this.absent.add(path);
  }

  private isInstalled(path: string): boolean {
    if (path.startsWith(this.own) || basename(path) === 'package.json') return false;
    return path.includes(PACKAGES);
  }
}

export function fileHash(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

interface Configured {
  readonly options: ts.CompilerOptions;
  readonly files: readonly string[];
}

/** The nearest `tsconfig.json` above the file; strict if there is none. */
function readConfig(
  api: typeof ts,
  system: ts.System,
  file: string,
): Configured | { readonly problem: TypeProblem } {
  const path = api.findConfigFile(dirname(file), (each) => system.fileExists(each));
  if (path === undefined) return { options: { strict: true }, files: [] };
  const read: { readonly config?: unknown; readonly error?: ts.Diagnostic | undefined } =
    api.readConfigFile(path, (each) => system.readFile(each));
  const { config, error } = read;
  if (error !== undefined) return { problem: problemOf(api, error) };
  // `files` only: reading every file that `include` matches would take time.
  const host = { ...system, useCaseSensitiveFileNames: true, readDirectory: () => [] };
  const parsed = api.parseJsonConfigFileContent(config, host, dirname(path));
  return { options: parsed.options, files: parsed.fileNames };
}

/** Options of a `tsconfig.json` that do not count: other files, and rules of style. */
const DROPPED = new Set([
  ...['rewriteRelativeImportExtensions', 'checkJs', 'customConditions', 'noLib', 'plugins'],
  ...['noUnusedLocals', 'noUnusedParameters', 'allowUnreachableCode', 'allowUnusedLabels'],
  ...['composite', 'incremental', 'tsBuildInfoFile', 'rootDir', 'outDir', 'outFile'],
  ...['declaration', 'declarationMap', 'emitDeclarationOnly', 'isolatedDeclarations'],
]);

function optionsOf(
  api: typeof ts,
  given: ts.CompilerOptions,
  { entries }: TypeCheckRequest,
): ts.CompilerOptions {
  const own = Object.entries(entries).map(([name, file]) => [name, [file]]);
  return {
    ...Object.fromEntries(Object.entries(given).filter(([name]) => !DROPPED.has(name))),
    // As the bundler compiles and resolves.
    target: api.ScriptTarget.ES2023,
    module: api.ModuleKind.ESNext,
    moduleResolution: api.ModuleResolutionKind.Bundler,
    paths: { ...given.paths, ...(Object.fromEntries(own) as Record<string, string[]>) },
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    allowJs: true,
    // As the realm is.
    lib: ['lib.es2023.d.ts'],
    types: [],
    typeRoots: [],
    skipLibCheck: true,
    noEmit: true,
  };
}

function hostOf(
  api: typeof ts,
  system: ts.System,
  options: ts.CompilerOptions,
  { file, root }: TypeCheckRequest,
): ts.CompilerHost {
  const globals = join(dirname(file), GLOBALS_FILE);
  const host = api.createCompilerHost(options);
  const files = {
    fileExists: (path: string) => path === globals || system.fileExists(path),
    readFile: (path: string) => (path === globals ? GLOBALS : system.readFile(path)),
  };
  const resolving: ts.ModuleResolutionHost = {
    ...files,
    getCurrentDirectory: () => system.getCurrentDirectory(),
    directoryExists: (path) => system.directoryExists(path),
    realpath: (path) => system.realpath?.(path) ?? path,
    getDirectories: (path) => system.getDirectories(path),
  };
  const cache = api.createModuleResolutionCache(dirname(file), (name) => name, options);
  const resolve = (name: string, from: string): ts.ResolvedModuleWithFailedLookupLocations => {
    const found = api.resolveModuleName(name, from, options, resolving, cache);
    if (found.resolvedModule !== undefined || /^[./]/.test(name)) return found;
    // This program's packages are available to strategies.
    return api.resolveModuleName(name, join(root, 'package.json'), options, resolving, cache);
  };
  return {
    ...host,
    ...files,
    getSourceFile: (path, languageVersion) => {
      const text = files.readFile(path);
      return text === undefined ? undefined : api.createSourceFile(path, text, languageVersion);
    },
    resolveModuleNameLiterals: (names, from) => names.map(({ text }) => resolve(text, from)),
  };
}

/** Whether errors in this file are the user's. */
function isOwn(
  program: ts.Program,
  source: ts.SourceFile,
  { root, file }: TypeCheckRequest,
): boolean {
  if (source.isDeclarationFile || program.isSourceFileFromExternalLibrary(source)) return false;
  if (source.fileName === file) return true;
  const inProgram = [join(root, 'src'), join(root, 'dist')];
  return !inProgram.some((folder) => source.fileName.startsWith(folder + sep));
}

function isProblem(
  api: typeof ts,
  { category, code, file, start, length }: ts.Diagnostic,
): boolean {
  if (category !== api.DiagnosticCategory.Error || code === UNTYPED_PACKAGE) return false;
  if (!UNRESOLVED.has(code) || file === undefined || start === undefined) return true;
  // A file that the bundler includes as text.
  const name = file.text.slice(start + 1, start + (length ?? 0) - 1);
  return CODE.test(name) || !existsSync(join(dirname(file.fileName), name));
}

function problemOf(api: typeof ts, diagnostic: ts.Diagnostic): TypeProblem {
  const { code, file, start = 0, length = 1, messageText } = diagnostic;
  const text = api.flattenDiagnosticMessageText(messageText, '\n');
  const message = OF_PLATFORM.has(code)
    ? `${text.slice(0, text.indexOf('.'))}: a strategy has no platform`
    : text;
  if (file === undefined) return { file: '', line: 1, column: 1, length: 0, source: '', message };
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  const source = file.text.split(/\r?\n/)[line] ?? '';
  return {
    file: file.fileName,
    ...{ line: line + 1, column: character + 1 },
    length: Math.max(1, Math.min(length, source.length - character)),
    source,
    message,
  };
}
