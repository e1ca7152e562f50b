/** Options of a served exchange, checked before anything is opened. */
import { UserError } from '../../base/user-error.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { parseExchangeConfig } from '../../gateway/exchange-config.ts';
import { DEFAULT_MARKETS } from '../../gateway/market-config.ts';
import type { Parsed } from '../../gateway/parsed.ts';
import { parseMarkets } from '../../gateway/market-list.ts';
import { parseTime } from '../../num/time-text.ts';
import { timeUs, type TimeUs } from '../../num/units.ts';
import { keccak } from '../../wallet/crypto-ports.ts';

/** An option or an argument of a served exchange is not valid, or a request of it was refused. */
export class ServerError extends UserError {
  override readonly name = 'ServerError';
  readonly code = 'server';
}

/** Fields of the YAML file of `orrery serve --config` (docs/OPERATIONS.md), decimals as text. */
export type Terms = Readonly<Record<string, unknown>>;

export interface ServerOptions {
  /** `virtual` (default): calls of `advance` move the time. `wall`: that of the machine. */
  readonly clock?: 'virtual' | 'wall';
  /** Time at which a new exchange on a virtual clock starts, UTC [2024-01-01T00:00:00Z]. */
  readonly start?: Date | string;
  /** Symbols of predefined markets, or terms over theirs [all predefined markets]. */
  readonly markets?: readonly (string | Terms)[];
  /** Parameters of the exchange over the defaults. */
  readonly config?: Terms;
  /** `trust`: signatures of requests are not verified; those of logins are. [verify] */
  readonly signatures?: 'verify' | 'trust';
  /** TCP port on 127.0.0.1 from 0 to 65535; 0 (default) selects a free one. */
  readonly port?: number;
  /** Folder of the journal, kept by `close`, and continued if it has one [a temporary folder]. */
  readonly dataDir?: string;
}

export interface Plan {
  readonly clock: 'virtual' | 'wall';
  readonly startUs: TimeUs;
  readonly markets: readonly MarketSpec[];
  /** null: any configuration of an existing exchange. */
  readonly config: ExchangeConfig | null;
  readonly trustsSignatures: boolean;
  readonly port: number;
  readonly dataDir: string | null;
}

const NAMES = ['clock', 'start', 'markets', 'config', 'signatures', 'port', 'dataDir'];
const START = '2024-01-01T00:00:00Z';

/** Throws `ServerError` for an option that is not valid. */
export function planOf(options: ServerOptions): Plan {
  // Programs in JavaScript pass anything.
  if (typeof options !== 'object' || (options as unknown) === null || Array.isArray(options)) {
    fail('options', 'must be an object');
  }
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) fail(unknown, `is not one of ${NAMES.join(', ')}`);
  const clock = oneOf('clock', options.clock ?? 'virtual', ['virtual', 'wall']);
  if (clock === 'wall' && options.start !== undefined) {
    fail('start', 'requires the clock virtual; a wall clock starts at the current time');
  }
  const startUs =
    clock === 'wall' ? timeUs(Date.now() * 1000) : timeOf('start', options.start ?? START);
  const { port = 0, dataDir = null } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    fail('port', 'must be a whole number from 0 to 65535');
  }
  if (dataDir !== null && (typeof dataDir !== 'string' || dataDir === '')) {
    fail('dataDir', 'must be the path of a folder');
  }
  const config =
    options.config === undefined
      ? null
      : valueOf('config', parseExchangeConfig(options.config, startUs, keccak));
  const signatures = oneOf('signatures', options.signatures ?? 'verify', ['verify', 'trust']);
  return {
    ...{ clock, startUs, config, port, dataDir },
    markets: marketsOf(options.markets ?? DEFAULT_MARKETS),
    trustsSignatures: signatures === 'trust',
  };
}

function marketsOf(list: unknown): MarketSpec[] {
  const parsed = parseMarkets(list, keccak);
  if (parsed.ok) return parsed.value;
  throw new ServerError(parsed.error, { field: 'markets' });
}

/** A time from 1970 to 2199; throws `ServerError` for others. */
export function timeOf(name: string, at: Date | string): TimeUs {
  const us = at instanceof Date ? at.getTime() * 1000 : parseTime(at);
  if (us === null || !Number.isSafeInteger(us) || us < 0) {
    return fail(name, 'must be a UTC time such as 2024-01-01T00:00:00Z, or a Date');
  }
  return timeUs(us);
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  return fail(name, `must be one of ${allowed.join(', ')}`);
}

const valueOf = <T>(name: string, parsed: Parsed<T>): T =>
  parsed.ok ? parsed.value : fail(name, parsed.error);

export function fail(field: string, problem: string): never {
  throw new ServerError(`${field}: ${problem}`, { field });
}
