/**
 * Runs the 100,000 schedules of `npm run prove -- --only schedules`, for ORRERY_SCHEDULE_SECONDS [300]
 * at a time. reports/prove/schedules.json keeps how far it is, and for which code.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSchedule } from './sim-cluster.ts';

const ALL = 100_000;
const seconds = Number(process.env['ORRERY_SCHEDULE_SECONDS'] ?? 300);
const root = fileURLToPath(new URL('../../', import.meta.url));
const path = join(root, 'reports', 'prove', 'schedules.json');

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
while (done < ALL && performance.now() - started < seconds * 1000) {
  const result = await runSchedule(`s${String(done)}`);
  if (result.contradiction !== null) {
    console.log(`CONTRADICTION in schedule s${String(done)}: ${result.contradiction}`);
    process.exit(1);
  }
  done += 1;
  answered += result.answered;
  takeovers += result.takeovers;
}
writeFileSync(path, `${JSON.stringify({ code, done, answered, takeovers }, null, 1)}\n`);
console.log(
  `${String(done)} of ${String(ALL)} schedules hold, ${String(answered)} commands answered, ${String(takeovers)} take-overs`,
);
