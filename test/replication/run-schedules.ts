/**
 * Runs the 100,000 schedules of `npm run prove -- --only schedules` on all cores, for
 * ORRERY_SCHEDULE_SECONDS [300] at a time. reports/prove/schedules.json keeps how far it is, and for
 * which code; an interrupt loses no range that has ended.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Range, RangeResult } from './schedule-worker.ts';

const ALL = 100_000;
const RANGE = 200;
const seconds = Number(process.env['ORRERY_SCHEDULE_SECONDS'] ?? 300);
const root = fileURLToPath(new URL('../../', import.meta.url));
const path = join(root, 'reports', 'prove', 'schedules.json');
const script = join(root, 'dist', '.prove', 'schedule-worker.mjs');

interface Progress {
  readonly code: string;
  readonly done: number;
  readonly answered: number;
  readonly takeovers: number;
}

/** Hash of the sources that a schedule runs; others do not start it again. */
function codeHash(): string {
  const hash = createHash('sha256');
  for (const folder of ['src/replication', 'test/replication']) {
    for (const name of readdirSync(join(root, folder)).sort()) {
      if (name === 'run-schedules.ts' || name.endsWith('.test.ts')) continue;
      hash.update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest('hex');
}

const code = codeHash();
const saved = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Progress) : null;
let { done, answered, takeovers } =
  saved?.code === code ? saved : { done: 0, answered: 0, takeovers: 0 };
const started = performance.now();
let next = done;
const contradictions: string[] = [];

// One file without a loader of TypeScript, which takes half of the time.
await build({
  entryPoints: [fileURLToPath(new URL('./schedule-worker.ts', import.meta.url))],
  ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', outfile: script },
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  },
  logLevel: 'error',
});

const ended = new Map<number, RangeResult & Range>();

/** Saves what has ended without a gap, so that an interrupt loses the running ranges only. */
function keep(range: Range, result: RangeResult): void {
  ended.set(range.from, { ...range, ...result });
  for (let one = ended.get(done); one !== undefined; one = ended.get(done)) {
    ended.delete(done);
    done = one.to;
    answered += one.answered;
    takeovers += one.takeovers;
  }
  writeFileSync(path, `${JSON.stringify({ code, done, answered, takeovers }, null, 1)}\n`);
}

/** Runs ranges until the time is over; all that were begun are finished. */
async function work(): Promise<void> {
  const child = fork(script, { execArgv: ['--stack-trace-limit=0'] });
  while (
    next < ALL &&
    contradictions.length === 0 &&
    performance.now() - started < seconds * 1000
  ) {
    const range = { from: next, to: Math.min(next + RANGE, ALL) };
    next = range.to;
    const result = await resultOf(child, range);
    if (result.contradiction !== null) contradictions.push(result.contradiction);
    else keep(range, result);
  }
  child.kill();
}

function resultOf(child: ChildProcess, range: Range): Promise<RangeResult> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => {
      reject(new Error(`schedules ${range.from} to ${range.to}: the process ended`));
    };
    child.once('exit', onExit);
    child.once('message', (result: RangeResult) => {
      child.off('exit', onExit);
      resolve(result);
    });
    child.send(range);
  });
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
if (contradictions.length > 0) {
  console.log(`CONTRADICTION in ${contradictions.join('; ')}`);
  process.exit(1);
}
console.log(
  `${done} of ${ALL} schedules hold, ${answered} commands answered, ${takeovers} take-overs`,
);
