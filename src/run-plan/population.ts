/**
 * A population: an endogenous market, the fundamental value of its asset over time, and its agents.
 * Written in YAML:
 *
 *   market: { symbol: SIM-PERP, tickSize: 0.1, lotSize: 0.001 }
 *   duration: 1h
 *   fundamental:
 *     { kind: ornsteinUhlenbeck, start: 50000, deviationBp: 1, reversion: 10m, every: 1s }
 *   agents:
 *     - { kind: noise, count: 40, balance: 20000, with: { everyMs: 4000 } }
 */
import { readFile } from 'node:fs/promises';
import { AGENTS } from '../agents/agents.ts';
import {
  parseParameters,
  StrategyError,
  type ParameterValue,
  type StrategyDefinition,
} from '../strategy/definition.ts';
import { formatDecimal, parseDecimal, stepsExact, type Decimal } from '../num/decimal.ts';
import { formatDuration, parseDuration } from '../num/time-text.ts';
import { COLLATERAL_DECIMALS, durationUs } from '../num/units.ts';
import { fileError } from '../platform/file-error.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import { readLatencyRows } from './latency-rows.ts';
import { parseLatency } from './models.ts';

export interface Fundamental {
  readonly kind: 'ornsteinUhlenbeck' | 'recorded';
  readonly start: number;
  readonly mean: number;
  /** Fraction of the distance to the mean per step. */
  readonly reversion: number;
  readonly deviation: number;
  readonly everyUs: number;
  /** Dataset whose trades are the fundamental value, if recorded. */
  readonly data: string | null;
}

export interface AgentGroup {
  readonly kind: string;
  readonly count: number;
  readonly balance: string;
  readonly latency: string | null;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

/** Plain data, because it is part of plans. */
export interface Population {
  /** Fields of a market, as in `orrery serve`. */
  readonly market: Readonly<Record<string, unknown>> & {
    readonly symbol: string;
    readonly tickSize: string;
    readonly lotSize: string;
  };
  readonly startUs: number;
  readonly durationUs: number;
  readonly fundamental: Fundamental;
  readonly agents: readonly AgentGroup[];
}

/** 2024-01-01T00:00:00Z: start of endogenous markets, which have no recorded time. */
const START_US = 1_704_067_200_000_000;

export async function readPopulation(path: string): Promise<Population> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw fileError(path, error);
  });
  // Imported lazily: runs on recorded data do not need YAML and start faster.
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    // The failsafe schema keeps numbers as text.
    value = parse(text, { schema: 'failsafe' });
  } catch (error) {
    throw new StrategyError(`${path}: ${(error as Error).message.split('\n')[0] ?? 'not YAML'}`);
  }
  const root = new Section(path, '', value, ['market', 'duration', 'fundamental', 'agents']);
  const market = root.section('market', null);
  const agents = root.list('agents').map((entry, i) => groupOf(path, entry, i));
  if (agents.length === 0) root.fail('agents', 'must name at least one group');
  return {
    market: {
      ...(market.values as Record<string, unknown>),
      symbol: market.text('symbol', 'SIM-PERP'),
      tickSize: market.text('tickSize', '0.1'),
      lotSize: market.text('lotSize', '0.001'),
    },
    startUs: START_US,
    durationUs: root.time('duration', '1h', 1_000_000),
    fundamental: fundamentalOf(
      root.section('fundamental', FUNDAMENTAL_FIELDS),
      market.decimal('tickSize', '0.1'),
    ),
    agents,
  };
}

const FUNDAMENTAL_FIELDS = ['kind', 'start', 'mean', 'reversion', 'deviationBp', 'every', 'data'];

function fundamentalOf(section: Section, tick: Decimal): Fundamental {
  const kind = section.text('kind', 'ornsteinUhlenbeck');
  if (kind !== 'ornsteinUhlenbeck' && kind !== 'recorded') {
    section.fail('kind', 'must be ornsteinUhlenbeck or recorded');
  }
  const everyUs = section.time('every', '1s', 1000);
  const start = section.number('start', 50_000, 1e-6, 1e12);
  if (kind === 'ornsteinUhlenbeck')
    section.mustBeMultiple('start', String(start), tick, 'the tick');
  const reversionUs = section.time('reversion', '10m', 1000);
  const data = kind === 'recorded' ? section.text('data') : null;
  return {
    kind,
    start,
    mean: section.number('mean', start, 1e-6, 1e12),
    reversion: Math.min(1, everyUs / reversionUs),
    deviation: section.number('deviationBp', 1, 0, 10_000) / 1e4,
    everyUs,
    data,
  };
}

