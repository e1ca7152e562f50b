/** `orrery serve --replay`: a recording played into the served exchange. */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from '../engine/commands.ts';
import type { Host } from '../http/exchange-host.ts';
import { MAX_SPEED, Replay } from '../http/replay.ts';
import { openJournal } from '../journal-files/folder-journal.ts';
import { listSegments } from '../journal-files/segments.ts';
import { FileError } from '../platform/file-error.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { openMarkets, type RunMarkets } from '../run-plan/plan.ts';
import type { RunPlan } from '../run-plan/run-plan.ts';
import { exchangeTerms } from '../run-plan/run-terms.ts';
import type { OperatorLog } from '../http/operator-log.ts';
import { InputError } from './cli-support.ts';
import { marketPlanOf, RUN_OPTIONS, type MarketArguments } from './run-options.ts';

export interface ReplayArguments extends MarketArguments {
  readonly replay: string | undefined;
  readonly speed: number | undefined;
  /** A strategy that trades on it. */
  readonly strategy: string | undefined;
}

const MARKET_OPTIONS = {
  from: { type: 'string', describe: 'start of the replay; default: that of the recording' },
  to: { type: 'string', describe: 'end of the replay (exclusive)' },
  markets: RUN_OPTIONS.markets,
  fidelity: RUN_OPTIONS.fidelity,
  queue: { ...RUN_OPTIONS.queue, default: undefined },
  impact: { ...RUN_OPTIONS.impact, default: undefined },
  bars: RUN_OPTIONS.bars,
  fees: { ...RUN_OPTIONS.fees, default: undefined },
  margin: { ...RUN_OPTIONS.margin, default: undefined },
} as const;

export const REPLAY_OPTIONS = {
  replay: { type: 'string', describe: 'dataset to play into the exchange' },
  speed: {
    type: 'number',
    describe: 'speed of the replay under --clock wall or with --strategy; default 1, real time',
  },
  ...MARKET_OPTIONS,
} as const;

/** A replay before its exchange is opened. */
export interface PlannedReplay {
  readonly markets: RunMarkets;
  readonly dataset: string;
  readonly speed: number | null;
  /** Speed at which a strategy beside people moves a virtual clock. */
  readonly pace: number | null;
  /** Identifies recording and market options; equal after a restart. */
  readonly identity: string;
}

const FILE = 'replay.json';

/** Null without `--replay`. Throws `InputError`, and errors of the dataset. */
export async function planReplay(
  options: ReplayArguments,
  clock: 'wall' | 'virtual',
): Promise<PlannedReplay | null> {
  const { replay: data, speed } = options;
  if (data === undefined) {
    for (const name of ['speed', ...(Object.keys(MARKET_OPTIONS) as (keyof ReplayArguments)[])]) {
      if (options[name as keyof ReplayArguments] === undefined) continue;
      throw new InputError(`--${name} applies to a replay: give --replay <dataset>`);
    }
    return null;
  }
  const isBeside = options.strategy !== undefined;
  if (speed !== undefined && clock === 'virtual' && !isBeside) {
    throw new InputError(
      '--speed needs --clock wall or --strategy; a virtual clock is moved by its client',
    );
  }
  if (speed !== undefined && !(speed > 0 && speed <= MAX_SPEED)) {
    throw new InputError(`--speed must be above 0 and at most ${String(MAX_SPEED)}`);
  }
  const terms = { ...marketPlanOf(options), strategies: [], balance: '0', seed: '1' };
  const plan: RunPlan = { ...terms, data };
  const markets = await openMarkets(plan, plan.fromUs ?? null);
  const manifest = await readFile(join(data, 'manifest.json'));
  const sha256 = createHash('sha256').update(manifest).digest('hex');
  return {
    markets,
    dataset: basename(data),
    speed: clock === 'virtual' ? null : (speed ?? 1),
    pace: isBeside ? (speed ?? 1) : null,
    identity: `${JSON.stringify({ orrery: 'replay', version: 1, manifest: sha256, ...terms })}\n`,
  };
}

/** Commands that list the markets of a new exchange. */
export function openingOf({ markets: { specs, genesisUs } }: PlannedReplay): Command[] {
  return specs.map((spec) => ({ kind: 'listMarket', timeUs: genesisUs, spec }));
}

/** A folder belongs to one replay, so that a restart continues it. Throws `FileError`. */
export async function mustBeSameReplay(
  folder: string,
  planned: PlannedReplay | null,
): Promise<void> {
  const path = join(folder, FILE);
  const isNew = listSegments(folder).length === 0;
  const found = await readFile(path, 'utf8').catch(() => null);
  if (planned === null) {
    if (isNew) await rm(path, { force: true });
    if (found === null || isNew) return;
    throw new FileError(
      `${folder}: holds a replay; start it with its --replay, or use another folder`,
    );
  }
  if (isNew) await writeWholeFile(path, Buffer.from(planned.identity));
  else if (found !== planned.identity) {
    throw new FileError(
      `${folder}: ${found === null ? 'holds no replay' : 'holds a replay of another recording, or with other options'}; use another folder`,
    );
  }
}

/** Continues the replay behind the journal's history, and connects it to the exchange. */
export async function startReplay(
  host: Host,
  planned: PlannedReplay,
  log: OperatorLog,
): Promise<void> {
  const { markets, dataset, speed, pace } = planned;
  const { tape, beginUs, endUs, sampleUs, barsEmitted } = markets;
  host.replay = await Replay.open({
    host,
    facts: {
      dataset,
      firstUs: beginUs,
      lastUs: endUs,
      sampleUs,
      minRecordedUs: tape.minRecordedUs,
      barsEmitted,
      terms: exchangeTerms(markets),
    },
    batches: tape.batches,
    played: commandsNow(host),
    speed,
    onEnd: () => {
      log(
        'replay_ended',
        `the replay of ${dataset} has ended; the exchange stays at its last time`,
      );
    },
    onProblem: (error) => {
      log('replay_stopped', `the replay has stopped: ${error.message}`);
    },
  });
  if (pace !== null) host.replay.setPace(pace, false);
}

/** Journalled commands at the exchange's time. */
function commandsNow({ exchange, view }: Host): Command[] {
  const { path, durableSeq } = exchange;
  const journal = openJournal(path, durableSeq);
  const commands: Command[] = [];
  let hasEarlier = journal.fromSeq === 0;
  for (let frame = journal.next(); frame !== null; frame = journal.next()) {
    if (frame.kind !== 'command') continue;
    if (frame.command.timeUs === view.nowUs) commands.push(frame.command);
    else hasEarlier = true;
  }
  if (hasEarlier) return commands;
  throw new FileError(`${path}: was compacted, so the position of the replay is unknown`);
}
