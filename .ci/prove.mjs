/**
 * `npm run prove`: the long proofs, step by step: the tests with larger numbers, the mutation
 * score, and two fuzzing campaigns. Each step prints its start and result; reports/prove/last.md
 * has the last result and duration of each step.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'reports', 'prove');
const raw = join(folder, 'vitest.json');
const results = join(folder, 'last.json');

/** Factor on the numbers of runs of `npm test`. */
const TIMES = wholeNumber('ORRERY_PROVE', 20);
/** Duration of the campaigns in seconds: a quarter of it without the oracle, in longer runs. */
const SOAK_SECONDS = wholeNumber('ORRERY_SOAK', 300);
/** Duration of a server under load in seconds. */
const SERVED_SECONDS = wholeNumber('ORRERY_SERVED', 300);

/** Test files of the proofs, with the property that each proves. */
const PROOFS = [
  ['test/property/oracle.test.ts', 'engine and oracle in lockstep over every command'],
  ['test/property/lockstep.test.ts', 'engine and oracle, cut intervals, restored exchanges'],
  ['test/engine/lives.test.ts', 'random runs under stress: invariants, restores, journals'],
  ['test/fuzz/generator.test.ts', 'every invariant after every command of every profile'],
  ['test/fuzz/planted.test.ts', 'planted bugs are found and shrink'],
  [
    'test/fuzz/reproductions.test.ts',
    'reproductions of planted bugs fail with the bug and pass without it',
  ],
  ['test/fuzz/target.test.ts', 'a served exchange beside its twin'],
  ['test/metamorphic/metamorphic.test.ts', 'equivalent command sequences yield equal results'],
  [
    'test/economic/economic.test.ts',
    'no coalition gains at the expense of others; planted defects are found',
  ],
  ['test/faults/journal.test.ts', 'a journal truncated or with a flipped bit at every byte'],
  [
    'test/faults/folder.test.ts',
    'a data folder with truncated, corrupted or missing files, and a disk failure at every operation',
  ],
  ['test/faults/delivery.test.ts', 'duplicate and reordered requests, clock jumps'],
  ['test/replication/schedules.test.ts', 'servers on one journal under seeded faults'],
  ['test/postgres/exchange-pg.test.ts', 'leaders killed, paused and cut off, 30 rounds'],
  ['test/postgres/campaigns-pg.test.ts', 'campaigns under kills, pauses and restarts'],
  ['test/http/durability.test.ts', 'kill -9 under load'],
  ['test/http/hostile.test.ts', 'latency of others under 64 hostile connections of every kind'],
];

/** Proofs about the time of servers, which other tests would take. */
const ALONE = [
  'test/postgres/exchange-pg.test.ts',
  'test/postgres/campaigns-pg.test.ts',
  'test/http/hostile.test.ts',
];

const BEAT_MS = 60_000;

const HELP = `npm run prove -- [--only <steps>]

  --only <steps>  of proofs, schedules, rounds, campaigns, mutants, detect, shrink, exhaust,
                  machine, stryker, soak, fast, served, separated by commas [all]

Environment:
  ORRERY_PROVE    so many times the numbers of npm test [20]
  ORRERY_SOAK     seconds of the fuzzing campaign; a quarter of it again without the oracle [300]
  ORRERY_SERVED   seconds of a server under load with 5,000 sockets [300; a release: 1800]
  ORRERY_SCHEDULE_SECONDS  seconds of the schedules, which go on where they ended [300]
  ORRERY_ROUND_SECONDS  seconds of the rounds, which go on where they ended [300]

Examples:
  npm run prove
  ORRERY_PROVE=2 ORRERY_SOAK=10 npm run prove -- --only proofs,soak`;

