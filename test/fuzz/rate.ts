/**
 * Measures rates by processor time: commands a second of runs beside the oracle, or with
 * `--exhaust` edges a second of each world without it, after a third of the time as warm-up. As the
 * workers of a campaign run, from compiled files and with their nursery:
 *
 *     npx esbuild test/fuzz/rate.ts --bundle --platform=node --format=esm --packages=external \
 *       --outfile=node_modules/.cache/rate.mjs && \
 *       node --max-semi-space-size=42 node_modules/.cache/rate.mjs
 */
import { parseArgs } from 'node:util';
import { checksOfRun, runBatch, type CampaignPlan } from '../../src/fuzz/campaign.ts';
import { Expander } from '../../src/fuzz/exhaust/expand.ts';
import { Search } from '../../src/fuzz/exhaust/search.ts';
import { WORLD_NAMES, type WorldName } from '../../src/fuzz/exhaust/worlds.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { optimizeLate } from '../../src/platform/late-optimizing.ts';

const PLAN: CampaignPlan = {
  seed: 'rate',
  profile: 'all',
  commands: null,
  oracle: true,
  every: 64,
};

function clock(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  };
}

const rounded = (rate: number): string => Math.round(rate).toLocaleString('en-US');

function measureRuns(seconds: number): void {
  optimizeLate();
  const spent = clock();
  let runs = 0;
  let commands = 0;
  for (let run = 0; spent() < seconds; run += 1) {
    if (!checksOfRun(PLAN, run).includes('oracle')) continue;
    const result = runBatch(PLAN, run, run + 1);
    if (result.failed !== null) throw new Error(`run ${String(run)} fails`);
    runs += 1;
    commands += result.commands;
  }
  console.log(`${String(runs)} runs beside the oracle: ${rounded(commands / spent())} commands/s`);
}

function measureWorld(world: WorldName, seconds: number): void {
  const plan = { world, depth: 6, oracleDepth: 0, samplePpm: 0, digest: false };
  const expander = new Expander(plan, (a, b) => Buffer.compare(a, b) === 0);
  const search = new Search(plan, expander.rootKey());
  const spent = clock();
  let warm: { readonly edges: number; readonly at: number } | null = null;
  for (let batch = search.take(); batch !== null && spent() < seconds; batch = search.take()) {
    search.add(batch.from, expander.expand(batch));
    if (warm === null && spent() > seconds / 3) warm = { edges: search.edges, at: spent() };
  }
  const { edges, at } = warm ?? { edges: 0, at: 0 };
  const rate = rounded((search.edges - edges) / (spent() - at));
  console.log(`${world.padEnd(7)} depth ${String(search.depth)}: ${rate} edges/s`);
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    exhaust: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new RangeError('--seconds must be above 0');
if (values.exhaust) {
  raiseInliningLimits();
  for (const world of WORLD_NAMES) measureWorld(world, seconds / WORLD_NAMES.length);
} else measureRuns(seconds);
