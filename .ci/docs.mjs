/**
 * Runs every code block of README, CONTRIBUTING, CHANGELOG and docs as printed
 * (`npm run test:docs`), in document order, each document in a working folder of its own: `clone`
 * is a copy of the repository with its build, `package` a new project that installs the packed
 * tarball. Without `--mode`, documents whose blocks all run in a project are not run in a clone
 * too. .ci/doc-blocks.mjs has the rules.
 *
 *     npm run test:docs -- [--mode clone|package] [--only README.md] [--keep]
 */
import { execFileSync, spawn } from 'node:child_process';
import { symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse as parseYaml } from 'yaml';
import { blocksOf, commandsOf, documents, matchesOutput, root, sessionOf } from './doc-blocks.mjs';

const { values: options } = parseArgs({
  options: {
    mode: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
    keep: { type: 'boolean', default: false },
  },
});

const ts = createRequire(import.meta.url)('typescript');
const BLOCK_TIMEOUT_MS = 600_000;
const PORT = 8080;
/** Instead of any free port, which a script would have to find in the output. */
const ANY_PORT = 8097;
/** Synchronous removal does not delete again what appeared while it ran. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };
/** Scripts that steps of .ci/run contain (`check`, `test`): there they are not run again here. */
const RUN_BY_CI = ['npm run typecheck', 'npm run lint', 'npm run test:fast'];

const base = mkdtempSync(join(tmpdir(), 'orrery-docs-'));
/** npx and npm of the blocks leave nothing in the user's cache. */
const blockEnvironment = {
  ...process.env,
  npm_config_cache: join(base, 'npm-cache'),
  npm_config_update_notifier: 'false',
  npm_config_userconfig: '/dev/null',
  NO_COLOR: '1',
  // The documents show commands without seeds; a check of them is the same each time.
  ORRERY_SEED: 'documents',
};

const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 });

/** The repository's files with its build. Packages are linked, so nothing may install over them. */
function makeClone() {
  const folder = join(base, 'clone');
  const listed = run('git', ['ls-files', '-z', '-co', '--exclude-standard'], root).split('\0');
  for (const file of listed.filter((name) => name !== '' && name !== 'node_modules')) {
    cpSync(join(root, file), join(folder, file), { preserveTimestamps: true });
  }
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'dist', '.built'), '');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  // Older than what is installed: setup.mjs has nothing to install.
  utimesSync(join(folder, 'package-lock.json'), 1, 1);
  return folder;
}

/** An empty project with the tarball; the README's own block installs it. */
async function makeProject() {
  const folder = join(base, 'project');
  mkdirSync(folder);
  run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder], root);
  const [install] = blocksOf('README.md').filter(({ where }) => where === 'project');
  if (install === undefined) throw new Error('README.md does not show how to install the package');
  const { code, output } = await shell(script(install.text), folder, process.env);
  if (code !== 0) throw new Error(`README.md:${install.line}: exit code ${code}\n${output}`);
  return folder;
}

/** A copy for one document; its packages are those of `from`. */
function workFolder(from, document) {
  const folder = join(base, 'work', document.replaceAll('/', '-').replace('.md', ''));
  cpSync(from, folder, {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => path !== join(from, 'node_modules') && !path.endsWith('.tgz'),
  });
  symlinkSync(join(from, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Ends the running block, which an interrupt of this process does not reach. */
let stopBlock = () => undefined;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopBlock();
    rmSync(base, { recursive: true, force: true });
    process.exit(130);
  });
}

/**
 * Runs bash in a process group of its own, which ends with it. Output is both streams together. A
 * document counts no trials of other documents or of the user.
 */
function shell(text, cwd, env = { ...blockEnvironment, ORRERY_STATE: `${cwd}-state` }) {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', text], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const add = (chunk) => (output += chunk);
    child.stdout.setEncoding('utf8').on('data', add);
    child.stderr.setEncoding('utf8').on('data', add);
    const endGroup = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The group has ended.
      }
    };
    stopBlock = () => endGroup('SIGKILL');
    const timer = setTimeout(() => {
      output += `\nno end after ${BLOCK_TIMEOUT_MS / 1000} s`;
      endGroup('SIGKILL');
    }, BLOCK_TIMEOUT_MS);
    const isRunning = () => {
      try {
        return process.kill(-child.pid, 0);
      } catch {
        return false;
      }
    };
    child.on('exit', async (code) => {
      clearTimeout(timer);
      // A killed process can hold its folder for some time after the signal.
      for (const signal of ['SIGTERM', 'SIGKILL']) {
        endGroup(signal);
        for (let i = 0; i < 50 && isRunning(); i += 1) {
          await new Promise((done) => setTimeout(done, 10));
        }
      }
      resolve({ code: code ?? 1, output });
    });
  });
}

