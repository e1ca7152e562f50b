/** A served exchange in a temporary folder, for tests over real HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import type { FastifyInstance } from 'fastify';
import { ENDPOINTS, type Endpoint, type EndpointId } from '../../src/contract/endpoints.ts';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import type { Caller } from '../../src/gateway/context.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../../src/gateway/market-config.ts';
import { stringifyExact } from '../../src/contract/exact-json.ts';
import { Faults } from '../../src/http/injected-faults.ts';
import { Host } from '../../src/http/exchange-host.ts';
import { Metrics } from '../../src/http/server-metrics.ts';
import { buildServer, type BrowserOptions, type ServerLimits } from '../../src/http/server.ts';
import { WalletAuth } from '../../src/http/wallet-auth.ts';
import { DataFolder } from '../../src/journal-files/data-folder.ts';
import {
  DurableExchange,
  type DurableOptions,
  type Recovery,
} from '../../src/journal-files/durable-exchange.ts';
import { NoncesInMemory } from '../../src/journal-files/used-nonces.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { RecoveryPool } from '../../src/wallet/recovery-pool.ts';
import { RequestVerifier } from '../../src/wallet/request-verifier.ts';
import { mustBeDocumented } from './documented.ts';

/** Worker threads run compiled code. */
export const RECOVERY_WORKER = new URL('../../dist/wallet/recovery-worker.js', import.meta.url);
export const SECRET = new Uint8Array(32).fill(7);
export const SIM_TOKEN = 'sim-token';
export const OPERATOR_TOKEN = 'operator';

export interface ServedOptions {
  readonly config?: ExchangeConfig;
  readonly opening?: readonly Command[];
  readonly signatures?: 'trust' | 'verify';
  /** Number of threads that recover signers; default 0. */
  readonly verifyThreads?: number;
  readonly clock?: 'wall' | 'virtual';
  readonly wallMs?: () => number;
  readonly requestsPerSecond?: number;
  readonly path?: string;
  readonly browsers?: Partial<BrowserOptions>;
  readonly previews?: boolean;
  readonly limits?: Partial<ServerLimits>;
  /** null: no /operator routes. */
  readonly operatorToken?: string | null;
  readonly trustProxy?: readonly string[];
  /** Called before the server is built. */
  readonly prepare?: (host: Host) => Promise<void>;
  readonly disk?: Pick<DurableOptions, 'segmentBytes' | 'openFile'>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: unknown;
  readonly headers: Headers;
}

export class Served {
  readonly path: string;
  readonly app: FastifyInstance;
  readonly host: Host;
  readonly url: string;
  /** Result of the recovery at start. */
  readonly recovery: Recovery;
  /** Problems reported by the store. */
  readonly problems: readonly string[];

  private constructor(
    path: string,
    app: FastifyInstance,
    host: Host,
    url: string,
    store: { readonly recovery: Recovery; readonly problems: readonly string[] },
  ) {
    this.path = path;
    this.app = app;
    this.host = host;
    this.url = url;
    this.recovery = store.recovery;
    this.problems = store.problems;
  }

