/**
 * `npm run test:package`: packs the build, installs it into an empty project without development
 * dependencies and without scripts, and measures the installation. Then it runs the command, a
 * packaged scenario, a backtest and the server, and imports each entry point of the library.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { namesOfProgram } from './program.mjs';
import { sourceless } from './sourceless.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const MOST_DEPENDENCIES = 24;
const MOST_PACKAGES = 130;
/** On disk, as `du -sm` counts. */
const MOST_MIB = 80;
/** Transitive packages that ask for a newer Node and run on 20 (docs/DEPENDENCIES.md). */
const NEWER_NODE = ['cookie'];
const NPM_FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev'];

const { name, version, exports, dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
const folder = mkdtempSync(join(tmpdir(), 'orrery-package-'));
const inProject = (...parts) => join(folder, ...parts);
const inPackage = (...parts) => inProject('node_modules', name, ...parts);
const failures = [];

function check(what, holds) {
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}`);
  if (!holds) failures.push(what);
}

function npm(...args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')}\n${stdout}${stderr}`);
  return { stdout, stderr };
}

function orrery(...args) {
  const bin = inProject('node_modules', '.bin', name);
  return spawnSync(bin, args, { cwd: folder, encoding: 'utf8', timeout: 120_000 });
}

/** Bytes on disk of a folder, and of the folder's own entries. */
function bytesOf(path) {
  const stat = lstatSync(path);
  const own = stat.blocks * 512;
  if (!stat.isDirectory()) return own;
  return readdirSync(path).reduce((sum, entry) => sum + bytesOf(join(path, entry)), own);
}

function pack() {
  // The output of a script would stand before the JSON.
  spawnSync(process.execPath, [join(ROOT, '.ci', 'prepack.mjs')], { stdio: 'inherit' });
  const args = ['pack', ROOT, '--ignore-scripts', '--json', '--pack-destination', folder];
  const [{ filename, files }] = JSON.parse(npm(...args).stdout);
  const paths = files.map(({ path }) => path);
  const parts = paths.filter((path) => path.startsWith('dist/program/')).length;
  check(`${parts} parts of dist/program, all of this build`, parts === namesOfProgram().size);
  const built = paths.filter((path) => path.startsWith('dist/'));
  const stale = sourceless(built.map((path) => path.slice('dist/'.length)));
  check(`every script of dist has a source ${stale.slice(0, 3).join(' ')}`, stale.length === 0);
  return join(folder, filename);
}

function install(tarball) {
  const { stderr } = npm('install', ...NPM_FLAGS, tarball);
  const asking = [...stderr.matchAll(/package: '(.+)@[^@]+'/g)].map(([, of]) => of);
  const unknown = asking.filter((of) => !NEWER_NODE.includes(of));
  check(`no package but ${NEWER_NODE.join(', ')} asks for another Node`, unknown.length === 0);
  const lock = JSON.parse(readFileSync(inProject('node_modules', '.package-lock.json'), 'utf8'));
  const packages = Object.keys(lock.packages).length;
  const mib = Math.ceil(bytesOf(inProject('node_modules')) / 2 ** 20);
  const direct = Object.keys(dependencies).length;
  check(`${direct} dependencies, at most ${MOST_DEPENDENCIES}`, direct <= MOST_DEPENDENCIES);
  check(`${packages} packages, at most ${MOST_PACKAGES}`, packages <= MOST_PACKAGES);
  check(`${mib} MiB installed, at most ${MOST_MIB}`, mib <= MOST_MIB);
}

function runCommands() {
  check(`orrery --version is ${version}`, orrery('--version').stdout.trim() === version);
  const scenario = orrery('run', inPackage('scenarios', 'isolated-and-funding.yaml'));
  check('orrery run of a packaged scenario', scenario.status === 0);
  const out = inProject('report');
  const strategy = inPackage('examples', 'strategies', 'market-maker.ts');
  const data = inPackage('data', 'btcusdt-20240808');
  const backtest = orrery('backtest', strategy, '--data', data, '--out', out);
  const page = join(out, 'index.html');
  const isWhole = existsSync(page) && readFileSync(page, 'utf8').includes('LightweightCharts');
  check('orrery backtest of a packaged strategy, with its page', backtest.status === 0 && isWhole);
}

async function serve() {
  const bin = inProject('node_modules', '.bin', name);
  const child = spawn(bin, ['serve', '--port', '0', '--sim-token', 'dev'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const url = await new Promise((resolve) => {
    const listen = (chunk) => {
      output += chunk;
      const found = /orrery listens on (http:\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('exit', () => resolve(null));
  });
  const statuses = [];
  for (const path of ['/readyz', '/docs/', '/docs/static/swagger-ui.js', '/openapi.json']) {
    statuses.push(url === null ? 0 : (await fetch(url + path)).status);
  }
  check(
    'orrery serve with its page',
    statuses.every((status) => status === 200),
  );
  child.kill();
}

/** Imports an entry point in a process of its own; answers what it prints when it fails. */
function importError(entry) {
  const script = `await import(${JSON.stringify(entry)})`;
  const args = ['--input-type=module', '--eval', script];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return status === 0 ? null : stderr;
}

function importEntries() {
  const entries = Object.keys(exports)
    .filter((key) => key !== './package.json')
    .map((key) => name + key.slice(1));
  const needsPeer = `${name}/fast-check`;
  for (const entry of entries) {
    const error = importError(entry);
    if (entry !== needsPeer) check(`import '${entry}'`, error === null);
    else check(`import '${entry}' names its peer`, error?.includes("'fast-check'") === true);
  }
  const peers = Object.entries(peerDependencies).map(([peer, range]) => `${peer}@${range}`);
  npm('install', ...NPM_FLAGS, ...peers);
  check(`import '${needsPeer}' with its peer`, importError(needsPeer) === null);
  const strategy = inPackage('examples', 'strategies', 'ema-cross.ts');
  const data = inPackage('data', 'btcusdt-20240808');
  const backtest = orrery('backtest', strategy, '--data', data, '--out', inProject('ema-cross'));
  check('orrery backtest of a strategy with its peer', backtest.status === 0);
}

try {
  writeFileSync(inProject('package.json'), '{ "private": true, "type": "module" }\n');
  install(pack());
  runCommands();
  await serve();
  importEntries();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failures.length > 0) process.exitCode = 1;
