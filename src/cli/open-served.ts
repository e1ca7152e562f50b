/** Exchange of `orrery serve`: in its data folder, or on a journal that several servers share. */
import { randomBytes } from 'node:crypto';
import { countText } from '../base/count-text.ts';
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../gateway/exchange-config.ts';
import { checkConfig } from '../journal-files/check-config.ts';
import { DataFolder } from '../journal-files/data-folder.ts';
import { DurableExchange, type Recovery } from '../journal-files/durable-exchange.ts';
import { NoncesOnDisk, type NonceStore } from '../journal-files/used-nonces.ts';
import type { ServedExchange } from '../journal/served-exchange.ts';
import type { StoreProblem } from '../journal/store-stopped.ts';
import type { TimeUs } from '../num/units.ts';
import { shownAddress } from '../postgres/address.ts';
import { openPostgresExchange } from '../postgres/open-exchange.ts';
import type { ReplicaRecovery } from '../replication/load-journal.ts';
import { defaultMarkets, type ExchangeFile } from './exchange-file.ts';
import type { OperatorLog } from '../http/operator-log.ts';
import { InputError } from './cli-support.ts';
import { mustBeSameReplay, openingOf, type PlannedReplay } from './serve-replay.ts';
import type { ServeSettings, SharedJournal } from './serve-settings.ts';

export interface Opening {
  readonly file: ExchangeFile | null;
  readonly startUs: TimeUs;
  readonly replay: PlannedReplay | null;
  readonly log: OperatorLog;
  /** Receives what gives up the lead of a start that does not end. */
  readonly onStart: (resign: () => Promise<void>) => void;
}

export interface OpenedExchange {
  readonly exchange: ServedExchange;
  readonly nonces: NonceStore;
  readonly closeNonces: () => Promise<void>;
  /** Resolves with the reason if the exchange stops by itself. */
  readonly stopped: Promise<{ readonly reason: string }>;
}

/** Throws a `UserError` if the exchange cannot be opened. */
export async function openServed(
  settings: ServeSettings,
  opening: Opening,
): Promise<OpenedExchange> {
  if (settings.trustSignatures) {
    opening.log('signatures_not_verified', 'signatures are not verified (--trust-signatures)');
  }
  const { journal } = settings;
  return journal === null ? openFolder(settings, opening) : openShared(settings, journal, opening);
}

interface NewExchange {
  /** null: any configuration of an existing exchange. */
  readonly config: ExchangeConfig | null;
  readonly fallback: ExchangeConfig;
  readonly drawSamplingSeed?: () => string;
  readonly opening: readonly Command[];
}

function newExchange(
  { clock: asked }: ServeSettings,
  { file, startUs, replay }: Opening,
): NewExchange {
  const clock = replay === null ? asked : 'virtual';
  const genesisUs = file?.config?.genesisTimeUs ?? startUs;
  return {
    config: replay?.markets.config ?? file?.config ?? null,
    fallback: { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: startUs },
    // The seed reveals the times of price samples. Runs on a virtual clock need it fixed to be
    // repeatable.
    ...(clock === 'wall' && file?.hasSamplingSeed !== true
      ? { drawSamplingSeed: () => randomBytes(8).toString('hex') }
      : {}),
    opening:
      replay !== null
        ? openingOf(replay)
        : (file?.markets ?? defaultMarkets()).map((spec): Command => ({
            kind: 'listMarket',
            timeUs: genesisUs,
            spec,
          })),
  };
}

const reportTo =
  (log: OperatorLog) =>
  (what: string, problem: StoreProblem): void => {
    log(problem, what);
  };

async function openFolder(settings: ServeSettings, opening: Opening): Promise<OpenedExchange> {
  const { dataDir, durability, snapshotEvery } = settings;
  const folder = await DataFolder.open(dataDir);
  try {
    await mustBeSameReplay(folder.path, opening.replay);
    const exchange = await DurableExchange.open(folder, {
      ...newExchange(settings, opening),
      ...{ durability, snapshotEvery, onProblem: reportTo(opening.log) },
    });
    logRecovery(exchange.recovery, dataDir, opening.log);
    if (durability === 'relaxed') {
      opening.log(
        'durability_relaxed',
        'responses do not wait for the disk (--durability relaxed)',
      );
    }
    const nonces = await NoncesOnDisk.open(dataDir, Math.floor(exchange.engine.nowUs / 1000));
    return {
      exchange,
      nonces,
      closeNonces: () => nonces.close(),
      stopped: new Promise(() => undefined),
    };
  } catch (error) {
    await folder.unlock();
    throw error;
  }
}

async function openShared(
  settings: ServeSettings,
  { address, follow, advertise, leaseMs }: SharedJournal,
  opening: Opening,
): Promise<OpenedExchange> {
  if (opening.replay !== null)
    throw new InputError('--replay requires a data folder, not --journal');
  if (settings.durability === 'relaxed') {
    throw new InputError('--durability relaxed requires a data folder, not --journal');
  }
  const wanted = newExchange(settings, opening);
  const { exchange, nonces } = await openPostgresExchange({
    ...{ address, advertise, leaseMs, onProblem: reportTo(opening.log) },
    onStart: opening.onStart,
    snapshotEvery: settings.snapshotEvery,
    start: follow ? 'follow' : 'lead',
    create: () => {
      const asked = wanted.config ?? wanted.fallback;
      const samplingSeed = wanted.drawSamplingSeed?.() ?? asked.samplingSeed;
      return { config: { ...asked, samplingSeed }, opening: wanted.opening };
    },
    checkConfig: (path, found) => {
      checkConfig(path, found, wanted);
    },
  });
  logSharedRecovery(exchange.recovery, shownAddress(address), follow, opening.log);
  return {
    exchange,
    nonces,
    closeNonces: () => Promise.resolve(),
    stopped: new Promise((resolve) => {
      exchange.onStopped((reason) => {
        resolve({ reason });
      });
    }),
  };
}

function logSharedRecovery(
  recovery: ReplicaRecovery,
  path: string,
  follow: boolean,
  log: OperatorLog,
): void {
  if (recovery.isNew) {
    log('exchange_created', `a new exchange in ${path}`, { path });
    return;
  }
  const { snapshotSeq, replayed, stateHash } = recovery;
  const from = snapshotSeq > 0 ? `snapshot of command ${String(snapshotSeq)}` : 'no snapshot';
  const role = follow ? 'follows' : 'leads';
  log(
    'exchange_recovered',
    `${role} ${path}: ${from}, ${countText(replayed, 'command')} replayed, state hash ${stateHash}`,
    { path, role, snapshotSeq, replayed, stateHash },
  );
}

function logRecovery(recovery: Recovery, path: string, log: OperatorLog): void {
  const { cutBytes, snapshotSeq, replayed, stateHash } = recovery;
  if (recovery.isNew) {
    const torn = `, after ${countText(cutBytes, 'byte')} of a first write that was cut short`;
    log('exchange_created', `a new exchange in ${path}${cutBytes > 0 ? torn : ''}`, { path });
    return;
  }
  const parts = [
    snapshotSeq > 0 ? `snapshot of command ${String(snapshotSeq)}` : 'no snapshot',
    `${countText(replayed, 'command')} replayed`,
    ...recovery.passedOver.map((what) => `not used: ${what}`),
    ...(cutBytes > 0 ? [`${countText(cutBytes, 'byte')} of a torn write wiped`] : []),
    `state hash ${stateHash}`,
  ];
  const fields = { path, snapshotSeq, replayed, cutBytes, stateHash };
  log('exchange_recovered', `recovered ${path}: ${parts.join(', ')}`, fields);
}
