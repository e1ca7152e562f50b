/**
 * YAML file of an exchange: input of `orrery serve --config` and of a twin of a served exchange.
 */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import { parseExchangeConfig } from '../gateway/exchange-config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../gateway/market-config.ts';
import { parseMarkets } from '../gateway/market-list.ts';
import type { TimeUs } from '../num/units.ts';
import { parseTime } from '../num/time-text.ts';
import { fileError } from '../platform/file-error.ts';
import { keccak } from '../wallet/crypto-ports.ts';
import { InputError } from './cli-support.ts';

export interface ExchangeFile {
  readonly config: ExchangeConfig | null;
  /** Whether `config` has a sampling seed. */
  readonly hasSamplingSeed: boolean;
  readonly markets: readonly MarketSpec[] | null;
  /** Settings of the server (`readSettings`). */
  readonly server: unknown;
  /** Start of a new exchange with a virtual clock; null if the file has none. */
  readonly startUs: TimeUs | null;
}

const CONFIG_KEYS = ['config', 'markets', 'server', 'start'];

/**
 * Reads the YAML of an exchange, which starts at `nowUs` by default; numbers are read as text, so
 * that decimals stay exact.
 */
export async function readExchangeFile(path: string, nowUs: TimeUs): Promise<ExchangeFile> {
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
    throw new InputError(`${path}: ${(error as Error).message.split('\n')[0] ?? 'not YAML'}`);
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new InputError(`${path}: must be a map with config, markets, start and server`);
  }
  for (const key of Object.keys(document)) {
    if (!CONFIG_KEYS.includes(key)) throw new InputError(`${path}: ${key}: unknown key`);
  }
  const { config, markets, server, start } = document as {
    config?: unknown;
    markets?: unknown;
    server?: unknown;
    start?: unknown;
  };
  const startUs = typeof start === 'string' ? parseTime(start) : null;
  if (start !== undefined && startUs === null) {
    throw new InputError(`${path}: start: must be a UTC time such as 2024-01-01T00:00:00Z`);
  }
  const beginsUs = startUs ?? nowUs;
  return {
    startUs,
    hasSamplingSeed: typeof config === 'object' && config !== null && 'samplingSeed' in config,
    config:
      config === undefined ? null : mustParse(path, parseExchangeConfig(config, beginsUs, keccak)),
    markets: markets === undefined ? null : mustParse(path, parseMarkets(markets, keccak)),
    server,
  };
}

export function defaultMarkets(): MarketSpec[] {
  return DEFAULT_MARKETS.map((market) => mustParse('markets', parseMarketSpec(market, keccak)));
}

function mustParse<T>(
  path: string,
  parsed: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string },
): T {
  if (!parsed.ok) throw new InputError(`${path}: ${parsed.error}`);
  return parsed.value;
}
