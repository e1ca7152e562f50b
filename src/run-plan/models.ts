/**
 * Parses models of a command line or plan. A model is `name` or `name:key=value,key=value`;
 * durations are written as `500us`, `2ms` or `1m30s`. Errors name the option and its valid values.
 */
import { parseDuration } from '../num/time-text.ts';
import { formatDecimal, parseDecimal } from '../num/decimal.ts';
import type { ImpactModel, QueueModel } from '../engine/config.ts';
import type { FaultOptions } from '../virtual-time/faults.ts';
import {
  constantLatency,
  jitteredLatency,
  measuredLatency,
  recordedLatency,
  type LatencyModel,
  type LatencyRow,
  type Legs,
} from '../virtual-time/latency.ts';
import type { RandomStream } from '../virtual-time/rng.ts';
import type { Fidelity } from '../tape/tape-model.ts';
import { StrategyError } from '../strategy/definition.ts';

export const QUEUE_MODELS: readonly QueueModel[] = [
  'riskAverse',
  'probPower1',
  'probPower2',
  'probPower3',
  'probLog',
];

/**
 * `fifo` is exact and not a model: single orders (L3) and agents determine their queue positions.
 */
export const QUEUE_CHOICES = ['fifo', ...QUEUE_MODELS] as const;
export const DEFAULT_QUEUE: QueueModel = 'probPower2';

export const DEFAULT_LATENCY = 'constant:feed=2ms,entry=5ms,response=5ms,compute=500us';

export interface LatencyPorts {
  readonly random: RandomStream;
  /** Reads a file of measured orders. */
  readonly rows: (path: string) => readonly LatencyRow[];
  /**
   * Min time of receipt minus venue time of the recording; negative if the recorder's clock was
   * behind.
   */
  readonly minRecordedUs: number;
}

/**
 * - `none`: everything is known and done at once.
 * - `5ms`: each leg takes that; thinking takes nothing.
 * - `constant:feed=2ms,entry=5ms,response=5ms,compute=500us`
 * - `jitter:feed=…,entry=…,response=…,compute=…,jitter=3ms`
 * - `measured:file=orders.csv,feed=2ms,compute=500us` (columns sentUs, exchangeUs, answeredUs)
 * - `recorded:entry=1,response=1,least=1ms,compute=500us` (factors of the feed's own latency)
 */
export function parseLatency(text: string, ports: LatencyPorts): LatencyModel {
  const option = 'latency';
  if (text === 'none') return constantLatency(0, 0, 0, 0);
  const single = parseDuration(text);
  if (single !== null) return constantLatency(single, single, single, 0);
  const { name, fields } = split(option, text);
  const legs = (): Legs => ({
    feedUs: fields.time('feed', 2_000),
    entryUs: fields.time('entry', 5_000),
    responseUs: fields.time('response', 5_000),
    computeUs: fields.time('compute', 500),
  });
  const made = (): LatencyModel => {
    switch (name) {
      case 'constant': {
        const { feedUs, entryUs, responseUs, computeUs } = legs();
        return constantLatency(feedUs, entryUs, responseUs, computeUs);
      }
      case 'jitter':
        return jitteredLatency(legs(), fields.time('jitter', 1_000), ports.random);
      case 'measured': {
        const rows = ports.rows(fields.text('file'));
        return measuredLatency(rows, fields.time('feed', 2_000), fields.time('compute', 500));
      }
      case 'recorded': {
        const minUs = fields.time('least', 1_000);
        return recordedLatency({
          minUs,
          offsetUs: Math.max(0, minUs - ports.minRecordedUs),
          entryFactor: fields.factor('entry', 1),
          responseFactor: fields.factor('response', 1),
          computeUs: fields.time('compute', 500),
        });
      }
      default:
        throw new StrategyError(
          `--${option} '${text}': must be none, a length of time, constant, jitter, measured or recorded`,
        );
    }
  };
  const model = made();
  fields.end();
  return model;
}

