/**
 * `npm run stryker`: Stryker's mutants of the rooms in .ci/stryker-rooms.mjs. Writes the score of
 * each file and the surviving mutants to reports/prove/stryker.md, with the last results of files
 * that this call does not run. Exit code 1 below a required score.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withoutEquivalents } from './stryker-equivalents.mjs';
import { filesOf, ROOMS } from './stryker-rooms.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Required percentage of killed mutants that are not equivalent: of a room, and of each file. */
const SCORE_NEEDED = 92;
const FILE_SCORE_NEEDED = 84;
/** Source of one run of Stryker, about 800 mutants. */
const SLICE_BYTES = 32_000;
const cache = (room, name) =>
  join(root, 'node_modules', '.cache', 'orrery', `stryker-${room}${name}.json`);
const page = join(root, 'reports', 'prove', 'stryker.md');

const HELP = `npm run stryker -- [--only <rooms>] [--file <text>] [--workers <n>] [--fresh]

  --only <rooms>  ${Object.keys(ROOMS).join(', ')}, separated by commas [all]
  --file <texts>  only files whose path contains one of these, separated by commas; the others
                  keep their last results
  --workers <n>   mutants at the same time [2]
  --fresh         forget what earlier runs found

Examples:
  npm run stryker
  npm run stryker -- --only vault,funding`;

const FOUND = new Set(['Killed', 'Timeout']);
const ALIVE = new Set(['Survived', 'NoCoverage']);
const NOT_COVERED = 'not covered by a test';

/** Files of a room in slices of some minutes; an interrupt loses the slice that runs. */
function slicesOf(room, text) {
  const slices = [];
  let size = Infinity;
  const texts = text.split(',');
  const chosen = (path) => texts.some((part) => path.includes(part));
  for (const name of ROOMS[room].files.flatMap(filesOf).filter(chosen)) {
    const bytes = statSync(name).size;
    if (size + bytes > SLICE_BYTES) {
      slices.push([]);
      size = 0;
    }
    slices.at(-1).push(name);
    size += bytes;
  }
  return slices;
}

function run(room, files, { workers }) {
  const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [stryker, 'run', '.ci/stryker.config.mjs'], {
      cwd: root,
      env: {
        ...process.env,
        ORRERY_ROOM: room,
        ORRERY_FILES: files.join(),
        ORRERY_WORKERS: workers,
      },
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
function resultsOf(report) {
  return Object.entries(report.files).map(([name, { source, mutants }]) => ({
    name,
    found: mutants.filter(({ status }) => FOUND.has(status)).length,
    survivors: mutants
      .filter(({ status }) => ALIVE.has(status))
      .map((mutant) => ({
        line: mutant.location.start.line,
        from: oneLine(textAt(source, mutant.location)),
        to: oneLine(mutant.replacement ?? mutant.mutatorName),
        covered: mutant.status !== 'NoCoverage',
      })),
  }));
}

/** Source text of a mutant. */
function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  return lines.join(' ');
}

const oneLine = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 200).trim();

/** The results on the page, for files that were measured elsewhere. */
function resultsOnPage(text) {
  return [...text.matchAll(/^\| (\S+\.ts) \| \d+ \| (\d+) \|/gm)].map(([, name, found]) => ({
    name,
    found: Number(found),
    survivors: [...text.matchAll(/^- (\S+?):(\d+): `(.*)` → `(.*)`(.*)$/gm)]
      .filter(([, file]) => file === name)
      .map(([, , line, from, to, note]) => ({
        line: Number(line),
        from,
        to,
        covered: !note.includes(NOT_COVERED),
      })),
  }));
}

const scoreOf = (found, alive) => (found + alive === 0 ? 100 : (100 * found) / (found + alive));

/** Killed, equivalent and surviving mutants of files. */
function totalOf(files) {
  const sum = (count) => files.reduce((total, file) => total + count(file), 0);
  return {
    found: sum((file) => file.found),
    equivalent: sum((file) => file.equivalent.length),
    alive: sum((file) => file.alive.length),
  };
}

/** The files of a room among `files`. */
function ofRoom(room, files) {
  const names = new Set(ROOMS[room].files.flatMap(filesOf));
  return files.filter(({ name }) => names.has(name));
}

