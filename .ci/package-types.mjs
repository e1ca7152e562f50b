/**
 * Part of `npm run test:package`: packs the package, checks it with publint and
 * `attw --profile esm-only`, installs the tarball in a fresh project, compiles every example of
 * `examples/library` there (strict, `skipLibCheck: false`, NodeNext and bundler, TypeScript 5.9 and
 * 6), and runs them. `--keep` leaves the project in place and prints its path.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const run = promisify(execFile);
const project = mkdtempSync(join(tmpdir(), 'orrery-package-'));
const keep = process.argv.includes('--keep');

const COMPILERS = { typescript5: 'npm:typescript@5.9.3', typescript6: 'npm:typescript@6.0.3' };
/** Packages that the examples use. */
const USED = { '@types/node': '20.19.25', ethers: '6.17.0', 'fast-check': '4.10.2' };
const RESOLUTIONS = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
};

let failures = 0;
async function step(name, work) {
  const started = performance.now();
  let problem;
  try {
    problem = await work();
  } catch (error) {
    problem = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim() || error.message;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${problem ? 'FAILED' : 'ok    '} ${name} (${seconds} s)`);
  if (problem) console.log(problem);
  if (problem) failures += 1;
  return !problem;
}

const npm = (args, cwd) => run('npm', [...args, '--loglevel=error'], { cwd, maxBuffer: 1 << 28 });

async function pack() {
  const { stdout } = await npm(
    ['pack', '--ignore-scripts', '--json', '--pack-destination', project],
    root,
  );
  return join(project, JSON.parse(stdout)[0].filename);
}

async function lintPackage(tarball) {
  const bytes = readFileSync(tarball);
  const { messages, pkg } = await publint({
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
    strict: true,
  });
  return messages.map((message) => formatMessage(message, pkg)).join('\n');
}

async function install(tarball) {
  const manifest = {
    private: true,
    type: 'module',
    dependencies: { orrery: `file:${tarball}` },
    devDependencies: { ...USED, ...COMPILERS },
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest, null, 2));
  await npm(
    ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'],
    project,
  );
  cpSync(join(root, 'examples', 'library'), join(project, 'src'), { recursive: true });
  for (const [name, resolution] of Object.entries(RESOLUTIONS)) {
    const compilerOptions = {
      ...resolution,
      ...{ target: 'es2023', lib: ['es2023'], types: ['node'], strict: true, skipLibCheck: false },
      ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
      ...{ rootDir: 'src', outDir: `out-${name}` },
    };
    const config = { compilerOptions, include: ['src'] };
    writeFileSync(join(project, `tsconfig.${name}.json`), JSON.stringify(config, null, 2));
  }
}

const compile = (compiler, resolution) => {
  const tsc = join(project, 'node_modules', compiler, 'bin', 'tsc');
  return run(process.execPath, [tsc, '-p', `tsconfig.${resolution}.json`], { cwd: project });
};

/** The example of the client runs beside a server of the installed package. */
async function serve() {
  const cli = join(project, 'node_modules', 'orrery', 'dist', 'cli', 'main.js');
  const data = join(project, 'served');
  mkdirSync(data);
  const server = spawn(process.execPath, [cli, 'serve', '--port', '0', '--data-dir', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    server.stdout.on('data', (chunk) => {
      const found = /listens on (\S+)/.exec(String(chunk))?.[1];
      if (found !== undefined) resolve(found);
    });
    server.on('exit', () => reject(new Error('the server ended')));
  });
  return { url, stop: () => server.kill('SIGTERM') };
}

async function runExample(file, env) {
  const { stdout } = await run(process.execPath, [join('out-nodenext', file)], {
    ...{ cwd: project, env: { ...process.env, ...env }, timeout: 120_000 },
  });
  return stdout.trim() === '' ? 'prints nothing' : null;
}

async function main() {
  const tarball = await pack();
  const attw = join(root, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js');
  await step('publint', () => lintPackage(tarball));
  await step('attw --profile esm-only', async () => {
    await run(process.execPath, [attw, tarball, '--profile', 'esm-only', '--no-emoji']);
  });
  if (!(await step('install', () => install(tarball)))) return;
  for (const compiler of Object.keys(COMPILERS)) {
    for (const resolution of Object.keys(RESOLUTIONS)) {
      await step(
        `${compiler} ${resolution}`,
        async () => void (await compile(compiler, resolution)),
      );
    }
  }
  const files = readdirSync(join(project, 'out-nodenext')).filter((file) => file.endsWith('.js'));
  const named = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => (entry === '.' ? 'engine.js' : `${entry.slice(2)}.js`));
  await step('an example for each entry', () =>
    named.filter((file) => !files.includes(file)).join(', '),
  );
  const server = await serve();
  try {
    for (const file of files)
      await step(`run ${file}`, () => runExample(file, { URL: server.url }));
  } finally {
    server.stop();
  }
}

try {
  await main();
} finally {
  if (keep) console.log(project);
  else rmSync(project, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
