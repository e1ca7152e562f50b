/**
 * `orrery serve`: serves the API over HTTP on a crash-safe exchange. Settings:
 * `cli/serve-settings.ts`.
 */
import { randomBytes } from 'node:crypto';
import type { CommandModule } from 'yargs';
import type { Command } from '../../engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../gateway/market-config.ts';
import { Faults } from '../../http/injected-faults.ts';
import { Host } from '../../http/exchange-host.ts';
import { Metrics } from '../../http/server-metrics.ts';
import { logClock } from '../../http/clock-log.ts';
import { logRisk } from '../../http/risk-log.ts';
import { buildServer } from '../../http/server.ts';
import { WalletAuth } from '../../http/wallet-auth.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';
import { DataFolder } from '../../journal-files/data-folder.ts';
import { DurableExchange, type Recovery } from '../../journal-files/durable-exchange.ts';
import { NoncesOnDisk } from '../../journal-files/used-nonces.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import { RecoveryPool } from '../../wallet/recovery-pool.ts';
import { RequestVerifier } from '../../wallet/request-verifier.ts';
import { defaultMarkets, readExchangeFile, type ExchangeFile } from '../exchange-file.ts';
import { InputError, print, printError } from '../cli-support.ts';
import {
  mustBeSameReplay,
  openingOf,
  planReplay,
  REPLAY_OPTIONS,
  startReplay,
  type PlannedReplay,
  type ReplayArguments,
} from '../serve-replay.ts';
import { readSecrets } from '../token-secrets.ts';
import { addOptions, readSettings, type ServeSettings } from '../serve-settings.ts';

interface ServeArguments extends Readonly<Record<string, unknown>>, ReplayArguments {
  readonly config: string | undefined;
}

/** Requests per second. */
const REQUESTS_PER_SECOND = 200;

export const command: CommandModule<object, ServeArguments> = {
  command: 'serve',
  builder: (yargs) =>
    addOptions(
      yargs
        .option('config', {
          type: 'string',
          default: process.env['ORRERY_CONFIG'],
          defaultDescription: 'predefined markets',
          describe: 'YAML file with `config`, `markets`, `start` and `server`',
        })
        .options(REPLAY_OPTIONS),
    )
      .epilogue('Precedence: flags, environment (ORRERY_PORT, ORRERY_DATA_DIR, …), file, defaults.')
      .example('$0 serve --sim-token dev --clock virtual', 'an exchange for tests')
      .example(
        '$0 serve --config exchange.yaml --secret-file secret',
        'an exchange for other users',
      )
      .example(
        '$0 serve --replay data/btc --clock virtual --sim-token dev --trust-signatures',
        'history for orrery live',
      )
      .example('$0 serve --replay data/btc --speed 10', 'history at ten times its speed'),
  handler: serve,
};

async function serve(options: ServeArguments): Promise<void> {
  // The journal has the sampling seed: files are 0600 and folders 0700.
  process.umask(0o077);
  const nowUs = timeUs(Date.now() * 1000);
  const { config: path } = options;
  const file = path === undefined ? null : await readExchangeFile(path, nowUs);
  const startUs = file?.startUs ?? nowUs;
  const settings = readSettings({
    flags: options,
    environment: process.env,
    file: path === undefined ? null : { path, server: file?.server },
  });
  if (file !== null && file.startUs !== null && settings.clock !== 'virtual') {
    throw new InputError(
      `${String(path)}: start: requires --clock virtual; a wall clock starts at the current time`,
    );
  }
  const replay = await planReplay(options, settings.clock);
  if (replay !== null && file !== null && (file.config ?? file.markets ?? file.startUs) !== null) {
    throw new InputError(
      `${String(path)}: config, markets and start: a replay has those of its recording`,
    );
  }
  const secrets = await readSecrets(settings, printError);
  const folder = await DataFolder.open(settings.dataDir);
  let host: Host;
  try {
    host = await openHost(settings, folder, { file, startUs, replay });
  } catch (error) {
    await folder.unlock();
    throw error;
  }
  try {
    if (replay !== null) await startReplay(host, replay);
  } catch (error) {
    await host.close();
    throw error;
  }
  logRisk(host, printError);
  const endClockLog = logClock(host, printError);
  const stop = stopSignal();
  const nonces = await NoncesOnDisk.open(settings.dataDir, Math.floor(host.nowUs() / 1000));
  const faults = new Faults();
  const auth = new WalletAuth({
    view: () => host.view,
    nowUs: () => host.nowUs(),
    secrets,
    nonces,
    nonceStoreFails: () => faults.nonceStoreFails(),
  });
  rotateOnSignal(settings, auth);
  const app = await open(host, settings, { faults, auth });
  let address: string;
  try {
    address = await app.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    await app.close();
    await host.close();
    throw new InputError(`cannot listen: ${(error as Error).message}`);
  }
  print(`orrery listens on ${address}`);
  host.replay?.start();
  await stop;
  endClockLog();
  await app.close();
  await nonces.close();
  await host.close();
}

