/**
 * `orrery serve`: serves the API over HTTP on a crash-safe exchange. Settings:
 * `cli/serve-settings.ts`.
 */
import type { CommandModule } from 'yargs';
import { Faults } from '../../http/injected-faults.ts';
import { Host } from '../../http/exchange-host.ts';
import { Metrics } from '../../http/server-metrics.ts';
import { rebuildHistory } from '../../http/rebuild-history.ts';
import { logClock } from '../../http/clock-log.ts';
import { logRisk } from '../../http/risk-log.ts';
import { serveMetrics, type MetricsServer } from '../../http/metrics-server.ts';
import { operatorLog, type OperatorLog } from '../../http/operator-log.ts';
import { buildServer } from '../../http/server.ts';
import { WalletAuth, type Secrets } from '../../http/wallet-auth.ts';
import { timeUs } from '../../num/units.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import { RecoveryPool } from '../../wallet/recovery-pool.ts';
import { RequestVerifier } from '../../wallet/request-verifier.ts';
import { readExchangeFile } from '../exchange-file.ts';
import { endBy, EXIT, InputError, print, printError, setExitCode } from '../cli-support.ts';
import { openServed, type OpenedExchange, type Opening } from '../open-served.ts';
import { planReplay, REPLAY_OPTIONS, startReplay, type ReplayArguments } from '../serve-replay.ts';
import {
  planStrategy,
  prepareStrategy,
  startStrategy,
  STRATEGY_OPTIONS,
  type PreparedStrategy,
  type StrategyArguments,
} from '../serve-strategy.ts';
import { drawSecret, readSecrets } from '../token-secrets.ts';
import { addOptions, readSettings, type ServeSettings } from '../serve-settings.ts';

interface ServeArguments
  extends Readonly<Record<string, unknown>>, ReplayArguments, StrategyArguments {
  readonly config: string | undefined;
}

/** Requests per second. */
const REQUESTS_PER_SECOND = 200;
/** Time from a signal after which a start ends that is not ready. */
const START_GRACE_MS = 2000;
/** Time for the database to take note that this server does not lead. */
const RESIGN_MS = 1000;

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
        .options(REPLAY_OPTIONS)
        .options(STRATEGY_OPTIONS),
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
      .example('$0 serve --replay data/btc --speed 10', 'history at ten times its speed')
      .example(
        '$0 serve --replay data/btc --clock virtual --sim-token dev --strategy my.ts',
        'history with a strategy beside people',
      ),
  handler: serve,
};

async function serve(options: ServeArguments): Promise<void> {
  // The journal has the sampling seed: files are 0600 and folders 0700.
  process.umask(0o077);
  // A log that cannot be written, as on a full disk, does not end the exchange.
  process.stderr.on('error', () => undefined);
  // Also of a start, which may take long.
  const signalled = stopSignal();
  let isReady = false;
  let resign = (): Promise<void> => Promise.resolve();
  endStartAt(
    signalled,
    () => isReady,
    () => resign(),
  );
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
  const beside = planStrategy(options, settings, replay);
  const log = operatorLog(settings.logFormat, printError);
  const ofProcess = drawSecret();
  const rotateFrom = rotateOnSignal(() => readSecrets(settings, log, ofProcess), log);
  const secrets = await readSecrets(settings, log, ofProcess);
  const onStart = (given: () => Promise<void>): void => {
    resign = given;
  };
  const opening = { file, startUs, replay, log, onStart };
  const opened = await openServed(settings, opening);
  const host = hostOf(settings, opened, opening);
  rebuildHistory(host);
  let strategy: PreparedStrategy | null = null;
  try {
    if (replay !== null) await startReplay(host, replay, log);
    if (beside !== null) strategy = await prepareStrategy(host, beside, settings.dataDir);
  } catch (error) {
    await host.close();
    throw error;
  }
  logRisk(host, log);
  const endClockLog = logClock(host, log);
  const stop = Promise.race([signalled, opened.stopped]);
  const faults = new Faults();
  const auth = new WalletAuth({
    view: () => host.view,
    nowUs: () => host.nowUs(),
    secrets,
    nonces: opened.nonces,
    nonceStoreFails: () => faults.nonceStoreFails(),
  });
  rotateFrom(auth);
  const metrics = new Metrics(host);
  const app = await open(host, settings, { faults, auth, metrics });
  let metricsServer: MetricsServer | null = null;
  let address: string;
  try {
    metricsServer = await openMetrics(metrics, settings, log);
    address = await app.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    await metricsServer?.close();
    await app.close();
    await host.close();
    const { code, message } = error as NodeJS.ErrnoException;
    const advice =
      code === 'EADDRINUSE' ? '; stop what listens there, or choose another --port' : '';
    throw new InputError(`cannot listen: ${message}${advice}`);
  }
  isReady = true;
  print(`orrery listens on ${address}`);
  log('listening', `the API listens on ${address}`, { address });
  host.replay?.start();
  const endStrategy =
    strategy === null ? null : startStrategy(host, strategy, address, settings.dataDir, log);
  const end = await stop;
  if ('signal' in end) {
    const { signal } = end;
    const then =
      settings.journal === null
        ? 'the journal is synced, a snapshot is written'
        : 'pending commands are committed';
    log('stopping', `${signal}: requests end, ${then}`, { signal });
  } else {
    log('lead_lost', `this server stops: ${end.reason}`);
    host.leaving = `This server stops: ${end.reason}`;
    setExitCode(EXIT.failed);
  }
  endClockLog();
  await endStrategy?.();
  await app.close();
  await metricsServer?.close();
  await opened.closeNonces();
  await host.close();
  log('stopped', 'the exchange has stopped');
}