function pageOf(files) {
  const { found, equivalent, alive } = totalOf(files);
  const row = (name, found, equivalent, alive) => {
    const all = found + equivalent + alive;
    const scores = [scoreOf(found, equivalent + alive), scoreOf(found, alive)];
    const cells = [name, all, found, equivalent, ...scores.map((score) => score.toFixed(1))];
    return `| ${cells.join(' | ')} |`;
  };
  const listed = (mutants) =>
    files.flatMap(({ name, ...file }) =>
      file[mutants].map(
        ({ line, from, to, covered }) =>
          `- ${name}:${line}: \`${from}\` → \`${to}\`${covered ? '' : ` (${NOT_COVERED})`}`,
      ),
    );
  const left = Object.values(ROOMS)
    .flatMap((room) => room.files.flatMap(filesOf))
    .filter((name) => !files.some((file) => file.name === name));
  const text = [
    '# Stryker',
    '',
    '`npm run stryker`: every operator, constant and branch of these files changed, one at a time; a test must fail.',
    'Equivalent mutants change no result. `.ci/stryker-equivalents.mjs` gives the reason of each; the last column leaves them out.',
    '',
    '| file | mutants | noticed | equivalent | % | % of the others |',
    '| --- | --- | --- | --- | --- | --- |',
    ...files.map((file) => row(file.name, file.found, file.equivalent.length, file.alive.length)),
    row('**all**', found, equivalent, alive),
    '',
    '## By room',
    '',
    '| room | mutants | noticed | equivalent | % | % of the others |',
    '| --- | --- | --- | --- | --- | --- |',
    ...Object.keys(ROOMS).map((room) => {
      const total = totalOf(ofRoom(room, files));
      if (total.found + total.alive + total.equivalent === 0)
        return `| ${room} | not measured | | | | |`;
      return row(room, total.found, total.equivalent, total.alive);
    }),
    '',
    '## Not measured',
    '',
    ...(left.length === 0 ? ['Every file is measured.'] : left.map((name) => `- ${name}`)),
    '',
    '## Surviving mutants',
    '',
    ...listed('alive'),
    '',
    '## Equivalent mutants',
    '',
    ...listed('equivalent'),
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
/**
 * Writes the page with all last results; what is below a required score, as text. `ran`: files of
 * the run before; one without mutants is in no report.
 */
function writePage(ran = []) {
  const rooms = Object.keys(ROOMS);
  const measured = rooms
    .map((room) => cache(room, '-report'))
    .filter((report) => existsSync(report))
    .flatMap((report) => resultsOf(JSON.parse(readFileSync(report, 'utf8'))));
  const empty = ran
    .filter((name) => !measured.some((file) => file.name === name))
    .map((name) => ({ name, found: 0, survivors: [] }));
  const earlier = existsSync(page) ? resultsOnPage(readFileSync(page, 'utf8')) : [];
  const files = rooms
    .flatMap((room) => ROOMS[room].files.flatMap(filesOf))
    .flatMap((name) =>
      [measured, empty, earlier].flatMap((from) => from.filter((f) => f.name === name)).slice(0, 1),
    )
    .map((file) => ({ ...file, ...withoutEquivalents(file.name, file.survivors) }));
  const { text, found, alive, score } = pageOf(files);
  mkdirSync(dirname(page), { recursive: true });
  writeFileSync(page, text);
  console.log('written: reports/prove/stryker.md');
  console.log(`${found} of ${found + alive} mutants killed: ${score.toFixed(1)} %`);
  const judged = rooms.filter((room) => ROOMS[room].measuredOnly !== true);
  const isWeak = (file) => scoreOf(file.found, file.alive.length) < FILE_SCORE_NEEDED;
  const weak = judged.flatMap((room) => ofRoom(room, files).filter(isWeak));
  const missing = judged.flatMap((room) =>
    ROOMS[room].files.flatMap(filesOf).filter((name) => !files.some((file) => file.name === name)),
  );
  return [
    ...files.flatMap(({ name, stale }) =>
      stale.map(({ from, to }) => `${name}: no survivor any more: ${from} → ${to}`),
    ),
    ...weak.map(({ name }) => `${name}: below ${FILE_SCORE_NEEDED} %`),
    ...missing.map((name) => `${name}: not measured`),
    ...judged.flatMap((room) => {
      const { found, alive } = totalOf(ofRoom(room, files));
      return scoreOf(found, alive) < SCORE_NEEDED ? [`${room}: below ${SCORE_NEEDED} %`] : [];
    }),
  ];
}

async function main() {
  const chosen = values.only?.split(',') ?? Object.keys(ROOMS);
  const unknown = chosen.filter((room) => ROOMS[room] === undefined);
  if (unknown.length > 0) throw new RangeError(`--only: no room ${unknown.join(', ')}`);
  process.chdir(root);
  for (const room of chosen) {
    if (values.fresh) rmSync(cache(room, ''), { force: true });
    for (const slice of slicesOf(room, values.file)) {
      const code = await run(room, slice, values);
      if (code !== 0) return code;
      writePage(slice);
    }
  }
  const weak = writePage();
  for (const line of weak) console.log(line);
  return weak.length > 0 ? 1 : 0;
}

if (values.help) console.log(HELP);
else process.exitCode = await main();