/** SIGHUP reads the files of the secrets again; a file that cannot be used changes nothing. */
function rotateOnSignal(settings: ServeSettings, auth: WalletAuth): void {
  if (settings.secretFile === null) return;
  process.on('SIGHUP', () => {
    readSecrets(settings, printError).then(
      (secrets) => {
        auth.rotate(secrets);
        printError('orrery: the secrets of tokens were read again');
      },
      (error: unknown) => {
        printError(`orrery: the secrets of tokens stay: ${(error as Error).message}`);
      },
    );
  });
}

function open(
  host: Host,
  settings: ServeSettings,
  { faults, auth }: { readonly faults: Faults; readonly auth: WalletAuth },
): ReturnType<typeof buildServer> {
  return buildServer({
    host,
    auth,
    faults,
    metrics: new Metrics(host),
    simToken: settings.simToken,
    operator: settings.operatorToken === null ? null : { token: settings.operatorToken, keccak },
    logLevel: settings.logLevel,
    browsers: { origins: settings.corsOrigins, securityHeaders: settings.securityHeaders },
    limits: { connections: settings.maxConnections },
    trustProxy: settings.trustProxy,
  });
}

async function openHost(
  settings: ServeSettings,
  folder: DataFolder,
  { file, startUs, replay }: Opening,
): Promise<Host> {
  const fallback = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: startUs };
  const clock = replay === null ? settings.clock : 'virtual';
  await mustBeSameReplay(folder.path, replay);
  const genesisUs = file?.config?.genesisTimeUs ?? startUs;
  const exchange = await DurableExchange.open(folder, {
    config: replay?.markets.config ?? file?.config ?? null,
    fallback,
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
    durability: settings.durability,
    snapshotEvery: settings.snapshotEvery,
    onProblem: (what) => {
      printError(`orrery: ${what}`);
    },
  });
  printError(recoveryText(exchange.recovery, settings.dataDir));
  if (settings.trustSignatures) {
    printError('orrery: WARNING: signatures are not verified (--trust-signatures)');
  }
  if (settings.durability === 'relaxed') {
    printError('orrery: WARNING: responses do not wait for the disk (--durability relaxed)');
  }
  const signatures = settings.trustSignatures
    ? 'trust'
    : new RequestVerifier(
        exchange.engine.config,
        new RecoveryPool(settings.verifyThreads ?? undefined),
      );
  // under a virtual clock only when the exchange asks for it.
  const limited = clock === 'wall' || exchange.engine.config.rateLimit;
  return new Host({
    exchange,
    clock,
    keccak,
    signatures,
    requestsPerSecond: limited ? REQUESTS_PER_SECOND : null,
  });
}

interface Opening {
  readonly file: ExchangeFile | null;
  readonly startUs: TimeUs;
  readonly replay: PlannedReplay | null;
}

function recoveryText(recovery: Recovery, path: string): string {
  if (recovery.isNew) {
    const torn = `, after ${String(recovery.cutBytes)} bytes of a first write that was cut short`;
    return `orrery: a new exchange in ${path}${recovery.cutBytes > 0 ? torn : ''}`;
  }
  const parts = [
    recovery.snapshotSeq > 0
      ? `snapshot of command ${String(recovery.snapshotSeq)}`
      : 'no snapshot',
    `${String(recovery.replayed)} commands replayed`,
    ...recovery.passedOver.map((what) => `not used: ${what}`),
    ...(recovery.cutBytes > 0 ? [`${String(recovery.cutBytes)} bytes of a torn write wiped`] : []),
    `state hash ${recovery.stateHash}`,
  ];
  return `orrery: recovered ${path}: ${parts.join(', ')}`;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        resolve();
      });
    }
  });
}