/** The default port gives way to a free one, so that two servers on one host can start. */
async function openMetrics(
  metrics: Metrics,
  { metrics: place }: ServeSettings,
  log: OperatorLog,
): Promise<MetricsServer | null> {
  if (place.kind !== 'port') return null;
  let server: MetricsServer;
  try {
    server = await serveMetrics(metrics, place);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (place.isChosen || code !== 'EADDRINUSE') {
      throw new InputError(`metrics: ${message}; choose another --metrics-port, or off`);
    }
    server = await serveMetrics(metrics, { host: place.host, port: 0 });
    log(
      'metrics_port_taken',
      `port ${String(place.port)} of --metrics-port is in use; ${server.url}`,
      {
        url: server.url,
      },
    );
    return server;
  }
  log('metrics_listening', `metrics on ${server.url}`, { url: server.url });
  return server;
}

/**
 * SIGHUP reads the files of the secrets again; a file that cannot be used changes nothing. Signals
 * of the start are carried out by the function that is returned.
 */
function rotateOnSignal(
  read: () => Promise<Secrets>,
  log: OperatorLog,
): (auth: WalletAuth) => void {
  let started: WalletAuth | null = null;
  let isDue = false;
  const rotate = (auth: WalletAuth): void => {
    read().then(
      (secrets) => {
        auth.rotate(secrets);
        log('secrets_read', 'the secrets of tokens were read again');
      },
      (error: unknown) => {
        log('secrets_kept', `the secrets of tokens stay: ${(error as Error).message}`);
      },
    );
  };
  process.on('SIGHUP', () => {
    if (started === null) isDue = true;
    else rotate(started);
  });
  return (auth) => {
    started = auth;
    if (isDue) rotate(auth);
  };
}

function open(
  host: Host,
  settings: ServeSettings,
  {
    faults,
    auth,
    metrics,
  }: { readonly faults: Faults; readonly auth: WalletAuth; readonly metrics: Metrics },
): ReturnType<typeof buildServer> {
  return buildServer({
    host,
    auth,
    faults,
    metrics,
    servesMetrics: settings.metrics.kind === 'api',
    simToken: settings.simToken,
    operator: settings.operatorToken === null ? null : { token: settings.operatorToken, keccak },
    logLevel: settings.logLevel,
    browsers: { origins: settings.corsOrigins, securityHeaders: settings.securityHeaders },
    limits: {
      connections: settings.maxConnections,
      accountsPerHour: settings.accountsPerHour,
    },
    previews: settings.previews,
    trustProxy: settings.trustProxy,
  });
}

function hostOf(settings: ServeSettings, { exchange }: OpenedExchange, { replay }: Opening): Host {
  const clock = replay === null ? settings.clock : 'virtual';
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

/**
 * A start that is nearly ready stops in order after a signal. One that waits, as for a commit or a
 * leader, ends by the signal: it has answered nothing.
 */
function endStartAt(
  signalled: StopSignal,
  isReady: () => boolean,
  resign: () => Promise<void>,
): void {
  void signalled.then(({ signal }) => {
    setTimeout(() => {
      if (isReady()) return;
      printError(
        `orrery: ${signal}: the start ends before it is complete; it has answered nothing`,
      );
      const end = (): void => {
        endBy(signal);
      };
      setTimeout(end, RESIGN_MS);
      resign().then(end, end);
    }, START_GRACE_MS).unref();
  });
}

type StopSignal = Promise<{ readonly signal: 'SIGINT' | 'SIGTERM' }>;

function stopSignal(): StopSignal {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        resolve({ signal });
      });
    }
  });
}