/** Default half-lives: of taken liquidity, and of own volume. */
const HALF_LIVES: ReadonlyMap<string, string> = new Map([
  ['halving', '1s'],
  ['squareRoot', '1h'],
]);

/**
 * `none`, `permanent`, `halving:1s` with the time in which half of the taken liquidity returns, or
 * `squareRoot:1h` with the time in which own volume halves. The last needs recorded levels and
 * trades. Throws `StrategyError`.
 */
export function parseImpact(
  text: string,
  {
    symbol,
    fidelity,
    hasTrades,
  }: {
    readonly symbol: string;
    readonly fidelity: Fidelity | null;
    readonly hasTrades: boolean;
  },
): {
  readonly impactModel: ImpactModel;
  readonly impactHalfLifeMs?: number;
} {
  if (text === 'none' || text === 'permanent') return { impactModel: text };
  const [name = '', time, ...more] = text.split(':');
  const usual = HALF_LIVES.get(name);
  const halfLife = usual === undefined ? null : parseDuration(time ?? usual);
  if (more.length > 0 || halfLife === null || halfLife < 1000) {
    throw new StrategyError(
      `--impact '${text}': must be none, permanent, halving:<time> or squareRoot:<time>, the time at least 1ms`,
    );
  }
  const impactHalfLifeMs = Math.round(halfLife / 1000);
  if (name === 'halving') return { impactModel: 'halving', impactHalfLifeMs };
  if (fidelity !== 'l2' || !hasTrades) {
    const played = fidelity === null ? 'has agents' : `is played as ${fidelity}`;
    const lack = fidelity === 'l2' ? 'has no recorded trades' : played;
    throw new StrategyError(
      `--impact ${text}: ${symbol} ${lack}; squareRoot needs recorded price levels (l2) with trades, else choose none, permanent or halving:<time>`,
    );
  }
  return { impactModel: 'squareRoot', impactHalfLifeMs };
}

/** Throws `StrategyError` for `fifo` on levels, which do not contain queue positions. */
export function parseQueue(
  text: string,
  { symbol, fidelity }: { readonly symbol: string; readonly fidelity: Fidelity | null },
): QueueModel {
  if (text === 'fifo') {
    if (fidelity === 'l3' || fidelity === null) return DEFAULT_QUEUE;
    throw new StrategyError(
      `--queue fifo: ${symbol} is played as ${fidelity}, which has no queue positions; fifo needs single orders (l3), else choose ${QUEUE_MODELS.join(', ')}`,
    );
  }
  const found = QUEUE_MODELS.find((known) => known === text);
  if (found === undefined) {
    throw new StrategyError(`--queue '${text}': must be one of ${QUEUE_CHOICES.join(', ')}`);
  }
  return found;
}

/**
 * `maker,taker` as ratios, such as `0.0001,0.00035`; a negative maker fee is a rebate.
 *
 * @param times factor on what is paid: a larger rebate would be no stress
 */
export function parseFees(
  text: string,
  times = 1,
): { readonly makerFee: string; readonly takerFee: string } {
  const [makerFee, takerFee, ...more] = text.split(',');
  if (makerFee === undefined || takerFee === undefined || more.length > 0) {
    throw new StrategyError(`--fees '${text}': must be two ratios, such as 0.0001,0.00035`);
  }
  return { makerFee: timesText(makerFee, times), takerFee: timesText(takerFee, times) };
}

/** `initial,maintenance` as ratios, such as `0.02,0.01`. */
export function parseMargin(text: string): {
  readonly initialMargin: string;
  readonly maintenanceMargin: string;
} {
  const [initialMargin, maintenanceMargin, ...more] = text.split(',');
  if (initialMargin === undefined || maintenanceMargin === undefined || more.length > 0) {
    throw new StrategyError(`--margin '${text}': must be two ratios, such as 0.02,0.01`);
  }
  return { initialMargin, maintenanceMargin };
}

