/**
 * Terms of a run as text by name: its data, the rules of its exchange, and the settings of its
 * strategy. Two runs that are compared have equal terms, or the comparison names those that differ.
 */
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';

export type RunTerms = Readonly<Record<string, string>>;

/** Terms that a strategy has in a run. Times are µs. */
export interface StrategyTerms {
  readonly strategy: string;
  /** SHA-256; null for an object of the calling program. */
  readonly bundle: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly symbols: readonly string[];
  readonly seed: string;
  /** Name of its random streams. */
  readonly id: string;
  readonly latency: string;
  readonly faults: string;
  /** Names and hashes of the user's data. */
  readonly feeds?: string;
  readonly balance: string;
  /** Orders that the exchange had before the run. */
  readonly ordersBefore: number;
  readonly startUs: number;
  readonly tradeFromUs: number;
  readonly sampleUs: number;
  /** Number of strategies and agents in the exchange. */
  readonly traders: number;
}

/** The exchange of a run, and its recording. Times are µs. */
export interface ExchangeFacts {
  readonly tape: { readonly sha256: string | null };
  /** How the data are played, or the agents that make them. */
  readonly playedAs: RunTerms;
  readonly beginUs: number;
  readonly endUs: number;
  readonly specs: readonly MarketSpec[];
  readonly config: ExchangeConfig;
}

/** Data, markets and exchange. */
export function exchangeTerms(facts: ExchangeFacts): RunTerms {
  const { tape, playedAs, beginUs, endUs, specs, config } = facts;
  const terms: Record<string, string> = {
    data: tape.sha256 ?? 'made by agents',
    ...playedAs,
    'first data': timeText(beginUs),
    'last data': timeText(endUs),
  };
  for (const { symbol, ...spec } of specs) {
    for (const [field, value] of Object.entries(spec)) terms[`${symbol} ${field}`] = text(value);
  }
  for (const [field, value] of Object.entries(config)) terms[`exchange ${field}`] = text(value);
  return terms;
}

export function strategyTerms(terms: StrategyTerms): RunTerms {
  const { parameters, symbols, startUs, tradeFromUs, sampleUs } = terms;
  return {
    strategy: terms.strategy,
    bundle: terms.bundle ?? 'an object',
    parameters: text(parameters),
    markets: symbols.join(', '),
    seed: terms.seed,
    'random streams': terms.id,
    latency: terms.latency,
    faults: terms.faults,
    ...(terms.feeds === undefined || terms.feeds === '' ? {} : { feeds: terms.feeds }),
    balance: terms.balance,
    'orders before the run': String(terms.ordersBefore),
    'start of the run': timeText(startUs),
    'start of trading': timeText(tradeFromUs),
    'interval of samples': `${String(sampleUs / 1e6)} s`,
    'strategies and agents': String(terms.traders),
  };
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
}

function timeText(us: number): string {
  return `${new Date(us / 1000).toISOString().slice(0, 23)}${String(us % 1000).padStart(3, '0')}Z`;
}
