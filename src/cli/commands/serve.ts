/**
 * `orrery serve`: serves the API over HTTP on a crash-safe exchange. Settings:
 * `cli/serve-settings.ts`.
 */
import type { CommandModule } from 'yargs';
import { Faults } from '../../http/injected-faults.ts';
import { Host } from '../../http/exchange-host.ts';
import { Metrics } from '../../http/server-metrics.ts';
import { logClock } from '../../http/clock-log.ts';
import { logRisk } from '../../http/risk-log.ts';
import { buildServer } from '../../http/server.ts';
import { WalletAuth } from '../../http/wallet-auth.ts';
import { timeUs } from '../../num/units.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import { RecoveryPool } from '../../wallet/recovery-pool.ts';
import { RequestVerifier } from '../../wallet/request-verifier.ts';
import { readExchangeFile } from '../exchange-file.ts';
import { EXIT, InputError, print, printError, setExitCode } from '../cli-support.ts';
import { openServed, type OpenedExchange, type Opening } from '../open-served.ts';
import { planReplay, REPLAY_OPTIONS, startReplay, type ReplayArguments } from '../serve-replay.ts';
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
  const opening = { file, startUs, replay };
  const opened = await openServed(settings, opening);
  const host = hostOf(settings, opened, opening);
  try {
    if (replay !== null) await startReplay(host, replay);
  } catch (error) {
    await host.close();
    throw error;
  }
  logRisk(host, printError);
  const endClockLog = logClock(host, printError);
  const stop = Promise.race([stopSignal(), opened.stopped]);
  const faults = new Faults();
  const auth = new WalletAuth({
    view: () => host.view,
    nowUs: () => host.nowUs(),
    secrets,
    nonces: opened.nonces,
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
  const reason = await stop;
  if (reason !== null) {
    printError(`orrery: this server stops: ${reason}`);
    host.leaving = `This server stops: ${reason}`;
    setExitCode(EXIT.failed);
  }
  endClockLog();
  await app.close();
  await opened.closeNonces();
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

function stopSignal(): Promise<null> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        resolve(null);
      });
    }
  });
}
