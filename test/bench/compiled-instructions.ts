/**
 * Instructions of V8's compiled code for each order of `limits.ts`, by function: callgrind (package
 * `valgrind`) counts them by address, and V8 names the addresses. The load of the machine does not
 * change them, and lost optimisations are seen, which the interpreter of `instructions.ts` hides.
 * The engine is that of the build.
 *
 *     npm run bench:one -- test/bench/compiled-instructions.ts
 *
 * The process starts itself under valgrind. The compiler has one thread, and counting begins after
 * `WARM` orders. Takes two minutes.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { raiseLongRunLimits } from './long-run-limits.ts';
import { limitsFrom, openLimits } from './limits.ts';

const WARM = 280_000;
const COUNTED = 20_000;
const BLOCK = 1000;
const SHOWN = 40;
const CHILD = 'ORRERY_COUNTED';

interface Code {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  /** The place in the map: code that was made later replaces earlier code. */
  readonly place: number;
}

if (process.env[CHILD] !== undefined) applyOrders();
else if (spawnSync('valgrind', ['--version']).status !== 0) {
  console.error('compiled-instructions needs callgrind: install the package valgrind');
  process.exitCode = 2;
} else report();

/** Runs under valgrind. */
function applyOrders(): void {
  raiseLongRunLimits();
  const { exchange, firstUser } = openLimits();
  const count = (on: 'on' | 'off'): void => {
    const { status } = spawnSync('callgrind_control', [`--instr=${on}`, String(process.pid)]);
    if (status !== 0) throw new Error('callgrind_control does not reach this process');
  };
  for (let from = 0; from < WARM + COUNTED; from += BLOCK) {
    const commands = limitsFrom(from, firstUser, BLOCK);
    if (from >= WARM) count('on');
    for (const command of commands) exchange.apply(command);
    if (from >= WARM) count('off');
  }
}

function report(): void {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
  try {
    const out = join(folder, 'callgrind');
    const { status, stderr, pid } = spawnSync(
      'valgrind',
      [
        ...['--tool=callgrind', '--instr-atstart=no', '--dump-instr=yes'],
        ...['--smc-check=all-non-file', `--callgrind-out-file=${out}`],
        ...[process.execPath, '--single-threaded', '--perf-basic-prof', ...process.execArgv],
        ...['--no-logfile-per-isolate', `--logfile=${join(folder, 'v8.log')}`],
        fileURLToPath(import.meta.url),
      ],
      { env: { ...process.env, [CHILD]: '1' }, encoding: 'utf8' },
    );
    const map = join('/tmp', `perf-${String(pid)}.map`);
    if (status !== 0) throw new Error(stderr.slice(-1000));
    const codes = readCodes(readFileSync(map, 'utf8'));
    rmSync(map);
    print(readCounts(readFileSync(out, 'utf8')), codes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lines of V8's map: address, length, and a name such as `JS:*place file:///…/linked.js:12:3`. */
function readCodes(text: string): Code[] {
  const codes: Code[] = [];
  for (const [place, line] of text.split('\n').entries()) {
    const found = /^([0-9a-f]+) ([0-9a-f]+) JS:\*(\S*) \S*\/(?:dist|src|test)\//.exec(line);
    if (found === null) continue;
    const from = Number.parseInt(found[1] ?? '', 16);
    codes.push({
      from,
      to: from + Number.parseInt(found[2] ?? '', 16),
      name: found[3] ?? '',
      place,
    });
  }
  return codes.sort((a, b) => a.from - b.from || a.place - b.place);
}

/** Instructions executed at each address, without those of callees. */
function readCounts(text: string): Map<number, number> {
  const counts = new Map<number, number>();
  let address = 0;
  let ofCallee = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('calls=')) {
      ofCallee = true;
      continue;
    }
    const found = /^(?:0x([0-9a-f]+)|([+-]\d+)|\*) \S+ (\d+)$/.exec(line);
    if (found === null) continue;
    const [, whole, step, count] = found;
    address = whole === undefined ? address + Number(step ?? 0) : Number.parseInt(whole, 16);
    if (!ofCallee) counts.set(address, (counts.get(address) ?? 0) + Number(count));
    ofCallee = false;
  }
  return counts;
}

function codeAt(codes: readonly Code[], address: number): Code | null {
  let low = 0;
  let high = codes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((codes[middle]?.from ?? 0) <= address) low = middle + 1;
    else high = middle;
  }
  let newest: Code | null = null;
  for (let i = low - 1; i >= Math.max(0, low - 32); i--) {
    const code = codes[i];
    if (code === undefined || address >= code.to) continue;
    if (newest === null || code.place > newest.place) newest = code;
  }
  return newest;
}

function print(counts: ReadonlyMap<number, number>, codes: readonly Code[]): void {
  const functions = new Map<string, { instructions: number; calls: number }>();
  let total = 0;
  for (const [address, count] of counts) {
    const code = codeAt(codes, address);
    if (code === null) continue;
    const row = functions.get(code.name) ?? { instructions: 0, calls: 0 };
    row.instructions += count;
    // The first instruction of a function is executed once a call.
    if (address === code.from) row.calls += count;
    functions.set(code.name, row);
    total += count;
  }
  if (total === 0) throw new Error('no counted instruction is in compiled code');
  const rows = [...functions].sort((a, b) => b[1].instructions - a[1].instructions);
  console.log(`${(total / COUNTED).toFixed(0)} instructions of compiled code an order`);
  console.log('  each  calls  a call  function');
  for (const [name, { instructions, calls }] of rows.slice(0, SHOWN)) {
    const each = (instructions / COUNTED).toFixed(0).padStart(6);
    const perOrder = (calls / COUNTED).toFixed(2).padStart(6);
    const perCall = (instructions / Math.max(1, calls)).toFixed(0).padStart(7);
    console.log(`${each} ${perOrder} ${perCall}  ${name}`);
  }
}
