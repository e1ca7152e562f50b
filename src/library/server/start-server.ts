/** Serves an exchange inside the calling program, over real HTTP and WebSocket. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '../../engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../gateway/exchange-config.ts';
import { Host } from '../../http/exchange-host.ts';
import { Faults } from '../../http/injected-faults.ts';
import { rebuildHistory } from '../../http/rebuild-history.ts';
import { Metrics } from '../../http/server-metrics.ts';
import { buildServer } from '../../http/server.ts';
import { WalletAuth } from '../../http/wallet-auth.ts';
import { DataFolder } from '../../journal-files/data-folder.ts';
import { DurableExchange } from '../../journal-files/durable-exchange.ts';
import { NoncesOnDisk, type NonceStore } from '../../journal-files/used-nonces.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import { RecoveryPool } from '../../wallet/recovery-pool.ts';
import { RequestVerifier } from '../../wallet/request-verifier.ts';
import { planOf, ServerError, type Plan, type ServerOptions } from './options.ts';
import { ServedHost } from './served-host.ts';
import type { Server } from './server.ts';

/** Requests per second and account. */
const REQUESTS_PER_SECOND = 200;

/**
 * Serves an exchange on 127.0.0.1, inside the calling program: the same HTTP and WebSocket as
 * `orrery serve`, with a clock that the caller drives.
 *
 * @throws ServerError if an option is not valid or the port is taken
 */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const plan = planOf(options);
  const path = plan.dataDir ?? (await mkdtemp(join(tmpdir(), 'orrery-server-')));
  const remove = (): Promise<void> =>
    plan.dataDir === null ? rm(path, { recursive: true, force: true }) : Promise.resolve();
  try {
    return await serve(plan, path, remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

async function serve(plan: Plan, path: string, remove: () => Promise<void>): Promise<Server> {
  const { exchange, nonces } = await openExchange(plan, path);
  const { config } = exchange.engine;
  const host = new Host({
    exchange,
    clock: plan.clock,
    keccak,
    signatures: plan.trustsSignatures ? 'trust' : new RequestVerifier(config, new RecoveryPool(0)),
    requestsPerSecond: plan.clock === 'wall' || config.rateLimit ? REQUESTS_PER_SECOND : null,
  });
  const closeAll = async (): Promise<void> => {
    await nonces.close();
    await host.close();
    await remove();
  };
  try {
    rebuildHistory(host);
    const simToken = randomBytes(16).toString('hex');
    const app = await build(host, simToken, nonces);
    const url = await app
      .listen({ host: '127.0.0.1', port: plan.port })
      .catch(async (error: unknown) => {
        await app.close();
        throw new ServerError(`port: cannot listen: ${(error as Error).message}`, { cause: error });
      });
    let closing: Promise<void> | undefined;
    return new ServedHost(host, url, simToken, () => {
      closing ??= app.close().then(closeAll);
      return closing;
    });
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function openExchange(plan: Plan, path: string) {
  const folder = await DataFolder.open(path);
  try {
    const fallback = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: plan.startUs };
    const exchange = await DurableExchange.open(folder, {
      config: plan.config,
      fallback,
      opening: plan.markets.map((spec): Command => ({
        kind: 'listMarket',
        timeUs: (plan.config ?? fallback).genesisTimeUs,
        spec,
      })),
      durability: 'strict',
      snapshotEvery: 0,
      onProblem: (what) => process.emitWarning(what, 'OrreryServer'),
    });
    const nonces = await NoncesOnDisk.open(path, Math.floor(exchange.engine.nowUs / 1000));
    return { exchange, nonces };
  } catch (error) {
    await folder.unlock();
    throw error;
  }
}

function build(host: Host, simToken: string, nonces: NonceStore) {
  const faults = new Faults();
  const auth = new WalletAuth({
    view: () => host.view,
    nowUs: () => host.nowUs(),
    secrets: { current: randomBytes(32), previous: [] },
    nonces,
    nonceStoreFails: () => faults.nonceStoreFails(),
  });
  return buildServer({
    ...{ host, auth, faults, simToken },
    metrics: new Metrics(host),
    servesMetrics: false,
    operator: null,
    previews: true,
    logLevel: 'silent',
    browsers: { origins: [], securityHeaders: 'pages' },
  });
}