const STEPS = {
  proofs: {
    what: `${PROOFS.length} files of proofs, ${TIMES} times the numbers of npm test`,
    run: proofs,
  },
  schedules: {
    what: 'up to 100,000 seeded schedules of servers on one journal, continued at the next call',
    run: () => scored(['--import', 'tsx', 'test/replication/run-schedules.ts']),
  },
  rounds: {
    what: '30 rounds of lost leaders and databases in network namespaces, continued at the next call',
    run: () => scored(['--import', 'tsx', 'test/postgres/rounds/run-rounds.ts']),
  },
  campaigns: {
    what: 'campaigns of every kind on 1, 2 and 8 workers, and under 20 kills and a full disk',
    run: () => scored(['--import', 'tsx', 'test/postgres/campaigns/run-campaigns.ts']),
  },
  mutants: {
    what: 'the mutation score',
    run: () => scored(['--import', 'tsx', 'test/mutants/run.ts']),
  },
  detect: {
    what: 'the share of subtle bugs that a minute of fuzzing finds, and their reproductions',
    run: () => scored(['--import', 'tsx', 'test/fuzz/detection/detect.ts']),
  },
  shrink: {
    what: 'failures of runs of 20,000 commands, each shrunk within a minute',
    run: () => scored(['--import', 'tsx', 'test/fuzz/long-runs/shrink-long-runs.ts']),
  },
  exhaust: {
    what: 'every sequence of three operations in every world, with each mutant',
    run: () => scored(['--import', 'tsx', 'test/mutants/exhaust.ts']),
  },
  machine: {
    what: 'the time machine on a million commands and on 300 MB in Chromium',
    run: () => scored(['--import', 'tsx', 'test/bench/time-machine-page.ts']),
  },
  stryker: {
    what: 'every operator of the arithmetic and of margin rules',
    run: () => scored(['.ci/stryker.mjs']),
  },
  soak: {
    what: `the fuzzer on all cores for ${SOAK_SECONDS} s`,
    run: () => campaign('fuzz.json', SOAK_SECONDS, []),
  },
  fast: {
    what: `the fuzzer without the oracle, in longer runs, for ${Math.ceil(SOAK_SECONDS / 4)} s`,
    run: () => campaign('fuzz-fast.json', Math.ceil(SOAK_SECONDS / 4), ['--no-oracle']),
  },
  served: {
    what: `a server at half of its throughput with 5,000 sockets for ${SERVED_SECONDS} s`,
    run: () =>
      scored(['--import', 'tsx', 'test/soak/served.ts'], {
        env: { ORRERY_SERVED: String(SERVED_SECONDS) },
      }),
  },
};

function wholeNumber(name, usual) {
  const text = process.env[name] ?? String(usual);
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  console.error(`prove: ${name} must be a whole number from 1 to 99999, got ${text}`);
  process.exit(2);
}

function stepsAsked() {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const names = values.only?.split(',') ?? Object.keys(STEPS);
  const unknown = names.find((name) => !Object.hasOwn(STEPS, name));
  if (unknown !== undefined) {
    throw new TypeError(`--only: ${unknown} is not one of ${Object.keys(STEPS).join(', ')}`);
  }
  return names;
}

/** Resolves with the exit code, and the output where `quiet`. */
function node(args, { quiet = false, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', 'inherit'],
    });
    let out = '';
    let lines = 0;
    child.stdout?.on('data', (chunk) => {
      out += String(chunk);
      lines = out.split('\n').length - 1;
    });
    const started = performance.now();
    // A sign of life for steps without output.
    const beat = setInterval(() => {
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      if (quiet) console.log(`  … ${seconds} s${lines === 0 ? '' : `, ${lines} lines`}`);
    }, BEAT_MS);
    child.on('close', (code, signal) => {
      clearInterval(beat);
      resolve({ code: signal === null ? code : 130, out });
    });
  });
}

