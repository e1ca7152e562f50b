/**
 * Measures which of the bugs that `orrery fuzz` missed in the last table are found by `orrery
 * exhaust`, in all worlds, and by `orrery fuzz --target` against a server that has the bug. Prints a
 * line per bug and keeps the table in reports/prove/detection-rest.md.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Violation } from '../../../src/fuzz/checker.ts';
import { WORLD_NAMES, type WorldName } from '../../../src/fuzz/exhaust/worlds.ts';
import type { FailureFiles } from '../../../src/fuzz/report/failure-files.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import { bundleWith } from '../../mutants/build.ts';
import { buildWith, judge } from '../reproductions/prove-bug.ts';
import { commandOf, runScript } from '../reproductions/run-script.ts';
import { loadRest, saveRest } from './rest-results.ts';
import { loadResults } from './results.ts';
import type { SubtleBug } from './subtle-bug.ts';
import { SUBTLE_BUGS } from './subtle-bugs.ts';

const ENTRY = join(import.meta.dirname, '../exhaust/entry.ts');
const FOLDER = join(import.meta.dirname, '../../../node_modules/.cache/orrery/rest');
const SEEDS = ['a', 'b', 'c'];

const HELP = `node --import tsx test/fuzz/detection/rest.ts [options]

  --only <texts>   bugs whose id contains one of these, separated by commas
  --by <texts>     exhaust, target, or both [exhaust,target]
  --depth <n>      depth of the exploration, all of it beside the oracle [3]
  --worlds <texts> worlds of the exploration, separated by commas [all]
  --seconds <n>    seconds of each of ${String(SEEDS.length)} campaigns against a server [20]
  --for <n>        seconds after which this call starts no further bug [unlimited]`;

/**
 * The rule by which the exploration of a world fails, its path, and what its artefacts do not show;
 * null if no world fails.
 */
async function byExhaust(
  bug: SubtleBug,
  depth: number,
  worlds: readonly WorldName[],
): Promise<string | null> {
  const file = join(FOLDER, `${bug.id}.mjs`);
  await bundleWith(ENTRY, file, bug.id, [bug]);
  const built = (await import(pathToFileURL(file).href)) as typeof import('../exhaust/entry.ts');
  for (const world of worlds) {
    const { failure } = built.explore({ worlds: [world], depth, checkedDepth: depth });
    if (failure === null) continue;
    const { invariant, rule } = failure.violation;
    const path = built.namesOf(world, failure.path).join(', ');
    const { files } = built.exhaustReport(world, failure, { keccak, origin: [] });
    const faults = await faultsOf(bug, files);
    return [`${invariant} ${rule}, ${world}: ${path || 'its opening'}`, ...faults].join('; ');
  }
  return null;
}

/** The artefacts that do not fail with the bug, or do not pass without it. */
async function faultsOf(bug: SubtleBug, files: FailureFiles): Promise<string[]> {
  const broken = judge(await buildWith(`rest-${bug.id}`, [bug]), { files });
  const whole = judge(await buildWith('sound', []), { files });
  return [
    ...(broken.journal === null ? ['the journal passes with the bug'] : []),
    ...(broken.scenario === null ? ['the scenario passes with the bug'] : []),
    ...(whole.journal === null ? [] : ['the journal fails without it']),
    ...(whole.scenario === null ? [] : ['the scenario fails without it']),
    ...((await runScript(`rest-${bug.id}`, [bug], { files })) === 1
      ? []
      : ['the script passes with the bug']),
    ...((await runScript('sound', [], { files })) === 0 ? [] : ['the script fails without it']),
  ];
}

/** The check by which a campaign against a server fails; null if none does. */
async function byTarget(bug: SubtleBug, seconds: number): Promise<string | null> {
  const broken = await commandOf(`rest-${bug.id}`, [bug]);
  const sound = await commandOf('sound', []);
  for (const seed of SEEDS) {
    const found = await campaign(broken, sound, seed, seconds);
    if (found !== null) return found;
  }
  return null;
}

async function campaign(
  broken: string,
  sound: string,
  seed: string,
  seconds: number,
): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-rest-'));
  const served = ['serve', '--clock', 'virtual', '--trust-signatures', '--sim-token', 'dev'];
  const server = start(broken, [...served, '--port', '0', '--data-dir', join(folder, 'data')]);
  try {
    const url = await urlOf(server);
    const out = join(folder, 'out');
    const aimed = ['fuzz', '--target', url, '--sim-token', 'dev', '--seed', seed, '--out', out];
    const client = start(sound, [...aimed, '--seconds', String(seconds), '--json']);
    const text: string[] = [];
    client.stdout?.on('data', (chunk: Buffer) => text.push(chunk.toString()));
    const [code] = (await once(client, 'close')) as [number | null];
    if (code === 0) return null;
    if (code !== 1) throw new Error(`orrery fuzz --target ends with ${String(code)}`);
    const { divergence } = JSON.parse(text.join('')) as DrivenTarget;
    return `${divergence.invariant} ${divergence.rule}, seed ${seed}, ${divergence.detail}`;
  } finally {
    server.kill('SIGKILL');
    await once(server, 'close').catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface DrivenTarget {
  readonly divergence: Violation;
}

const start = (main: string, args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('a server prints its address');
  for await (const line of createInterface({ input: stdout })) {
    const url = /http:\/\/[\w.:]+/.exec(line)?.[0];
    if (url !== undefined) {
      stdout.resume();
      return url;
    }
  }
  throw new Error('the server has ended');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      by: { type: 'string', default: 'exhaust,target' },
      depth: { type: 'string', default: '3' },
      worlds: { type: 'string', default: WORLD_NAMES.join() },
      seconds: { type: 'string', default: '20' },
      for: { type: 'string', default: 'Infinity' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const missed = loadResults();
  const texts = values.only.split(',');
  const chosen = SUBTLE_BUGS.filter(
    ({ id }) => missed.get(id)?.by === null && texts.some((text) => id.includes(text)),
  );
  if (chosen.length === 0) throw new RangeError('--only matches no bug that is missed');
  const worlds = values.worlds.split(',') as WorldName[];
  const unknown = worlds.find((world) => !WORLD_NAMES.includes(world));
  if (unknown !== undefined) throw new RangeError(`--worlds has no ${unknown}`);
  const started = performance.now();
  for (const bug of chosen) {
    if (performance.now() - started >= Number(values.for) * 1000) break;
    const { id, area } = bug;
    const depth = Number(values.depth);
    const found = {
      ...(values.by.includes('exhaust') ? { exhaust: await byExhaust(bug, depth, worlds) } : {}),
      ...(values.by.includes('target')
        ? { target: await byTarget(bug, Number(values.seconds)) }
        : {}),
    };
    // Another process may measure other bugs at the same time.
    const all = loadRest();
    saveRest(all.set(id, { id, area, ...all.get(id), ...found }));
    console.log(`${area.padEnd(11)} ${id}: ${JSON.stringify(found)}`);
  }
}

await main();