  static async start(options: ServedOptions = {}): Promise<Served> {
    const path = options.path ?? (await mkdtemp(join(tmpdir(), 'orrery-')));
    const config = options.config ?? DEFAULT_EXCHANGE_CONFIG;
    const folder = await DataFolder.open(path);
    const problems: string[] = [];
    const exchange = await DurableExchange.open(folder, {
      config,
      fallback: config,
      opening: options.opening ?? defaultOpening(config),
      durability: 'strict',
      snapshotEvery: 0,
      onProblem: (what) => {
        problems.push(what);
      },
      ...options.disk,
    }).catch(async (error: unknown) => {
      await folder.unlock();
      throw error;
    });
    const host = new Host({
      exchange,
      clock: options.clock ?? 'virtual',
      ...(options.wallMs === undefined ? {} : { wallMs: options.wallMs }),
      keccak,
      requestsPerSecond: options.requestsPerSecond ?? null,
      signatures:
        options.signatures === 'verify'
          ? new RequestVerifier(
              config,
              new RecoveryPool(options.verifyThreads ?? 0, RECOVERY_WORKER),
            )
          : 'trust',
    });
    await options.prepare?.(host);
    const faults = new Faults();
    const auth = new WalletAuth({
      view: () => host.view,
      nowUs: () => host.nowUs(),
      secrets: { current: SECRET, previous: [] },
      nonces: new NoncesInMemory(),
      nonceStoreFails: () => faults.nonceStoreFails(),
    });
    const app = await buildServer({
      host,
      auth,
      faults,
      metrics: new Metrics(host),
      simToken: SIM_TOKEN,
      servesMetrics: true,
      previews: options.previews ?? true,
      operator:
        options.operatorToken === null
          ? null
          : { token: options.operatorToken ?? OPERATOR_TOKEN, keccak },
      logLevel: 'silent',
      browsers: { origins: [], securityHeaders: 'pages', ...options.browsers },
      limits: options.limits ?? {},
      trustProxy: options.trustProxy ?? [],
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    host.replay?.start();
    return new Served(path, app, host, url, { recovery: exchange.recovery, problems });
  }

  /** Leaves the folder like a crash: writes nothing more, and leaves the lock. */
  async stop(): Promise<void> {
    await this.app.close();
    await this.host.close();
  }

  async remove(): Promise<void> {
    await this.stop().catch(() => undefined);
    await rm(this.path, { recursive: true, force: true });
  }

  /** A token as login creates it. */
  async token({ account, signer }: Caller): Promise<string> {
    const iat = Math.floor(this.host.nowUs() / 1_000_000);
    return new SignJWT({ account, signer })
      .setProtectedHeader({ alg: 'HS512', typ: 'JWT' })
      .setIssuedAt(iat)
      .setExpirationTime(iat + 3600)
      .sign(SECRET);
  }

  async send(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body as BodyInit }),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    mustBeDocumented(method, path, { status: response.status, type, text });
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    return { status: response.status, text, body: parsed, headers: response.headers };
  }

  /** Calls an endpoint like a client: parameters in path and query, or a body. */
  async call(id: EndpointId, input: unknown, caller: Caller | null): Promise<Answer> {
    const { method, path } = ENDPOINTS[id] as Endpoint;
    const headers = caller === null ? {} : { authorization: `Bearer ${await this.token(caller)}` };
    if (method === 'POST') return this.send(method, path, stringifyExact(input), headers);
    const fields = new Map(Object.entries(input as Record<string, unknown>));
    const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
      const value = String(fields.get(name));
      fields.delete(name);
      return encodeURIComponent(value);
    });
    const query = new URLSearchParams([...fields].map(([name, value]) => [name, String(value)]));
    return this.send(method, `${filled}?${query.toString()}`, undefined, headers);
  }

  operator(path: string, body?: unknown, token = OPERATOR_TOKEN): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}` };
    return body === undefined
      ? this.send('GET', `/operator/${path}`, undefined, headers)
      : this.send(
          'POST',
          `/operator/${path}`,
          typeof body === 'string' ? body : JSON.stringify(body),
          headers,
        );
  }

  sim(path: string, body?: unknown): Promise<Answer> {
    const headers = { authorization: `Bearer ${SIM_TOKEN}` };
    return body === undefined
      ? this.send('GET', `/sim/${path}`, undefined, headers)
      : this.send('POST', `/sim/${path}`, JSON.stringify(body), headers);
  }
}

export function defaultOpening(config: ExchangeConfig): Command[] {
  return DEFAULT_MARKETS.map((market): Command => {
    const spec = parseMarketSpec(market, keccak);
    if (!spec.ok) throw new Error(spec.error);
    return { kind: 'listMarket', timeUs: config.genesisTimeUs, spec: spec.value };
  });
}
