/**
 * Measures the shrinker on failures of long runs: each must shrink to at most 1.5 times the least
 * known within a minute. Prints a row per bug, puts it into the table of
 * reports/prove/long-runs.md, and ends with exit code 1 if one does not.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Failure } from '../../../src/fuzz/fuzz-run.ts';
import { optimizeLate } from '../../../src/platform/late-optimizing.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import { buildWith, type Built } from '../reproductions/prove-bug.ts';
import { RARE_BUGS, type RareBug } from './rare-bugs.ts';

const COMMANDS = 20_000;
/** A failure after fewer commands is no long run. */
const LONG = 12_000;
const MAX_RUNS = 60;
const MAX_SECONDS = 60;
const FOLDER = join(import.meta.dirname, '../../../reports/prove');
const TABLE = join(FOLDER, 'long-runs.md');

interface Row {
  readonly bug: RareBug;
  readonly from: number;
  readonly to: number;
  readonly tests: number;
  readonly seconds: number;
  readonly passed: boolean;
}

/** The first run that fails late. */
function findLate(built: Built, { id, check, profile: name }: RareBug): Failure {
  for (let run = 0; run < MAX_RUNS; run += 1) {
    const profile = built.drawProfile(`${id} ${String(run)}`, { name, commands: COMMANDS });
    const { failure } = built.runFuzz(profile, (config) =>
      built.checkerOf([check], config, { every: 64 }),
    );
    if (failure !== null && failure.commands.length >= LONG) return failure;
  }
  throw new Error(`${id}: no run fails after ${String(LONG)} commands`);
}

async function measure(bug: RareBug): Promise<Row> {
  const built = await buildWith(bug.id, [bug]);
  const failure = findLate(built, bug);
  const started = process.cpuUsage();
  const spent = (): number => {
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1e6;
  };
  const { shrunk } = built.shrinkFailure(failure, {
    keccak,
    origin: [],
    cancelled: () => spent() >= MAX_SECONDS,
  });
  const { from, to, tests } = shrunk;
  return { bug, from, to, tests, seconds: spent(), passed: to <= 1.5 * bug.least };
}

function lineOf({ bug, from, to, tests, seconds }: Row): string {
  const cells = [
    bug.id,
    bug.check,
    from.toLocaleString('en-US'),
    bug.least,
    bug.because,
    to,
    tests,
    seconds.toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Lines of earlier measurements stay. */
function writeTable(rows: readonly Row[]): void {
  const before = existsSync(TABLE) ? readFileSync(TABLE, 'utf8').split('\n') : [];
  const lines = RARE_BUGS.flatMap(({ id }) => {
    const row = rows.find(({ bug }) => bug.id === id);
    const line =
      row === undefined ? before.find((one) => one.startsWith(`| ${id} |`)) : lineOf(row);
    return line === undefined ? [] : [line];
  });
  const text = [
    '# Failures of long runs',
    '',
    'Runs of up to 20,000 commands, shrunk within a minute of processor time',
    '(test/fuzz/long-runs/shrink-long-runs.ts).',
    '',
    '| bug | check | commands | least known | why | shrunk to | executions | s |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ];
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(TABLE, text.join('\n'));
}

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
optimizeLate();
const rows: Row[] = [];
for (const bug of RARE_BUGS.filter(({ id }) => id.includes(values.only))) {
  const row = await measure(bug);
  rows.push(row);
  writeTable(rows);
  const { from, to, tests, seconds, passed } = row;
  console.log(
    `${passed ? 'ok  ' : 'LONG'} ${bug.id}: ${String(from)} -> ${String(to)} commands (least ${String(bug.least)}), ${String(tests)} executions, ${seconds.toFixed(1)} s`,
  );
}
if (rows.length === 0 || rows.some(({ passed }) => !passed)) process.exitCode = 1;