/** A reader waits until a server listens; so does a script. `--port 0` is a known port here. */
function afterCommand(command) {
  if (!/\bserve\b[^]*&\s*(#.*)?$/.test(command)) return command;
  const known = command.replace(/(--port[ =])0\b/, `$1${ANY_PORT}`);
  const port = /--port[ =](\d+)/.exec(known)?.[1] ?? PORT;
  return `${known}
for i in $(seq 300); do curl -sf http://127.0.0.1:${port}/healthz >/dev/null && break; sleep 0.2; done`;
}

function isCovered(command) {
  return process.env.CI === 'true' && RUN_BY_CI.includes(command.replace(/\s*#.*$/, ''));
}

function script(text, isLeftOut = () => false) {
  const commands = commandsOf(text).filter((command) => !isLeftOut(command));
  return `set -euo pipefail\n${commands.map(afterCommand).join('\n')}\n`;
}

const failures = [];
function fail(block, message) {
  failures.push(`${block.document}:${block.line}: ${message}`);
  console.log(`  FAILED line ${block.line}: ${message}`);
}

async function runShell(block, folder) {
  const { code, output } = await shell(script(block.text, isCovered), folder);
  if (code !== 0) fail(block, `exit code ${code}\n${output.slice(-4000)}`);
}

/** Separates the outputs of commands: the control character RS, and a number. */
const RECORD = new RegExp(`${String.fromCharCode(0x1e)}\\d+\\n`);

async function runConsole(block, folder) {
  const steps = sessionOf(block.text);
  const text = steps.map(({ command }, i) => `printf '\\036${i}\\n'\n${afterCommand(command)}`);
  const { code, output } = await shell(`set -uo pipefail\n${text.join('\n')}\n`, folder);
  if (code !== 0) fail(block, `exit code ${code}\n${output.slice(-4000)}`);
  const printed = output.split(RECORD).slice(1);
  steps.forEach((step, i) => {
    if (matchesOutput(step.output, printed[i] ?? '')) return;
    fail(block, `$ ${step.command}\nshown:\n${step.output.join('\n')}\nprinted:\n${printed[i]}`);
  });
}

/** Type-checks a TypeScript block as in a user's project, then runs it if it is a program. */
async function runProgram(block, folder) {
  const name = block.file ?? `block-${block.line}.m${block.language}`;
  writeFileSync(join(folder, name), block.text);
  if (block.language === 'ts') {
    const program = ts.createProgram([join(folder, name)], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
    });
    for (const { messageText } of ts.getPreEmitDiagnostics(program)) {
      fail(block, ts.flattenDiagnosticMessageText(messageText, '\n'));
    }
  }
  if (block.file !== null) return;
  const code = `block-${block.line}.mjs`;
  const { outputText } = ts.transpileModule(block.text, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  writeFileSync(join(folder, code), outputText);
  const result = await shell(`node ${code}`, folder);
  if (result.code !== 0) fail(block, `exit code ${result.code}\n${result.output.slice(-4000)}`);
}

function checkData(block, folder) {
  if (block.language === 'yaml') parseYaml(block.text);
  if (block.language === 'json') JSON.parse(block.text);
  if (block.file !== null) writeFileSync(join(folder, block.file), block.text);
}

async function runBlock(block, folder, mode) {
  if (block.untested !== null) return 'not tested';
  if (block.where !== null && block.where !== mode) return `needs a ${block.where}`;
  // The project is installed once, by the README's block.
  if (block.where === 'project') return null;
  switch (block.language) {
    case 'sh':
      await runShell(block, folder);
      return null;
    case 'console':
      await runConsole(block, folder);
      return null;
    case 'ts':
    case 'js':
      await runProgram(block, folder);
      return null;
    case 'yaml':
    case 'json':
      checkData(block, folder);
      return null;
    default:
      return block.language;
  }
}

async function runDocument(document, from, mode) {
  const blocks = blocksOf(document);
  if (blocks.length === 0) return;
  const folder = workFolder(from, document);
  console.log(`${document} (${mode})`);
  for (const block of blocks) {
    const started = performance.now();
    const skipped = await runBlock(block, folder, mode).catch((error) =>
      fail(block, error.message),
    );
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const what = `${block.language}${block.file === null ? '' : ` ${block.file}`}`;
    console.log(`  line ${block.line}: ${what}, ${skipped ?? `${seconds} s`}`);
  }
  if (!options.keep) await rm(folder, REMOVAL);
}

const needsClone = (document) => blocksOf(document).some(({ where }) => where === 'clone');

/** Documents print the default port; another program may not hold it. */
function isPortTaken() {
  return new Promise((resolve) => {
    const socket = connect(PORT, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

try {
  if (await isPortTaken()) throw new Error(`port ${PORT}, which the documents print, is in use`);
  for (const mode of options.mode ?? ['clone', 'package']) {
    const from = mode === 'clone' ? makeClone() : await makeProject();
    const wanted = documents().filter(
      (name) =>
        (options.only?.includes(name) ?? true) &&
        (options.mode !== undefined || mode === 'package' || needsClone(name)),
    );
    for (const document of wanted) await runDocument(document, from, mode);
    await rm(join(base, 'work'), REMOVAL);
  }
} finally {
  if (!options.keep) await rm(base, REMOVAL);
  else console.log(`kept ${base}`);
}
console.log(failures.length === 0 ? 'every block ran' : `${failures.length} failures:`);
for (const failure of failures) console.log(failure);
process.exitCode = failures.length === 0 ? 0 : 1;
