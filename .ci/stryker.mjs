/**
 * `npm run stryker`: Stryker's mutants of the rooms in .ci/stryker-rooms.mjs. Writes the score of
 * each file and the surviving mutants to reports/prove/stryker.md, with the last results of rooms
 * that this call does not run. Exit code 1 below a required score.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ROOMS } from './stryker-rooms.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Required percentage of killed mutants: of all, and of each file. The rest change no result. */
const SCORE_NEEDED = 92;
const FILE_SCORE_NEEDED = 83;
const cache = (room, name) =>
  join(root, 'node_modules', '.cache', 'orrery', `stryker-${room}${name}.json`);
const page = join(root, 'reports', 'prove', 'stryker.md');

const HELP = `npm run stryker -- [--only <rooms>] [--file <text>] [--workers <n>] [--fresh]

  --only <rooms>  ${Object.keys(ROOMS).join(', ')}, separated by commas [all]
  --file <text>   only files whose name contains it; the others keep their last results
  --workers <n>   mutants at the same time [2]
  --fresh         forget what earlier runs found

Examples:
  npm run stryker
  npm run stryker -- --only vault,funding`;

const FOUND = new Set(['Killed', 'Timeout']);
const ALIVE = new Set(['Survived', 'NoCoverage']);

function run(room, { file, workers }) {
  const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [stryker, 'run', '.ci/stryker.config.mjs'], {
      cwd: root,
      env: { ...process.env, ORRERY_ROOM: room, ORRERY_FILE: file, ORRERY_WORKERS: workers },
      stdio: 'inherit',
    });
    // An interrupt of the terminal also reaches Stryker.
    const onInterrupt = () => undefined;
    const onEnd = () => child.kill('SIGTERM');
    process.on('SIGINT', onInterrupt);
    process.on('SIGTERM', onEnd);
    child.on('close', (code, signal) => {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onEnd);
      resolve(signal === null ? code : 130);
    });
  });
}

/** Killed and surviving mutants of each file, without invalid and ignored ones. */
function filesOf(report) {
  return Object.entries(report.files).map(([name, { source, mutants }]) => {
    const lines = source.split('\n');
    const alive = mutants.filter(({ status }) => ALIVE.has(status));
    return {
      name,
      found: mutants.filter(({ status }) => FOUND.has(status)).length,
      alive: alive.map(({ location, mutatorName, replacement, status }) => {
        const { start, end } = location;
        const text = (lines[start.line - 1] ?? '').slice(
          start.column - 1,
          end.line === start.line ? end.column - 1 : undefined,
        );
        const to = (replacement ?? mutatorName).replace(/\s+/g, ' ');
        const note = status === 'NoCoverage' ? ' (not covered by a test)' : '';
        return `${name}:${start.line}: \`${text.trim()}\` → \`${to}\`${note}`;
      }),
    };
  });
}

const scoreOf = (found, alive) => (found + alive === 0 ? 100 : (100 * found) / (found + alive));

function pageOf(files) {
  const found = files.reduce((sum, file) => sum + file.found, 0);
  const alive = files.reduce((sum, file) => sum + file.alive.length, 0);
  const row = (name, found, alive) =>
    `| ${name} | ${found + alive} | ${found} | ${scoreOf(found, alive).toFixed(1)} |`;
  const text = [
    '# Stryker',
    '',
    '`npm run stryker`: every operator, constant and branch of these files changed, one at a time; a test must fail.',
    '',
    '| file | mutants | noticed | % |',
    '| --- | --- | --- | --- |',
    ...files.map(({ name, found, alive }) => row(name, found, alive.length)),
    row('**all**', found, alive),
    '',
    '## Surviving mutants',
    '',
    ...files.flatMap((file) => file.alive.map((line) => `- ${line}`)),
    '',
  ].join('\n');
  return { text, found, alive, score: scoreOf(found, alive) };
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    file: { type: 'string', default: '' },
    workers: { type: 'string', default: '2' },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  console.log(HELP);
} else {
  const files = [];
  let code = 0;
  const chosen = values.only?.split(',') ?? Object.keys(ROOMS);
  const unknown = chosen.filter((room) => ROOMS[room] === undefined);
  if (unknown.length > 0) throw new RangeError(`--only: no room ${unknown.join(', ')}`);
  for (const room of Object.keys(ROOMS)) {
    if (chosen.includes(room)) {
      if (values.fresh) rmSync(cache(room, ''), { force: true });
      code = await run(room, values);
      if (code !== 0) break;
    }
    const report = cache(room, '-report');
    if (existsSync(report)) files.push(...filesOf(JSON.parse(readFileSync(report, 'utf8'))));
  }
  if (code !== 0) {
    process.exitCode = code;
  } else {
    const { text, found, alive, score } = pageOf(files);
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, text);
    console.log('written: reports/prove/stryker.md');
    console.log(`${found} of ${found + alive} mutants killed: ${score.toFixed(1)} %`);
    const weak = files.filter((file) => scoreOf(file.found, file.alive.length) < FILE_SCORE_NEEDED);
    for (const { name } of weak) console.log(`${name}: below ${FILE_SCORE_NEEDED} %`);
    if (score < SCORE_NEEDED || weak.length > 0) process.exitCode = 1;
  }
}
