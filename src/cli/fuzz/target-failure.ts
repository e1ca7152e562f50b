/**
 * Writes a difference between a host and its twin into a folder: as it was found, and each time
 * that fewer requests show it at a new server.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countText } from '../../base/count-text.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { hostFiles, parseHostProbe } from '../../fuzz/report/host-files.ts';
import type { HostDivergence } from '../../fuzz/twin/divergence.ts';
import { recordOf, repeat } from '../../fuzz/twin/replay.ts';
import { shrinkDivergence } from '../../fuzz/twin/shrink-divergence.ts';
import { JournalReader } from '../../journal/format/frames.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { parseScenario } from '../../scenario/parse.ts';
import { runScenario } from '../../scenario/run-scenario.ts';
import { addressOfName, keccak } from '../../wallet/crypto-ports.ts';
import { InputError, isInterrupted, print, startProgress } from '../cli-support.ts';
import { readInput, readJournal } from '../read-file.ts';
import { hostOf, mustBeNew } from './drive-target.ts';
import { lockFailure } from './lock-campaign.ts';
import { NewServers } from './new-servers.ts';

export interface TargetFailure {
  readonly out: string;
  readonly seed: string;
  readonly simToken: string;
  readonly config: ExchangeConfig;
  readonly markets: readonly MarketSpec[];
  /** Commands of the twin. */
  readonly commands: readonly Command[];
  readonly divergence: HostDivergence;
  /** Shell text of the command of the build under test; null: this one. */
  readonly hostCommand: string | null;
  /** Max seconds of shrinking; 0: not at all. */
  readonly shrinkSeconds: number;
  readonly quiet: boolean;
}

/** Returns the folder's path. Rejects with `FileError` if another command writes to it. */
export async function reportTarget(failure: TargetFailure): Promise<string> {
  const { out, seed, divergence, shrinkSeconds } = failure;
  const name = `${divergence.violation.invariant}-${seed}`;
  const folder = join(out, name.replaceAll(/[^\w.-]+/g, '-'));
  await makeFolder(folder);
  const release = lockFailure(folder);
  try {
    const commands = failure.commands.slice(0, divergence.commands);
    const found = `${countText(commands.length, 'command')}, as they were found.`;
    await write(failure, folder, { commands, divergence, found }, provesFault(failure));
    if (shrinkSeconds > 0) await shrink(failure, folder);
  } finally {
    release();
  }
  return folder;
}

interface Written {
  readonly commands: readonly Command[];
  readonly divergence: HostDivergence;
  /** The result of shrinking so far, as a sentence. */
  readonly found: string;
}

async function write(
  { config, seed }: TargetFailure,
  folder: string,
  { commands, divergence, found: shrunk }: Written,
  proves: (scenario: string) => boolean,
): Promise<void> {
  const files = hostFiles({ config, commands, divergence, seed, shrunk }, keccak, proves);
  if (files[SCENARIO] === undefined) await rm(join(folder, SCENARIO), { force: true });
  for (const [name, content] of Object.entries(files)) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    await writeWholeFile(join(folder, name), bytes);
  }
}

const SCENARIO = 'scenario.yaml';
/** Longer scenarios are written once they are shrunk: their invariants take a while. */
const LONGEST_SCENARIO = 100_000;

/** Whether a scenario is valid and passes in this build. */
export function passesHere(text: string): boolean {
  if (text.length > LONGEST_SCENARIO) return false;
  const parsed = parseScenario(text, 'scenario.yaml', keccak);
  return parsed.ok && runScenario(parsed.scenario, { keccak, addressOf: addressOfName }).passed;
}

/** Whether a scenario passes in this build, and fails in the one under test if that is named. */
function provesFault({ hostCommand }: TargetFailure): (scenario: string) => boolean {
  return (text) => passesHere(text) && (hostCommand === null || failsIn(hostCommand, text));
}

function failsIn(command: string, text: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-scenario-'));
  try {
    writeFileSync(join(folder, SCENARIO), text);
    const line = `exec ${command} run ${SCENARIO}`;
    return spawnSync('/bin/sh', ['-c', line], { cwd: folder, stdio: 'ignore' }).status === 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function shrink(failure: TargetFailure, folder: string): Promise<void> {
  const { config, markets, seed, simToken, commands, divergence, quiet, shrinkSeconds } = failure;
  const servers = new NewServers({
    command: failure.hostCommand,
    configPath: join(folder, 'serve.yaml'),
    simToken,
  });
  const progress = startProgress('shrink', quiet);
  const endsMs = performance.now() + shrinkSeconds * 1000;
  const isOver = (): boolean => isInterrupted() || performance.now() >= endsMs;
  const from = divergence.commands;
  try {
    const before = commands.slice(0, from);
    const shrunk = await shrinkDivergence(recordOf(config, before, divergence), divergence, {
      open: async () => {
        const server = await servers.open();
        const host = hostOf(server.url, simToken, seed);
        const close = async (): Promise<void> => {
          await host.close();
          await server.close();
        };
        return { sides: { host, config, markets, users: host.users, keccak }, close };
      },
      isOver,
      onBest: async (best) => {
        const text = `${countText(from, 'command')} shrank to ${String(best.commands.length)} at ${String(best.tests)} new servers`;
        const { commands: kept, divergence: shown, complete } = best;
        const written = {
          commands: kept,
          divergence: shown,
          found: text + (complete ? '.' : ', so far.'),
        };
        // The last result is tested in the other build, too.
        await write(failure, folder, written, best.isLast ? provesFault(failure) : passesHere);
        const left = `${String(best.commands.length)} of ${countText(from, 'command')}`;
        progress.update(1 - (endsMs - performance.now()) / (shrinkSeconds * 1000), left);
      },
    });
    if (shrunk === null && !quiet && !isOver()) {
      const build = failure.hostCommand ?? 'this build, as --host-command is not given,';
      print(`not shrunk: a new server of ${build} does not show the difference`);
    }
  } catch (error) {
    // The commands are on disk already.
    if (!quiet)
      print(`shrinking stopped: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    progress.stop();
    await servers.close();
  }
}

/** Repeats the requests of such a folder at a new server; null: host and twin reply alike. */
export async function repeatAtTarget(
  url: string,
  simToken: string,
  folder: string,
): Promise<HostDivergence | null> {
  const reader = new JournalReader(await readJournal(join(folder, 'journal.orrery')));
  const commands: Command[] = [];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command') commands.push(frame.command);
  }
  const { config } = reader.header;
  const markets = commands.flatMap((one) => (one.kind === 'listMarket' ? [one.spec] : []));
  const path = join(folder, 'probe.json');
  const found = parsed(path, Buffer.from(await readInput(path)).toString());
  const host = hostOf(url, simToken, found.seed);
  try {
    const { status, body } = await host.call('getTime', {}, null);
    if (status !== 200) throw new InputError(`${url}: GET /time responds with ${String(status)}`);
    if ((body as { time: number }).time * 1000 !== config.genesisTimeUs) {
      throw new InputError(`${url}: not new, or not started with ${join(folder, 'serve.yaml')}`);
    }
    await mustBeNew(host, url, markets.length);
    const sides = { host, config, markets, users: host.users, keccak };
    const { divergence } = await repeat(recordOf(config, commands, found), sides);
    return divergence;
  } finally {
    await host.close();
  }
}

function parsed(path: string, text: string): ReturnType<typeof parseHostProbe> {
  try {
    return parseHostProbe(text);
  } catch (error) {
    throw new InputError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
