/**
 * `orrery serve`: the contract over HTTP, on an exchange that survives crashes. Flags stand over the environment
 * (ORRERY_HOST, _PORT, _DATA_DIR, _CONFIG, _SIM_TOKEN, _SECRET, _LOG_LEVEL), that over the defaults; the file says what exchange it is.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { CommandModule } from 'yargs';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import {
  DEFAULT_EXCHANGE_CONFIG,
  DEFAULT_MARKETS,
  parseExchangeConfig,
  parseMarketSpec,
} from '../../gateway/market-config.ts';
import { Faults } from '../../http/faults.ts';
import { Host } from '../../http/host.ts';
import { Metrics } from '../../http/metrics.ts';
import { buildServer } from '../../http/server.ts';
import { WalletAuth } from '../../http/wallet-auth.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';
import { DataFolder } from '../../store/data-folder.ts';
import { DurableExchange, type Recovery } from '../../store/durable-exchange.ts';
import { fileError } from '../../store/file-error.ts';
import { keccak } from '../../wallet/ethers-ports.ts';
import { RequestVerifier } from '../../wallet/request-verifier.ts';
import { InputError, print, printError } from '../manners.ts';

interface ServeArguments {
  readonly host: string;
  readonly port: number;
  readonly 'data-dir': string;
  readonly config: string | undefined;
  readonly clock: 'wall' | 'virtual';
  readonly 'sim-token': string | undefined;
  readonly 'trust-signatures': boolean;
  readonly durability: 'strict' | 'relaxed';
  readonly 'secret-file': string | undefined;
  readonly 'cors-origin': string | undefined;
  readonly 'log-level': string;
  readonly 'snapshot-every': number;
}

const MIN_SECRET_BYTES = 32;

/** ORRERY_PORT and so on stand behind the flags. */
const fromEnvironment = (name: string): string | undefined => process.env[`ORRERY_${name}`];

export const command: CommandModule<object, ServeArguments> = {
  command: 'serve',
  builder: (yargs) =>
    yargs
      .option('host', {
        type: 'string',
        default: fromEnvironment('HOST') ?? '127.0.0.1',
        describe: 'address to listen on',
      })
      .option('port', {
        type: 'number',
        default: Number(fromEnvironment('PORT') ?? 8080),
        describe: 'port; 0 takes a free one',
      })
      .option('data-dir', {
        type: 'string',
        default: fromEnvironment('DATA_DIR') ?? './var',
        describe: 'folder of the journal and its snapshots',
      })
      .option('config', {
        type: 'string',
        default: fromEnvironment('CONFIG'),
        describe: 'YAML with `config` and `markets`',
      })
      .option('clock', {
        choices: ['wall', 'virtual'] as const,
        default: 'wall' as const,
        describe: 'virtual stands still until /sim/clock moves it',
      })
      .option('sim-token', {
        type: 'string',
        default: fromEnvironment('SIM_TOKEN'),
        defaultDescription: 'none',
        describe: 'opens /sim/* to who holds it',
      })
      .option('trust-signatures', {
        type: 'boolean',
        default: false,
        describe: 'take signatures of orders and requests as given',
      })
      .option('durability', {
        choices: ['strict', 'relaxed'] as const,
        default: 'strict' as const,
        describe: 'relaxed answers before the disk has it; a crash may lose the last moments',
      })
      .option('secret-file', {
        type: 'string',
        describe: 'file with the secret of tokens, at least 32 bytes (or ORRERY_SECRET)',
      })
      .option('cors-origin', { type: 'string', describe: 'origin that browsers may call from' })
      .option('log-level', {
        type: 'string',
        default: fromEnvironment('LOG_LEVEL') ?? 'warn',
        describe: 'of structured logs',
      })
      .option('snapshot-every', {
        type: 'number',
        default: 100_000,
        describe: 'commands between snapshots; 0 writes one at shutdown only',
      })
      .example('$0 serve --sim-token dev --clock virtual', 'an exchange that your tests drive'),
  handler: serve,
};

async function serve(options: ServeArguments): Promise<void> {
  if (!Number.isInteger(options.port) || options.port < 0 || options.port > 65_535) {
    throw new InputError('--port must be from 0 to 65535');
  }
  if (!Number.isInteger(options['snapshot-every']) || options['snapshot-every'] < 0) {
    throw new InputError('--snapshot-every must be an integer of at least 0');
  }
  const startUs = timeUs(Date.now() * 1000);
  const file = options.config === undefined ? null : await readConfig(options.config, startUs);
  const secret = await readSecret(options);
  const folder = await DataFolder.open(options['data-dir']);
  let host: Host;
  try {
    host = await openHost(options, folder, file, startUs);
  } catch (error) {
    await folder.unlock();
    throw error;
  }
  const faults = new Faults();
  const auth = new WalletAuth({
    view: () => host.view,
    nowUs: () => host.nowUs(),
    secret,
    nonceStoreFails: () => faults.strikes('nonceStore'),
  });
  const { config } = host.view;
  const limited = options.clock === 'wall' || config.rateLimit;
  const app = await buildServer({
    host,
    auth,
    faults,
    metrics: new Metrics(host),
    requestsPerSecond: limited ? 200 : null,
    simToken: options['sim-token'] ?? null,
    logLevel: options['log-level'],
    corsOrigin: options['cors-origin'] ?? null,
  });
  const stop = stopSignal();
  let address: string;
  try {
    address = await app.listen({ host: options.host, port: options.port });
  } catch (error) {
    await app.close();
    await host.close();
    throw new InputError(`cannot listen: ${(error as Error).message}`);
  }
  print(`orrery listens on ${address}`);
  await stop;
  await app.close();
  await host.close();
}

