/**
 * `npm run prove -- --only rounds`: 30 seeded rounds of a replicated exchange on machines that are
 * network namespaces, for ORRERY_ROUND_SECONDS [300] at a time. reports/prove/rounds.json keeps the
 * results; the next call continues. ORRERY_ROUND_FLAW='lost tail' must fail. Needs root, iproute2 and PostgreSQL.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMachines, removeMachines } from './network.ts';
import { MACHINES, Round, type RoundResult } from './round.ts';

const ROUNDS = 30;
const PREFIX = 'orr';
const WORST_TAKEOVER_MS = 3000;
const WORST_PROMOTION_MS = 10_000;
const seconds = Number(process.env['ORRERY_ROUND_SECONDS'] ?? 300);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const path = join(root, 'reports', 'prove', 'rounds.json');

interface Progress {
  readonly code: string;
  readonly rounds: readonly RoundResult[];
}

/** Hash of what the rounds prove; other changes do not start them again. */
function codeHash(): string {
  const hash = createHash('sha256').update(process.env['ORRERY_ROUND_FLAW'] ?? '');
  for (const folder of ['src/replication', 'src/postgres', 'test/postgres/rounds']) {
    for (const name of readdirSync(join(root, folder)).sort()) {
      if (name.endsWith('.ts')) hash.update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest('hex');
}

const code = codeHash();
const saved = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Progress) : null;
const rounds: RoundResult[] = saved?.code === code ? [...saved.rounds] : [];
const started = performance.now();
let failed: string | null = null;
const machines = createMachines(PREFIX, MACHINES);
try {
  while (rounds.length < ROUNDS && performance.now() - started < seconds * 1000) {
    const round = new Round(rounds.length, machines);
    try {
      const result = await round.run();
      console.log(JSON.stringify(result));
      failed = result.contradiction;
      if (failed === null && !(result.takeoverMs <= WORST_TAKEOVER_MS)) failed = 'slow take-over';
      if (failed === null && !(result.promotionMs <= WORST_PROMOTION_MS)) failed = 'slow promotion';
      if (failed !== null) break;
      rounds.push(result);
      writeFileSync(path, `${JSON.stringify({ code, rounds }, null, 1)}\n`);
    } finally {
      round.end();
    }
  }
} finally {
  removeMachines(PREFIX, MACHINES);
}
if (failed !== null) {
  console.log(`round ${rounds.length} FAILS: ${failed}`);
  process.exit(1);
}
const sum = (of: (round: RoundResult) => number): number =>
  rounds.reduce((total, round) => total + of(round), 0);
const spread = (of: (round: RoundResult) => number): string => {
  const sorted = rounds.map(of).sort((a, b) => a - b);
  const text = (ms: number | undefined): string => `${((ms ?? NaN) / 1000).toFixed(2)} s`;
  return `median ${text(sorted[sorted.length >> 1])}, worst ${text(sorted.at(-1))}`;
};
console.log(
  `${rounds.length} of ${ROUNDS} rounds hold: ${sum((one) => one.answered)} of ` +
    `${sum((one) => one.writes)} writes answered, ${sum((one) => one.reads)} reads, ` +
    `take-over ${spread((one) => one.takeoverMs)}, promotion ${spread((one) => one.promotionMs)}`,
);
process.exit(0);