/** Names the option that gave the faulty term, unless the data or the population did. */
export function faultOfTerms(
  error: string,
  { fees, margin }: { readonly fees?: string; readonly margin?: string },
  { symbol, terms }: { readonly symbol: string; readonly terms: Readonly<Record<string, unknown>> },
): string {
  const [, term = ''] = /^market\.(\w+): /.exec(error) ?? [];
  const isOptional = !Object.hasOwn(terms, term);
  let option = '';
  if (isOptional && term.endsWith('Fee') && fees !== undefined) option = `--fees '${fees}': `;
  if (isOptional && term.endsWith('Margin') && margin !== undefined) {
    option = `--margin '${margin}': `;
  }
  const wayOut = error.includes('is finer than')
    ? '; import the data with a coarser --lot, and --round'
    : '';
  return `${option}market ${symbol}: ${error}${wayOut}`;
}

/** Multiplies a fee by an integer, not a rebate; other text is left to its parser to reject. */
function timesText(text: string, times: number): string {
  const value = parseDecimal(text);
  return value === null || value.digits < 0n
    ? text
    : formatDecimal(value.digits * BigInt(times), value.scale);
}

/** Parses `reject=0.01,limit=0.005,disconnect=1h/5s`; each part is optional. */
export function parseFaults(text: string): FaultOptions {
  const { fields } = split('faults', `faults:${text}`);
  const disconnect = fields.text('disconnect', '');
  const [every, lasting] = disconnect.split('/').map(parseDuration);
  if (
    disconnect !== '' &&
    (every == null || lasting == null || every <= lasting || lasting === 0)
  ) {
    throw new StrategyError(
      `--faults disconnect '${disconnect}': must be <every>/<for>, such as 1h/5s, the first longer`,
    );
  }
  const options: FaultOptions = {
    reject: fields.share('reject'),
    limit: fields.share('limit'),
    disconnect: every == null || lasting == null ? null : { everyUs: every, forUs: lasting },
  };
  fields.end();
  return options;
}

class ModelFields {
  private readonly option: string;
  private readonly fields: Map<string, string>;

  constructor(option: string, fields: Map<string, string>) {
    this.option = option;
    this.fields = fields;
  }

  text(name: string, fallback?: string): string {
    const value = this.fields.get(name) ?? fallback;
    this.fields.delete(name);
    if (value === undefined) throw new StrategyError(`--${this.option}: '${name}' is missing`);
    return value;
  }

  time(name: string, fallbackUs: number): number {
    const text = this.text(name, `${String(fallbackUs)}us`);
    const us = parseDuration(text);
    if (us === null) {
      throw new StrategyError(
        `--${this.option}: ${name} '${text}' must be a length of time such as 2ms`,
      );
    }
    return us;
  }

  factor(name: string, fallback: number): number {
    return this.numberIn(name, fallback, 0, 1000);
  }

  share(name: string): number {
    return this.numberIn(name, 0, 0, 1);
  }

  /** Throws if keys remain that were not read. */
  end(): void {
    for (const name of this.fields.keys()) {
      throw new StrategyError(`--${this.option}: unknown key '${name}'`);
    }
  }

  private numberIn(name: string, fallback: number, min: number, maximum: number): number {
    const text = this.text(name, String(fallback));
    const value = text === '' ? NaN : Number(text);
    if (!(value >= min && value <= maximum)) {
      throw new StrategyError(
        `--${this.option}: ${name} '${text}' must be a number from ${String(min)} to ${String(maximum)}`,
      );
    }
    return value;
  }
}

function split(
  option: string,
  text: string,
): { readonly name: string; readonly fields: ModelFields } {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const fields = new Map<string, string>();
  for (const pair of colon < 0 ? [] : text.slice(colon + 1).split(',')) {
    const [key = '', value, ...more] = pair.split('=');
    if (value === undefined || more.length > 0) {
      throw new StrategyError(`--${option} '${text}': '${pair}' must be key=value`);
    }
    fields.set(key.trim(), value.trim());
  }
  return { name, fields: new ModelFields(option, fields) };
}