async function openHost(
  options: ServeArguments,
  folder: DataFolder,
  file: ConfigFile | null,
  startUs: TimeUs,
): Promise<Host> {
  const fallback = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: startUs };
  const genesisUs = file?.config?.genesisTimeUs ?? startUs;
  const exchange = await DurableExchange.open(folder, {
    config: file?.config ?? null,
    fallback,
    opening: (file?.markets ?? defaultMarkets()).map((spec): Command => ({
      kind: 'listMarket',
      timeUs: genesisUs,
      spec,
    })),
    durability: options.durability,
    snapshotEvery: options['snapshot-every'],
    onProblem: (what) => {
      printError(`orrery: ${what}`);
    },
  });
  printError(recoveryText(exchange.recovery, options['data-dir']));
  if (options['trust-signatures']) {
    printError('orrery: WARNING: signatures are not verified (--trust-signatures)');
  }
  if (options.durability === 'relaxed') {
    printError('orrery: WARNING: answers do not wait for the disk (--durability relaxed)');
  }
  const signatures = options['trust-signatures']
    ? 'trust'
    : new RequestVerifier(exchange.engine.config);
  return new Host({ exchange, clock: options.clock, keccak, signatures });
}

function recoveryText(recovery: Recovery, path: string): string {
  if (recovery.isNew) return `orrery: a new exchange in ${path}`;
  const parts = [
    recovery.snapshotSeq > 0
      ? `snapshot of command ${String(recovery.snapshotSeq)}`
      : 'no snapshot',
    `${String(recovery.replayed)} commands replayed`,
    ...recovery.damagedSnapshots.map((what) => `not used: ${what}`),
    ...(recovery.cutBytes > 0
      ? [`${String(recovery.cutBytes)} bytes of a torn write cut off`]
      : []),
    `state hash ${recovery.stateHash}`,
  ];
  return `orrery: recovered ${path}: ${parts.join(', ')}`;
}

interface ConfigFile {
  readonly config: ExchangeConfig | null;
  readonly markets: readonly MarketSpec[] | null;
}

const CONFIG_KEYS = ['config', 'markets'];

/** The YAML of an exchange; numbers are read as their text, so that decimals stay exact. */
async function readConfig(path: string, startUs: TimeUs): Promise<ConfigFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw fileError(path, error);
  }
  let document: unknown;
  try {
    document = parse(text, { schema: 'failsafe' }) ?? {};
  } catch (error) {
    throw new InputError(`${path}: ${(error as Error).message}`);
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new InputError(`${path}: must be a map with config and markets`);
  }
  for (const key of Object.keys(document)) {
    if (!CONFIG_KEYS.includes(key)) throw new InputError(`${path}: ${key}: unknown key`);
  }
  const { config, markets } = document as { config?: unknown; markets?: unknown };
  return {
    config: config === undefined ? null : mustParse(path, parseExchangeConfig(config, startUs)),
    markets: markets === undefined ? null : parseMarkets(path, markets),
  };
}

function parseMarkets(path: string, markets: unknown): MarketSpec[] {
  if (!Array.isArray(markets) || markets.length === 0) {
    throw new InputError(`${path}: markets: must be a list of at least one market`);
  }
  const entries: readonly unknown[] = markets;
  return entries.map((entry) => {
    const symbol = typeof entry === 'string' ? entry : (entry as { symbol?: unknown }).symbol;
    const known = DEFAULT_MARKETS.find((market) => market.symbol === symbol);
    if (typeof entry !== 'string') {
      return mustParse(path, parseMarketSpec({ ...known, ...(entry as object) }, keccak));
    }
    if (known === undefined) {
      throw new InputError(`${path}: markets: ${entry} is not out of the box; give its terms`);
    }
    return mustParse(path, parseMarketSpec(known, keccak));
  });
}

function defaultMarkets(): MarketSpec[] {
  return DEFAULT_MARKETS.map((market) => mustParse('markets', parseMarketSpec(market, keccak)));
}

function mustParse<T>(
  path: string,
  parsed: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string },
): T {
  if (!parsed.ok) throw new InputError(`${path}: ${parsed.error}`);
  return parsed.value;
}

/** The secret of tokens: of the file, of the environment, or for this process only, which is said. */
async function readSecret(options: ServeArguments): Promise<Uint8Array> {
  const path = options['secret-file'];
  const inEnvironment = fromEnvironment('SECRET');
  if (path === undefined && inEnvironment === undefined) {
    printError('orrery: WARNING: no secret is given; tokens are good until this process ends');
    return randomBytes(MIN_SECRET_BYTES);
  }
  let secret: Uint8Array;
  try {
    secret = path === undefined ? Buffer.from(inEnvironment ?? '') : await readFile(path);
  } catch (error) {
    throw fileError(path ?? '', error);
  }
  if (secret.length < MIN_SECRET_BYTES) {
    throw new InputError(`the secret has ${String(secret.length)} bytes, at least 32 are needed`);
  }
  return secret;
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