/** Results of these test files; null if the run ended without a report. */
async function tested(files, more) {
  rmSync(raw, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const options = ['--testTimeout=1800000', '--reporter=default', '--reporter=json', ...more];
  const { code } = await node([vitest, 'run', ...files, ...options, `--outputFile.json=${raw}`], {
    env: { ORRERY_PROVE: String(TIMES) },
  });
  try {
    return { code, results: JSON.parse(readFileSync(raw, 'utf8')).testResults };
  } catch {
    return { code: code || 1, results: null };
  } finally {
    rmSync(raw, { force: true });
  }
}

async function proofs() {
  const names = PROOFS.map(([file]) => file);
  const others = await tested(
    names.filter((file) => !ALONE.includes(file)),
    [],
  );
  const alone = await tested(ALONE, ['--no-file-parallelism']);
  const code = others.code || alone.code;
  if (others.results === null || alone.results === null) {
    return { code, says: 'ended without a report', rows: [] };
  }
  const results = [...others.results, ...alone.results];
  const passed = ({ assertionResults: tests }) => tests.filter((test) => test.status === 'passed');
  const rows = PROOFS.map(([file, what]) => {
    const found = results.find(({ name }) => name.endsWith(file));
    const all = found?.assertionResults.length ?? 0;
    const held = found === undefined ? 0 : passed(found).length;
    const seconds = found === undefined ? 0 : (found.endTime - found.startTime) / 1000;
    return {
      what: `${what} (${file}: ${held} of ${all})`,
      holds: all > 0 && held === all,
      seconds,
    };
  });
  const sum = (of) => results.reduce((total, file) => total + of(file).length, 0);
  const says = `${sum(passed)} of ${sum((file) => file.assertionResults)} hold`;
  return { code: code || (rows.every(({ holds }) => holds) ? 0 : 1), says, rows };
}

/** A step whose last line is its score. */
async function scored(args, options = {}) {
  const { code, out } = await node(args, { quiet: true, ...options });
  const lines = out.trim().split('\n');
  for (const line of lines.filter((text) => /^(SURVIVES|MISSED|UNPROVED)/.test(text)))
    console.log(line);
  return { code, says: lines.at(-1) ?? '', rows: [] };
}

async function campaign(name, seconds, options) {
  const main = join(root, 'dist', 'cli', 'main.js');
  const out = join(folder, 'found', name.replace(/\.json$/, ''));
  const limits = ['--seed', 'prove', '--seconds', String(seconds), '--out', out, '--json'];
  const { code, out: text } = await node([main, 'fuzz', ...limits, ...options], { quiet: true });
  // Paths in the report are relative, so it does not depend on the machine.
  if (text !== '') writeFileSync(join(folder, name), text.replaceAll(`${root}/`, ''));
  if (code === 0) rmSync(out, { recursive: true, force: true });
  try {
    const { runs, commands, commandsPerSecond, failures } = JSON.parse(text);
    const says = `${runs} runs, ${commands} commands at ${commandsPerSecond}/s, ${failures.length} failed`;
    return { code, says, rows: [] };
  } catch {
    return { code: code || 1, says: 'ended without a report', rows: [] };
  }
}

/** Results by step, of the last run of each; empty where none was written yet. */
function resultsBefore() {
  if (!existsSync(results)) return {};
  return JSON.parse(readFileSync(results, 'utf8'));
}

/** The commit that a result is of, with a plus sign where files differ from it. */
function commit() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim();
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!reports');
  return `${git('rev-parse', '--short', 'HEAD') || 'unknown'}${changed ? '+' : ''}`;
}

/** Keeps the result of a step, beside those of steps that were run at another time. */
function keep(name, { code, seconds, says, rows }) {
  const day = new Date().toISOString().slice(0, 10);
  const place = { day, commit: commit(), node: process.versions.node };
  const kept = { ...resultsBefore(), [name]: { ...place, code, seconds, says, rows } };
  const known = Object.keys(STEPS).flatMap((step) => (kept[step] ? [[step, kept[step]]] : []));
  writeFileSync(results, `${JSON.stringify(Object.fromEntries(known), null, 1)}\n`);
  writeFileSync(join(folder, 'last.md'), page(known));
}

function page(known) {
  const row = (holds, what, seconds, when) =>
    `| ${holds ? 'holds' : 'FAILS'} | ${what} | ${seconds.toFixed(0)} | ${when} |`;
  const seconds = known.reduce((sum, [, step]) => sum + step.seconds, 0);
  return [
    '# Last proofs',
    '',
    `\`npm run prove\` writes the last result of each step, with its commit: ${(seconds / 60).toFixed(0)} minutes in all. \`--only\` runs some of them.`,
    '',
    '| | proof | s | when |',
    '| --- | --- | --- | --- |',
    ...known.flatMap(
      ([name, { code, says, seconds: took, rows, day, commit: of, node: version }]) => [
        row(code === 0, `**${name}**: ${says}`, took, `${day}, ${of}, Node ${version}`),
        ...rows.map(({ holds, what, seconds: part }) => row(holds, what, part, '')),
      ],
    ),
    '',
  ].join('\n');
}

async function main() {
  const names = stepsAsked();
  mkdirSync(folder, { recursive: true });
  // The running step also gets the signal and ends by itself.
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (interrupted = true));
  const done = [];
  for (const [i, name] of names.entries()) {
    const { what, run } = STEPS[name];
    console.log(`[${i + 1}/${names.length}] ${name}: ${what}`);
    const started = performance.now();
    const result = await run();
    const seconds = (performance.now() - started) / 1000;
    done.push(result);
    const verdict = result.code === 0 ? 'holds' : `FAILS with exit code ${result.code}`;
    console.log(
      `[${i + 1}/${names.length}] ${name} ${verdict} after ${seconds.toFixed(0)} s: ${result.says}`,
    );
    if (interrupted || result.code === 130) {
      console.error('interrupted');
      process.exitCode = 130;
      return;
    }
    keep(name, { ...result, seconds });
  }
  console.log('written: reports/prove/last.md');
  process.exitCode = done.every(({ code }) => code === 0) ? 0 : 1;
}

try {
  await main();
} catch (error) {
  console.error(`prove: ${error.message}`);
  process.exitCode = 2;
}