function groupOf(path: string, value: unknown, i: number): AgentGroup {
  const section = new Section(path, `agents[${String(i)}]`, value, [
    'kind',
    'count',
    'balance',
    'latency',
    'with',
  ]);
  const kind = section.text('kind');
  const definition = AGENTS.get(kind);
  if (definition === undefined) {
    return section.fail('kind', `'${kind}' must be one of ${[...AGENTS.keys()].join(', ')}`);
  }
  const parameters = section.has('with') ? section.section('with', null).values : {};
  try {
    parseParameters(definition.parameters, parameters as Record<string, ParameterValue>);
  } catch (error) {
    section.fail('with', (error as Error).message);
  }
  return {
    kind,
    count: section.number('count', 1, 1, 10_000, true),
    balance: section.mustBeMultiple(
      'balance',
      section.text('balance', '10000'),
      { digits: 1n, scale: COLLATERAL_DECIMALS },
      'the smallest amount',
    ),
    latency: section.latency('latency'),
    parameters: parameters as Record<string, ParameterValue>,
  };
}

/** Strategy definition of an agent kind that was validated. */
export function agentOf(kind: string): StrategyDefinition {
  const definition = AGENTS.get(kind);
  if (definition === undefined) throw new StrategyError(`no agent of kind '${kind}'`);
  return definition;
}

/** A map of the file; errors name file, path and limit. */
class Section {
  readonly values: Readonly<Record<string, unknown>>;
  private readonly file: string;
  private readonly path: string;

  constructor(file: string, path: string, value: unknown, known: readonly string[] | null) {
    this.file = file;
    this.path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new StrategyError(`${file}: ${path === '' ? 'the file' : path} must be a map`);
    }
    this.values = value as Record<string, unknown>;
    for (const key of known === null ? [] : Object.keys(value)) {
      if (!known?.includes(key))
        this.fail(key, `is not a known key; valid are ${known?.join(', ') ?? ''}`);
    }
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name);
  }

  fail(name: string, problem: string): never {
    throw new StrategyError(
      `${this.file}: ${this.path === '' ? '' : `${this.path}.`}${name} ${problem}`,
    );
  }

  section(name: string, known: readonly string[] | null): Section {
    const at = this.path === '' ? name : `${this.path}.${name}`;
    return new Section(this.file, at, this.values[name] ?? {}, known);
  }

  list(name: string): readonly unknown[] {
    const value = this.values[name];
    return Array.isArray(value) ? value : this.fail(name, 'must be a list');
  }

  text(name: string, fallback?: string): string {
    const value = this.values[name] ?? fallback;
    return typeof value === 'string' && value !== '' ? value : this.fail(name, 'must be given');
  }

  number(name: string, fallback: number, minimum: number, maximum: number, whole = false): number {
    const value = this.has(name) ? Number(this.text(name)) : fallback;
    if (!(value >= minimum && value <= maximum) || (whole && !Number.isInteger(value))) {
      this.fail(
        name,
        `must be a ${whole ? 'whole ' : ''}number from ${String(minimum)} to ${String(maximum)}`,
      );
    }
    return value;
  }

  /** A positive decimal. */
  decimal(name: string, fallback: string): Decimal {
    const text = this.text(name, fallback);
    const value = parseDecimal(text);
    return value !== null && value.digits > 0n
      ? value
      : this.fail(name, `'${text}' must be a positive decimal number`);
  }

  /** Returns the text of a positive multiple of the step; throws for others. */
  mustBeMultiple(name: string, text: string, step: Decimal, ofWhat: string): string {
    const value = parseDecimal(text);
    const steps = value === null ? null : stepsExact(value, step);
    if (steps !== null && steps > 0n) return text;
    const minimum = formatDecimal(step.digits, step.scale);
    return this.fail(name, `'${text}' must be a positive multiple of ${ofWhat}, ${minimum}`);
  }

  /** A model of latency, which a run would refuse in the words of the command line. */
  latency(name: string): string | null {
    if (!this.has(name)) return null;
    const text = this.text(name);
    const random = new RandomStreams('').stream('unused');
    try {
      parseLatency(text, { random, rows: readLatencyRows, minRecordedUs: 0 });
    } catch (error) {
      if (!(error instanceof StrategyError)) throw error;
      this.fail(name, error.message.replace(/^--latency:? /, ''));
    }
    return text;
  }

  time(name: string, fallback: string, minUs: number): number {
    const text = this.text(name, fallback);
    const us = parseDuration(text);
    return us !== null && us >= minUs
      ? us
      : this.fail(
          name,
          `'${text}' must be a length of time such as 10m, at least ${formatDuration(durationUs(minUs))}`,
        );
  }
}
